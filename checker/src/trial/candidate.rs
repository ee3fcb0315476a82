//! A submission on its way to a launch: compiled, its kernel found and checked, its launch macros read.

use std::time::Duration;

use cuda::nvrtc::{Arch, Diagnostic, Toolchain};
use exercise::{Arg as ProblemArg, Exercise, Instance, LaunchSpec, ParamType, Scalar, Size};
use warpsim::Checks;

use crate::compile::{self, Rejection, Resources, Unit};
use crate::engine::{Arg, Task};
use crate::kernel;
use crate::source;

/// Warp instructions per case. The most expensive case of the course needs some millions, even where it is slow; at
/// this many a kernel loops for ever, and is stopped after a few seconds.
const FUEL: u64 = 1 << 26;

/// For machines so slow that the fuel lasts longer than anybody waits.
pub(crate) const WALL_LIMIT: Duration = Duration::from_secs(20);

/// A submission that compiles, and its launch.
#[derive(Debug)]
pub(super) struct Candidate {
    /// What the compiler made.
    pub(super) unit: Unit,
    /// The kernel's name in it.
    pub(super) symbol: String,
    pub(super) resources: Resources,
    pub(super) spec: LaunchSpec,
    pub(super) warnings: Vec<Diagnostic>,
    /// The module's own variables, which a launch may leave changed.
    pub(super) variables: Vec<String>,
    /// The longest that one launch may take.
    pub(super) wall_limit: Duration,
}

/// Compiles a submission for `arch`, finds its kernel, and reads its launch macros.
pub(super) fn prepare(
    toolchain: &Toolchain,
    exercise: &Exercise,
    text: &str,
    name: &str,
    arch: Arch,
) -> anyhow::Result<Result<Candidate, Rejection>> {
    let unit = match compile::cuda(toolchain, compile::Source::kernel(text, name), arch)? {
        Ok(unit) => unit,
        Err(rejection) => return Ok(Err(rejection)),
    };
    Ok(check(exercise, text, unit))
}

fn check(exercise: &Exercise, text: &str, mut unit: Unit) -> Result<Candidate, Rejection> {
    let refused =
        |message: String| Rejection::Refused { line: source::kernel_line(text, exercise.kernel), message };
    let symbol =
        kernel::choose(&unit.module, Some(exercise.kernel)).map_err(|error| refused(error.to_string()))?;
    check_parameters(exercise, kernel::parameters(&unit.module, &symbol), text).map_err(refused)?;
    let constants = kernel::constants(&unit.module);
    let spec = LaunchSpec::from_constants(constants.iter().map(|(name, bytes)| (*name, bytes.as_slice())))
        .map_err(|error| Rejection::Launch(error.to_string()))?;
    let resources = unit.resources_of(&symbol);
    kernel::check_registers(resources, spec.threads()).map_err(Rejection::Launch)?;
    let warnings = std::mem::take(&mut unit.warnings);
    let variables = kernel::variables(&unit.module);
    Ok(Candidate { unit, symbol, resources, spec, warnings, variables, wall_limit: WALL_LIMIT })
}

/// Whether the kernel takes what the problem gives. PTX tells the sizes; what a pointer points to, only the source.
fn check_parameters(exercise: &Exercise, declared: &[ptx::Variable], text: &str) -> Result<(), String> {
    let wanted = exercise.problem.params();
    let written = source::kernel_parameters(text, exercise.kernel).filter(|all| all.len() == declared.len());
    let signature = || {
        let list: Vec<String> = wanted.iter().map(|p| format!("{} {}", c_type(p.ty), p.name)).collect();
        format!("the kernel must be declared as `{}({})`", exercise.kernel, list.join(", "))
    };
    if declared.len() != wanted.len() {
        return Err(format!(
            "`{}` takes {} parameters, but {} are given: {}",
            exercise.kernel,
            declared.len(),
            wanted.len(),
            signature()
        ));
    }
    for (index, (wanted, declared)) in wanted.iter().zip(declared).enumerate() {
        let source_type = written.as_ref().map(|all| all[index].ty.as_str());
        if !kernel::takes(declared, wanted.ty) || source_type.is_some_and(|ty| contradicts(ty, wanted.ty)) {
            let found = source_type.map(|ty| format!(" and not `{ty}`")).unwrap_or_default();
            return Err(format!(
                "parameter {} of `{}` is `{}` here{found}: {}",
                index + 1,
                exercise.kernel,
                c_type(wanted.ty),
                signature()
            ));
        }
    }
    Ok(())
}

