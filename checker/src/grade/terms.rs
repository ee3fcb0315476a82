//! Everything but the submission that decides a result: change any of it, and the work is judged again.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use cuda::nvrtc::Toolchain;
use exercise::Exercise;
use sha2::{Digest, Sha256};

use crate::compile;
use crate::machine::Machine;

/// How submissions are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// This program: its version, and the sum of its file, since the simulator is part of it.
    pub(crate) checker: String,
    /// NVRTC: its version, and the sum of its libraries.
    pub(crate) compiler: String,
    /// `sim`, `sim+gpu` or `gpu`.
    pub(crate) engine: &'static str,
    /// The GPU that judges, if one does.
    pub(crate) gpu: Option<String>,
    /// The longest that one submission may take.
    pub(crate) wall_limit: Duration,
    /// Most bytes of memory that judging one submission may take; `None` where that cannot be told.
    pub(crate) memory: Option<u64>,
}

impl Terms {
    /// The terms of this program on this machine.
    ///
    /// # Errors
    /// If this program or the compiler can't be read.
    pub(crate) fn new(
        toolchain: &Toolchain,
        machine: &Machine,
        wall_limit: Duration,
        memory: Option<u64>,
    ) -> Result<Terms> {
        let program = std::env::current_exe().context("this program's own file cannot be found")?;
        let (major, minor) = toolchain.version;
        Ok(Terms {
            checker: format!("{} {}", env!("CARGO_PKG_VERSION"), sum(&[&program])?),
            compiler: format!("NVRTC {major}.{minor} {}", sum(&[&toolchain.library, &toolchain.builtins])?),
            engine: machine.name(),
            gpu: machine.gpu().map(|info| info.name.clone()),
            wall_limit,
            memory,
        })
    }

    /// The sum over all terms under which `exercise` is judged: its description, sizes, requirements and kernels, the
    /// course's headers, and the above.
    pub(crate) fn digest(&self, exercise: &Exercise) -> [u8; 32] {
        let Terms { checker, compiler, engine, gpu, wall_limit, memory } = self;
        let mut hash = Sha256::new();
        // The text for programmers names every field, and quotes what could look like one.
        hash.update(format!("{exercise:?}\n{:?}\n", compile::HEADERS));
        hash.update(format!("{checker:?} {compiler:?} {engine:?} {gpu:?} {wall_limit:?} {memory:?}"));
        hash.finalize().into()
    }
}

/// SHA-256 of the contents of files, in hexadecimal digits.
fn sum(files: &[&Path]) -> Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let unreadable = || format!("{} cannot be read", file.display());
        let mut file = std::fs::File::open(file).with_context(unreadable)?;
        copy(&mut file, &mut hash).with_context(unreadable)?;
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn copy(from: &mut impl Read, hash: &mut Sha256) -> io::Result<()> {
    let mut piece = vec![0; 1 << 20];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            read => hash.update(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use exercise::{Bound, Case, Requirement};

    use super::*;
    use crate::registry;

    const ONE_CASE: &[Case] = &[Case::new([1, 1, 1])];

    fn terms() -> Terms {
        Terms {
            checker: "1".into(),
            compiler: "2".into(),
            engine: "sim",
            gpu: None,
            wall_limit: Duration::from_secs(120),
            memory: Some(1 << 32),
        }
    }

    #[test]
    fn whatever_decides_a_result_changes_the_sum() {
        let exercise = &registry::find("05").expect("there").exercise;
        let other = |change: fn(&mut Terms)| {
            let mut terms = terms();
            change(&mut terms);
            terms.digest(exercise)
        };
        let looser: &[Requirement] =
            Box::leak(Box::new([Requirement { bound: Bound::AtMost(99.0), ..exercise.requirements[0] }]));
        let sums = [
            terms().digest(exercise),
            terms().digest(&registry::find("06").expect("there").exercise),
            terms().digest(&Exercise { requirements: looser, ..*exercise }),
            terms().digest(&Exercise { cases: ONE_CASE, ..*exercise }),
            terms().digest(&Exercise { solution: "faster", ..*exercise }),
            other(|terms| terms.checker.push('x')),
            other(|terms| terms.compiler.push('x')),
            other(|terms| terms.engine = "gpu"),
            other(|terms| terms.gpu = Some("H200".into())),
            other(|terms| terms.wall_limit *= 2),
            other(|terms| terms.memory = None),
        ];
        let distinct: std::collections::BTreeSet<_> = sums.iter().collect();
        assert_eq!(distinct.len(), sums.len());
        assert_eq!(sums[0], terms().digest(exercise));
    }
}
