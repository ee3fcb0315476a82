//! What a file may include, and what it may use without including anything, with a real NVRTC.

mod common;

use common::compile;
use cuda::nvrtc::{self, CompileError, Compiled, Diagnostic};

#[track_caller]
fn ptx(source: &str) -> String {
    compile(source).unwrap_or_else(|error| panic!("{error}\n{source}")).ptx
}

fn errors(result: Result<Compiled, CompileError>) -> Vec<Diagnostic> {
    match result {
        Err(CompileError::Diagnostics(all)) => all,
        other => panic!("expected diagnostics, got {other:?}"),
    }
}

#[test]
fn what_nvcc_declares_without_an_include_is_there() {
    let compiled = compile(
        "using namespace std;\ntypedef unsigned int uint;\n\
         __global__ void k(float* p, uint n, ushort m, ulong l, uint8_t b, int64_t w) {\n\
         \x20 p[n] = m + l + b + w + INFINITY + NAN + M_PI + HUGE_VALF;\n}\n",
    )
    .unwrap();
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    assert!(compiled.ptx.contains(".file\t1 \"") && !compiled.ptx.contains("prelude"), "{}", compiled.ptx);
}

#[test]
fn the_standard_library_works_in_a_kernel() {
    if common::toolchain().include_dirs().is_empty() {
        eprintln!("skipped: this NVRTC came without headers");
        return;
    }
    ptx(
        "#include <type_traits>\n#include <utility>\n#include <limits>\n#include <algorithm>\n#include <cstdint>\n\
         #include <vector>\n#include <cmath>\n#include <array>\n#include <tuple>\n#include <iostream>\n\
         template <typename T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>\n\
         __device__ T lowest() { return std::numeric_limits<T>::lowest(); }\n\
         __global__ void k(float* p, std::uint32_t n) {\n\
         \x20 std::array<float, 2> pair = {p[0], p[1]};\n  auto both = std::make_tuple(1, 2.0f);\n\
         \x20 std::swap(pair[0], pair[1]);\n\
         \x20 p[n] = std::min(std::max(pair[0], lowest<float>()), std::get<1>(both)) + std::sqrt(p[2]) + sqrtf(p[3]);\n}\n",
    );
}

#[test]
fn names_of_the_host_are_explained() {
    let found = errors(compile(
        "#include <vector>\n__global__ void k(float* p) {\n  std::vector<float> v;\n  p[0] = std::min(p[1], p[2]);\n}\n",
    ));
    let notes: Vec<&str> = found.iter().flat_map(|one| one.notes.iter().map(String::as_str)).collect();
    assert!(
        notes.contains(&"`std::vector` lives on the host; a kernel takes a pointer and a length"),
        "{found:?}"
    );
    assert!(notes.contains(&"`#include <algorithm>` gives a kernel `std::min`"), "{found:?}");
}

#[test]
fn a_header_that_is_nowhere_is_refused_with_its_reason_or_passed_over() {
    for (header, reason) in [
        ("thrust/device_vector.h", "Thrust launches kernels of its own from host code"),
        ("curand_kernel.h", "cuRAND is not here"),
        ("cublas_v2.h", "called by host code"),
        ("helper_cuda.h", "no other file is read"),
    ] {
        let source = format!("#include <{header}>\n__global__ void k() {{}}\n");
        let found = errors(compile(&source));
        assert!(found[0].notes.iter().any(|note| note.contains(reason)), "{header}: {found:?}");
        assert!(!format!("{found:?}").contains("exercise"), "{found:?}");
        let mut request = common::request(&source);
        request.leaves_out_headers = true;
        let compiled = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap();
        assert_eq!(compiled.left_out, [header]);
    }
    let mut request = common::request("#include \"../common/book.h\"\n#include \"/etc/passwd\"\n");
    request.leaves_out_headers = true;
    let found = errors(nvrtc::compile_with(&common::worker(), common::toolchain(), &request));
    assert_eq!((found.len(), found[0].line), (1, Some(2)), "{found:?}");
}

#[test]
fn a_template_is_instantiated_by_name() {
    let source = "namespace mine {\ntemplate <typename T, int N>\n__global__ void scale(T* x) { x[threadIdx.x] *= T(N); }\n}\n";
    let mut request = common::request(source);
    request.instances = &["mine::scale<float, 2>", "mine::scale<double, (1 + 2)>"];
    let compiled = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap();
    assert_eq!(compiled.instances, ["_ZN4mine5scaleIfLi2EEEvPT_", "_ZN4mine5scaleIdLi3EEEvPT_"]);
    assert!(compiled.instances.iter().all(|symbol| compiled.ptx.contains(&format!(".entry {symbol}("))));
    request.instances = &["mine::scale<float, 2>", "mine::scale<flaot, 2>", "mine::scale<float, 2>) + (3"];
    let found = errors(nvrtc::compile_with(&common::worker(), common::toolchain(), &request));
    assert!(found[0].message.starts_with("there is no instance `mine::scale<flaot, 2>`"), "{found:?}");
    assert_eq!(found[0].line, None);
}

#[test]
fn a_kernel_that_launches_another_is_told_so() {
    let found = errors(compile("__global__ void a() {}\n__global__ void b() {\n  a<<<1, 1>>>();\n}\n"));
    assert!(found[0].message.contains("dynamic parallelism"), "{found:?}");
    assert_eq!(found[0].line, Some(3));
}