/// Whether a type as written is surely another one than `wanted`. Aliases and templates get the benefit of the doubt.
fn contradicts(written: &str, wanted: ParamType) -> bool {
    let words: Vec<&str> = written.split_whitespace().filter(|word| *word != "const").collect();
    let elements = ["char", "short", "int", "long", "unsigned", "double", "bool", "void", "half", "__half"];
    let starts_with_another = words.first().is_some_and(|first| elements.contains(first));
    match wanted {
        ParamType::FloatIn | ParamType::FloatOut => starts_with_another,
        ParamType::Int => words.first() == Some(&"float"),
        ParamType::Float => starts_with_another,
    }
}

fn c_type(ty: ParamType) -> &'static str {
    match ty {
        ParamType::FloatIn => "const float*",
        ParamType::FloatOut => "float*",
        ParamType::Int => "int",
        ParamType::Float => "float",
    }
}

/// Other inputs for every case, all of them from one seed.
pub(super) fn case_seed(seed: u64, index: usize) -> u64 {
    seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The launch of a candidate on one instance.
pub(super) fn task(
    exercise: &Exercise,
    candidate: &Candidate,
    size: Size,
    instance: &Instance,
) -> Result<Task, Rejection> {
    let args = instance.args.iter().map(argument).collect();
    Ok(Task { args, ..bare_task(exercise, candidate, size, instance)? })
}

/// The same with buffers that hold nothing: for what goes by their order alone.
pub(super) fn bare_task(
    exercise: &Exercise,
    candidate: &Candidate,
    size: Size,
    instance: &Instance,
) -> Result<Task, Rejection> {
    let Candidate { spec, variables, wall_limit, .. } = candidate;
    let grid =
        spec.grid(exercise.problem.extent(size)).map_err(|error| Rejection::Launch(error.to_string()))?;
    Ok(Task {
        grid,
        block: spec.block,
        shared_bytes: spec.shared_bytes,
        args: instance.args.iter().map(empty_argument).collect(),
        checks: Checks::ALL,
        fuel: FUEL,
        wall_limit: *wall_limit,
        relaunch: !variables.is_empty(),
    })
}

fn argument(arg: &ProblemArg) -> Arg {
    match (empty_argument(arg), arg) {
        (Arg::Buffer { name, bytes: length, .. }, ProblemArg::Buffer(buffer)) => {
            Arg::Buffer { name, bytes: length, contents: buffer.data.as_deref().map(bytes) }
        }
        (empty, _) => empty,
    }
}

fn empty_argument(arg: &ProblemArg) -> Arg {
    match arg {
        ProblemArg::Scalar(Scalar::Int(value)) => Arg::Value(value.to_le_bytes().to_vec()),
        ProblemArg::Scalar(Scalar::Float(value)) => Arg::Value(value.to_le_bytes().to_vec()),
        ProblemArg::Buffer(buffer) => {
            Arg::Buffer { name: buffer.name.to_owned(), bytes: buffer.len * size_of::<f32>(), contents: None }
        }
    }
}

/// Floats as they lie in memory.
pub(super) fn bytes(values: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(values)];
    for (bytes, value) in bytes.chunks_exact_mut(4).zip(values) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_that_are_surely_wrong_are_refused() {
        assert!(contradicts("double *", ParamType::FloatIn));
        assert!(contradicts("const int *", ParamType::FloatIn));
        assert!(contradicts("float", ParamType::Int));
        for (written, wanted) in [
            ("const float *", ParamType::FloatIn),
            ("float const *", ParamType::FloatIn),
            ("real *", ParamType::FloatOut),
            ("unsigned int", ParamType::Int),
            ("int32_t", ParamType::Int),
            ("const float", ParamType::Float),
        ] {
            assert!(!contradicts(written, wanted), "{written}");
        }
    }

    #[test]
    fn every_case_has_its_own_seed() {
        let seeds: std::collections::BTreeSet<u64> = (0..100).map(|index| case_seed(42, index)).collect();
        assert_eq!(seeds.len(), 100);
    }
}
