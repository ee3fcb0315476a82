//! Which instances of kernel templates are to be made.

use super::division::{Division, Kernel};
use super::launch::Launch;
use super::token::{Kind, tokens};

/// The instances to ask the compiler for, as it understands them: the one that `name` gives template arguments for, or
/// those that host code launches of the kernel `name`, or of any kernel.
pub(crate) fn instances(division: &Division, launches: &[Launch], name: Option<&str>) -> Vec<String> {
    let Some((base, arguments)) = name.and_then(split) else {
        let mut found: Vec<String> = Vec::new();
        for launch in launches {
            let Some((base, arguments)) = split(&launch.kernel) else { continue };
            let Some(kernel) = template(division, base) else { continue };
            let is_wanted = name.is_none_or(|name| name == kernel.name || name == kernel.path);
            let instance = format!("{}{arguments}", kernel.path);
            if is_wanted && is_known(division, arguments) && !found.contains(&instance) {
                found.push(instance);
            }
        }
        return found;
    };
    template(division, base).map(|kernel| format!("{}{arguments}", kernel.path)).into_iter().collect()
}

/// Name and template arguments with their angle brackets.
fn split(name: &str) -> Option<(&str, &str)> {
    let (base, arguments) = name.split_at(name.find('<')?);
    Some((base.trim(), arguments.trim()))
}

/// The only kernel template that `base` can mean.
fn template<'a>(division: &'a Division, base: &str) -> Option<&'a Kernel> {
    let ends = |kernel: &&Kernel| {
        let rest = kernel.path.strip_suffix(base.trim_start_matches("::"));
        kernel.template.is_some() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    };
    division.kernels.iter().find(ends)
}

/// Whether template arguments mean the same at the end of the device's part as where host code wrote them: numbers, types
/// of the language, and names that are there.
fn is_known(division: &Division, arguments: &str) -> bool {
    const LANGUAGE: &[&str] = &[
        "void",
        "bool",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "signed",
        "unsigned",
        "const",
        "true",
        "false",
        "half",
        "__half",
        "__half2",
        "__nv_bfloat16",
        "size_t",
        "uint",
        "float2",
        "float4",
        "int2",
        "int4",
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
    ];
    tokens(arguments).iter().all(|token| match token.kind {
        Kind::Word => LANGUAGE.contains(&token.text) || division.names.contains(token.text),
        Kind::Literal | Kind::Directive => false,
        Kind::Number | Kind::Mark => true,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{divide, launches};
    use super::*;

    const SOURCE: &str = "#define WIDTH 32\nconstexpr int SIDE = 8;\nstruct Plus {};\nnamespace mine {\n\
        template <typename T, int N = SIDE, typename Op = Plus> __global__ void reduce(T* x) {}\n}\n\
        __global__ void plain(int* x) {}\n\
        template <int B> void any(int* d) { mine::reduce<int, B><<<1, B>>>(d); }\n\
        int main() { using local = int; mine::reduce<float><<<1, 1>>>(x); mine::reduce<int, (WIDTH > 1 ? SIDE : 2)><<<1, 1>>>(x);\n\
        reduce<float><<<2, 2>>>(x); mine::reduce<local><<<1, 1>>>(x); reduce<double, 4, Plus><<<1, 1>>>(x); plain<<<1, 1>>>(x); }\n";

    fn wanted(name: Option<&str>) -> Vec<String> {
        instances(&divide(SOURCE), &launches(SOURCE), name)
    }

    #[test]
    fn the_instances_that_host_code_launches_are_made() {
        let all = [
            "mine::reduce<float>",
            "mine::reduce<int, (WIDTH > 1 ? SIDE : 2)>",
            "mine::reduce<double, 4, Plus>",
        ];
        assert_eq!(wanted(None), all);
        assert_eq!(wanted(Some("reduce")), all);
        assert!(wanted(Some("plain")).is_empty());
    }

    #[test]
    fn an_instance_that_is_named_is_the_only_one() {
        assert_eq!(wanted(Some("reduce<short, 2>")), ["mine::reduce<short, 2>"]);
        assert_eq!(wanted(Some("mine::reduce<short>")), ["mine::reduce<short>"]);
        assert!(wanted(Some("yours::reduce<short>")).is_empty() && wanted(Some("educe<int>")).is_empty());
    }
}
