//! Sources that should compile, and messages about those that do not, with a real NVRTC.

mod common;

use common::compile;
use cuda::nvrtc::{self, Arch, CompileError, Diagnostic, SandboxLevel, Severity};

fn errors(source: &str) -> Vec<Diagnostic> {
    match compile(source) {
        Err(CompileError::Diagnostics(all)) => {
            all.into_iter().filter(|d| d.severity == Severity::Error).collect()
        }
        other => panic!("expected diagnostics, got {other:?}"),
    }
}

#[test]
fn one_compile_gives_ptx_cubin_and_resources() {
    let compiled = compile(
        "extern \"C\" __global__ void k(float* p) {\n  __shared__ float s[100];\n  s[threadIdx.x] = p[threadIdx.x];\n  \
         __syncthreads();\n  p[threadIdx.x] = s[99 - threadIdx.x];\n}\n",
    )
    .unwrap();
    assert!(compiled.ptx.contains(".target sm_80") && compiled.ptx.contains(".entry k("), "{}", compiled.ptx);
    assert!(compiled.ptx.contains(".loc") && compiled.ptx.contains("kernel.cu"));
    assert!(!compiled.ptx.contains('\0'));
    assert!(compiled.cubin.starts_with(b"\x7fELF"));
    let [kernel] = compiled.kernels.as_slice() else { panic!("{:?}", compiled.kernels) };
    assert_eq!((kernel.name.as_str(), kernel.static_shared_bytes, kernel.barriers), ("k", 400, 1));
    assert!(kernel.registers_per_thread >= 8);
}

#[test]
fn the_ptx_of_a_real_architecture_is_that_of_the_virtual_one() {
    let source = "__global__ void k(float* p) { p[threadIdx.x] = __fmaf_rn(p[0], p[1], sinf(p[2])); }";
    let mut request = common::request(source);
    let real = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap();
    request.arch = Arch::new(9, 0);
    let hopper = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap();
    assert!(hopper.ptx.contains(".target sm_90"));
    assert_ne!(real.cubin, hopper.cubin);
    let again = compile(source).unwrap();
    assert_eq!(real.ptx, again.ptx, "compiling is deterministic");
}

#[test]
fn habitual_headers_are_there() {
    let compiled = compile(
        "#include <cuda_runtime.h>\n#include <stdio.h>\n#include <cstdint>\n#include <math.h>\n#include <assert.h>\n\
         #include <stdint.h>\n#include <cfloat>\n#include <climits>\n#include <device_launch_parameters.h>\n\
         __global__ void k(float* p, uint32_t n, std::int64_t m) {\n  assert(n < INT_MAX);\n\
         \x20 if (p[0] > FLT_MAX) printf(\"%d\\n\", 1);\n  p[n] = M_PI * sqrtf(p[m]) + INFINITY + NAN + std::uint8_t(n);\n}\n",
    )
    .unwrap();
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    assert!(compiled.ptx.contains("__assertfail") && compiled.ptx.contains("vprintf"));
}

#[test]
fn every_own_header_compiles_alone_and_twice() {
    for name in [
        "cuda.h",
        "cuda_runtime_api.h",
        "vector_types.h",
        "cassert",
        "cstdio",
        "cstdlib",
        "string.h",
        "cstring",
        "cmath",
        "cstddef",
        "stddef.h",
        "limits.h",
        "float.h",
        "stdlib.h",
        "iostream",
    ] {
        let source =
            format!("#include <{name}>\n#include <{name}>\n__global__ void k(size_t* p) {{ *p = 1; }}\n");
        compile(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn errors_carry_line_column_and_text() {
    let found = errors("__global__ void k(float* p) {\n  p[0] = missing;\n\n  int a = \"x\";\n}\n");
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].line, found[0].column), (Some(2), Some(10)));
    assert_eq!(found[0].message, "identifier \"missing\" is undefined");
    assert_eq!(found[1].line, Some(4));
}

#[test]
fn the_files_name_is_the_learners() {
    let mut request = common::request("oops");
    request.name = "/home/홍길동/my (best) kernel.cu";
    let error = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap_err();
    let CompileError::Diagnostics(found) = error else { panic!("{error}") };
    assert_eq!((found[0].file.as_str(), found[0].line), ("my (best) kernel.cu", Some(1)));
}

#[test]
fn warnings_come_with_the_result() {
    let compiled = compile("__global__ void k(float* p) {\n  int unused;\n  p[0] = 1;\n}\n").unwrap();
    let [warning] = compiled.warnings.as_slice() else { panic!("{:?}", compiled.warnings) };
    assert_eq!(
        (warning.severity, warning.line, warning.code.as_deref()),
        (Severity::Warning, Some(2), Some("177-D"))
    );
}

#[test]
fn a_failed_assertion_in_a_macro_is_at_the_macros_line() {
    let mut request = common::request("#include \"w.cuh\"\n\nLAUNCH(2000);\n");
    request.headers = &[("w.cuh", "#define LAUNCH(n) static_assert(n <= 1024, \"at most 1024 threads\")\n")];
    let error = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap_err();
    let CompileError::Diagnostics(found) = error else { panic!("{error}") };
    assert_eq!(found[0].line, Some(3));
    assert!(found[0].message.contains("at most 1024 threads"));
}

#[test]
fn an_error_inside_a_header_is_at_the_include() {
    let mut request = common::request("// first\n#include \"w.cuh\"\n");
    request.headers = &[("w.cuh", "\n\nint f() { return missing; }\n")];
    let error = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap_err();
    let CompileError::Diagnostics(found) = error else { panic!("{error}") };
    assert_eq!((found[0].file.as_str(), found[0].line), ("kernel.cu", Some(2)));
    assert!(found[0].notes[0].contains("`w.cuh`, line 3"), "{:?}", found[0]);
}

#[test]
fn a_template_error_names_the_instantiation() {
    let found = errors(
        "template <int N> __device__ int f() {\n  static_assert(N < 3, \"small only\");\n  return N;\n}\n\
         __global__ void k(int* p) { p[0] = f<5>(); }\n",
    );
    assert_eq!(found[0].line, Some(2));
    assert!(found[0].notes.iter().any(|note| note.contains("instantiation")), "{:?}", found[0]);
}

#[test]
fn too_much_static_shared_memory_is_told_in_bytes() {
    let source = "__global__ void k(float* p) {\n  __shared__ float s[20000];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  \
                  p[threadIdx.x] = s[99 - threadIdx.x];\n}\n";
    let error = compile(source).unwrap_err();
    assert!(
        matches!(&error, CompileError::TooMuchSharedMemory { kernel, used: 80000, limit: 49152 } if kernel == "_Z1kPf"),
        "{error:?}"
    );
}

#[test]
fn bad_inline_assembly_is_a_diagnostic() {
    let found = errors("__global__ void k(float* p) {\n  asm(\"bogus.f32 %0, 1.0;\" : \"=f\"(p[0]));\n}\n");
    assert_eq!((found[0].line, found[0].message.contains("'bogus'")), (Some(2), true), "{found:?}");
}

#[test]
fn an_unknown_architecture_or_option_is_not_blamed_on_the_source() {
    let source = "__global__ void k() {}";
    let mut request = common::request(source);
    request.arch = Arch::new(2, 0);
    let error = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap_err();
    assert!(matches!(error, CompileError::UnsupportedArch { .. }), "{error:?}");
    let mut request = common::request(source);
    request.options = &["--no-such-option"];
    let error = nvrtc::compile_with(&common::worker(), common::toolchain(), &request).unwrap_err();
    assert!(matches!(error, CompileError::Refused { .. }), "{error:?}");
}

#[test]
fn a_nul_in_the_source_is_refused_and_no_panic() {
    let error = compile("__global__ void k() {}\0 oops").unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
}

#[test]
fn the_sandbox_is_shut_where_the_kernel_can() {
    let level = compile("__global__ void k() {}").unwrap().sandbox;
    let landlock = std::path::Path::new("/sys/kernel/security/landlock").exists();
    assert!(
        level != SandboxLevel::LimitsOnly || !cfg!(target_os = "linux"),
        "{level} (landlock: {landlock})"
    );
}

#[test]
fn cudas_device_headers_are_there() {
    if common::toolchain().include_dirs().is_empty() {
        eprintln!("skipped: this NVRTC came without headers");
        return;
    }
    let half = "#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n\
                __global__ void k(__half2* p, __nv_bfloat16* q) { p[0] = __hfma2(p[1], p[2], p[3]); q[0] = q[1] + q[2]; }\n";
    let ptx = compile(half).unwrap().ptx;
    assert!(ptx.contains("fma.rn.f16x2"), "{ptx}");

    let pipeline = "#include <cuda_pipeline.h>\nextern \"C\" __global__ void k(const float* in, float* out) {\n\
                    \x20 __shared__ float s[32];\n  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);\n\
                    \x20 __pipeline_commit();\n  __pipeline_wait_prior(0);\n  out[threadIdx.x] = s[threadIdx.x];\n}\n";
    let ptx = compile(pipeline).unwrap().ptx;
    assert!(ptx.contains("cp.async"), "{ptx}");

    let groups = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n\
                  __global__ void k(float* p) {\n  auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n\
                  \x20 p[threadIdx.x] = warp.shfl_down(p[threadIdx.x], 1);\n}\n";
    let ptx = compile(groups).unwrap().ptx;
    assert!(ptx.contains("shfl.sync"), "{ptx}");
}
