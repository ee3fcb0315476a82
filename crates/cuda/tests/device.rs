//! The GPU half on a real GPU. Without one, only what it says about that is tested.

mod common;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use common::{toolchain, worker};
use cuda::device::{
    self, Arg, Buffer, DeviceError, DeviceInfo, FaultKind, Image, Init, InputFile, Launch, RunReply,
    RunRequest, Session, TimeRequest, Work,
};
use cuda::nvrtc;

/// One worker for all tests: none may leave it in a state that another notices.
static SESSION: LazyLock<Session> = LazyLock::new(|| Session::with_command(worker()));

/// The first GPU, or `None` with a word on standard error.
fn gpu() -> Option<DeviceInfo> {
    match SESSION.probe() {
        Ok(devices) => devices.into_iter().next(),
        Err(error) => {
            eprintln!("skipped, no GPU: {error}");
            None
        }
    }
}

fn launch(gpu: &DeviceInfo, source: &str, block: u32, args: Vec<Arg>) -> Launch {
    let mut request = common::request(source);
    request.arch = gpu.arch();
    let compiled = nvrtc::compile_with(&worker(), toolchain(), &request).unwrap();
    Launch {
        label: "yours".into(),
        image: Image::Cubin(compiled.cubin),
        kernel: compiled.kernels[0].name.clone(),
        grid_dim: [1, 1, 1],
        block_dim: [block, 1, 1],
        dynamic_shared_bytes: 0,
        args,
    }
}

fn run(launch: Launch, buffers: &[Buffer<'_>], limit: Duration) -> Result<RunReply, DeviceError> {
    SESSION.run(&RunRequest { ordinal: 0, launch, buffers, relaunch: false, limit })
}

const OUT: Buffer<'_> = Buffer { init: Init::Poison(256), read_back: true };
const LIMIT: Duration = Duration::from_secs(5);

#[test]
fn a_probe_gives_gpus_or_a_reason() {
    match SESSION.probe() {
        Ok(devices) => {
            assert!(!devices.is_empty());
            for (ordinal, gpu) in devices.iter().enumerate() {
                assert_eq!(gpu.ordinal as usize, ordinal);
                assert!(
                    !gpu.name.is_empty() && gpu.multiprocessors > 0 && gpu.memory_bytes > 1 << 30,
                    "{gpu:?}"
                );
            }
        }
        Err(DeviceError::Worker(text)) => panic!("the worker failed: {text}"),
        Err(error) => {
            assert!(!error.is_kernels_fault() && !error.to_string().is_empty());
            let request = RunRequest {
                ordinal: 0,
                launch: no_launch(),
                buffers: &[OUT],
                relaunch: false,
                limit: Duration::from_secs(1),
            };
            assert_eq!(SESSION.run(&request).unwrap_err(), error, "the same from every call");
        }
    }
}

fn no_launch() -> Launch {
    Launch {
        label: "none".into(),
        image: Image::Cubin(vec![]),
        kernel: "k".into(),
        grid_dim: [1; 3],
        block_dim: [1; 3],
        dynamic_shared_bytes: 0,
        args: vec![],
    }
}

#[test]
fn a_kernel_runs_with_every_kind_of_argument() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(const int* in, double* out, int a, unsigned b, long long c, float f, double d) {\n\
                  \x20 int i = threadIdx.x;\n  if (i < 16) out[i] = in[i] + a + b + (double)c + f + d;\n}\n";
    let args = vec![
        Arg::Buffer(0),
        Arg::Buffer(1),
        Arg::I32(-5),
        Arg::U32(7),
        Arg::I64(-(1 << 40)),
        Arg::F32(0.5),
        Arg::F64(0.25),
    ];
    let input: Vec<u8> = (0..16i32).flat_map(i32::to_le_bytes).collect();
    let buffers = [Buffer { init: Init::Bytes(&input), read_back: false }, OUT];
    let reply = run(launch(&gpu, source, 32, args), &buffers, LIMIT).unwrap();
    assert!(reply.buffers[0].is_empty());
    let (written, rest) = reply.buffers[1].split_at(128);
    for (i, bytes) in written.chunks(8).enumerate() {
        let expected = i as f64 - 5.0 + 7.0 - (1i64 << 40) as f64 + 0.75;
        assert_eq!(f64::from_le_bytes(bytes.try_into().unwrap()), expected);
    }
    assert!(rest.iter().all(|&byte| byte == 0xff), "what is not written stays poisoned");
}

#[test]
fn large_dynamic_shared_memory_is_allowed_and_too_much_refused() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(float* out) {\n  extern __shared__ float s[];\n  \
                  s[20000 + threadIdx.x] = threadIdx.x;\n  __syncthreads();\n  out[threadIdx.x] = s[20000 + threadIdx.x];\n}\n";
    let mut launch = launch(&gpu, source, 32, vec![Arg::Buffer(0)]);
    launch.dynamic_shared_bytes = 96 << 10;
    let reply = run(launch.clone(), &[OUT], LIMIT).unwrap();
    assert_eq!(reply.buffers[0][4..8], 1.0f32.to_le_bytes());
    launch.dynamic_shared_bytes = 1 << 20;
    assert!(matches!(run(launch, &[OUT], LIMIT), Err(DeviceError::Refused { .. })));
}

#[test]
fn faults_have_names_and_cost_one_run_only() {
    let Some(gpu) = gpu() else { return };
    let cases = [
        ("*(volatile int*)16 = 1;", FaultKind::IllegalAddress),
        ("*(int*)((char*)out + 1) = 1;", FaultKind::MisalignedAddress),
        ("assert(threadIdx.x > 99);", FaultKind::Assert),
        ("__trap();", FaultKind::IllegalInstruction),
    ];
    for (body, expected) in cases {
        let source = format!("extern \"C\" __global__ void k(int* out) {{ {body} }}");
        let Err(error) = run(launch(&gpu, &source, 1, vec![Arg::Buffer(0)]), &[OUT], LIMIT) else {
            panic!("{body} went unnoticed")
        };
        assert!(error.is_kernels_fault());
        assert!(
            matches!(&error, DeviceError::Fault { kind, .. } if *kind == expected || *kind == FaultKind::Other),
            "{body}: {error:?}"
        );
        let fine = "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = 3; }";
        run(launch(&gpu, fine, 1, vec![Arg::Buffer(0)]), &[OUT], LIMIT).unwrap();
    }
}

#[test]
fn a_hung_kernel_is_stopped_and_named() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(volatile int* out) { while (out[0] != 5) {} }";
    let started = Instant::now();
    let error =
        run(launch(&gpu, source, 1, vec![Arg::Buffer(0)]), &[OUT], Duration::from_millis(500)).unwrap_err();
    assert!(
        matches!(&error, DeviceError::Timeout { label: Some(label), .. } if label == "yours"),
        "{error:?}"
    );
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn wrong_launches_are_refused() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(int* out) { out[0] = 1; }";
    let good = launch(&gpu, source, 1, vec![Arg::Buffer(0)]);
    let error = run(Launch { block_dim: [64, 64, 1], ..good.clone() }, &[OUT], LIMIT).unwrap_err();
    assert!(matches!(error, DeviceError::Refused { .. }), "{error:?}");
    let error = run(Launch { kernel: "other".into(), ..good.clone() }, &[OUT], LIMIT).unwrap_err();
    assert!(matches!(error, DeviceError::NoKernel { .. }), "{error:?}");
    let error =
        run(Launch { image: Image::Cubin(vec![0x7f; 100]), ..good.clone() }, &[OUT], LIMIT).unwrap_err();
    assert!(matches!(error, DeviceError::WrongArchitecture { .. }), "{error:?}");
    let huge = Buffer { init: Init::Poison(1 << 45), read_back: false };
    let error = run(good.clone(), &[huge], LIMIT).unwrap_err();
    assert!(matches!(error, DeviceError::OutOfMemory { .. }), "{error:?}");
    let request = RunRequest { ordinal: 99, launch: good, buffers: &[OUT], relaunch: false, limit: LIMIT };
    let error = SESSION.run(&request).unwrap_err();
    assert!(matches!(error, DeviceError::NoSuchDevice { ordinal: 99, .. }), "{error:?}");
}

/// `n` floats copied by one thread each, `repeats` times.
fn copies(gpu: &DeviceInfo, label: &str, n: u32, repeats: i32) -> Work {
    let source = "extern \"C\" __global__ void k(const float* in, float* out, int n, int repeats) {\n\
                  \x20 int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                  \x20 if (i < n) for (int r = 0; r < repeats; r++) ((volatile float*)out)[i] = in[i];\n}\n";
    let args = vec![Arg::Buffer(0), Arg::Buffer(1), Arg::I32(n.cast_signed()), Arg::I32(repeats)];
    let launch = launch(gpu, source, 256, args);
    Work::Launch(Launch { label: label.into(), grid_dim: [n.div_ceil(256), 1, 1], ..launch })
}

#[test]
fn more_work_takes_more_time_and_outputs_are_kept() {
    let Some(gpu) = gpu() else { return };
    let n = 1u32 << 24;
    let input: Vec<u8> = (0..n).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let buffers = [
        Buffer { init: Init::Bytes(&input), read_back: false },
        Buffer { init: Init::Poison(u64::from(n) * 4), read_back: true },
    ];
    let request = TimeRequest {
        ordinal: 0,
        works: vec![
            copies(&gpu, "baseline", n, 16),
            copies(&gpu, "reference", n, 1),
            copies(&gpu, "yours", n, 1),
            Work::Copy { from: 0, to: 1 },
        ],
        checked: 2,
        buffers: &buffers,
        rounds: 30,
        warmups: 3,
        seed: 1,
        launch_limit: LIMIT,
        limit: Duration::from_secs(60),
    };
    let reply = SESSION.time(&request).unwrap();
    assert_eq!(reply.rounds.len(), 30);
    let median = |work: usize| {
        let mut times: Vec<f64> = reply.rounds.iter().map(|round| round[work]).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let mut empty = reply.empty_launches.clone();
    empty.sort_by(f64::total_cmp);
    let (baseline, reference, yours, copy, empty) =
        (median(0), median(1), median(2), median(3), empty[empty.len() / 2]);
    eprintln!(
        "{}: baseline {baseline:.4} ms, reference {reference:.4}, yours {yours:.4}, copy {copy:.4}, empty {empty:.4}; {:?}; {:?}",
        gpu.name, reply.host_checks, reply.clocks
    );
    assert!(baseline > 2.0 * reference, "{baseline} {reference}");
    assert!((yours / reference).ln().abs() < 0.05, "equal kernels take equal time: {yours} {reference}");
    assert!(empty < yours && copy > 0.0, "{empty}");
    assert_eq!((&reply.outputs[0], reply.outputs[1].as_ref()), (&None, Some(&input)));
    assert!(reply.differing_rounds.is_empty() && reply.differing_outputs.is_empty());
    for check in &reply.host_checks {
        assert!(check.host_ms > 0.9 * check.event_ms && check.host_ms < check.event_ms + 1.0, "{check:?}");
    }
}

#[test]
fn loading_the_code_afresh_is_not_billed_to_the_kernel() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(int* out) {}";
    let request = TimeRequest {
        ordinal: 0,
        works: vec![Work::Launch(launch(&gpu, source, 32, vec![Arg::Buffer(0)]))],
        checked: 0,
        buffers: &[OUT],
        rounds: 30,
        warmups: 3,
        seed: 1,
        launch_limit: LIMIT,
        limit: Duration::from_secs(60),
    };
    let reply = SESSION.time(&request).unwrap();
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let fresh = median(reply.rounds.iter().map(|round| round[0]).collect());
    let kept = median(reply.empty_launches);
    eprintln!(
        "empty kernel: {fresh:.5} ms with its module loaded afresh, {kept:.5} ms with a module that stays"
    );
    assert!(fresh < kept + 0.01, "{fresh} {kept}");
}

#[test]
fn a_kernel_that_remembers_or_varies_is_noticed() {
    let Some(gpu) = gpu() else { return };
    // Works on its first launch only, if its variables lived on.
    let lazy =
        "__device__ int done = 0;\nextern \"C\" __global__ void k(int* out) { if (done++ == 0) out[0] = 5; }";
    let varies = "extern \"C\" __global__ void k(unsigned* out) { unsigned t; asm volatile(\"mov.u32 %0, %globaltimer_lo;\" : \"=r\"(t)); out[0] = t; }";
    let request = |source: &str| TimeRequest {
        ordinal: 0,
        works: vec![Work::Launch(launch(&gpu, source, 1, vec![Arg::Buffer(0)]))],
        checked: 0,
        buffers: &[OUT],
        rounds: 10,
        warmups: 1,
        seed: 1,
        launch_limit: LIMIT,
        limit: Duration::from_secs(60),
    };
    let reply = SESSION.time(&request(lazy)).unwrap();
    assert_eq!(reply.outputs[0].as_ref().unwrap()[..4], 5u32.to_le_bytes());
    assert!(reply.differing_rounds.is_empty(), "its variables are new each time: it has to work each time");
    let reply = SESSION.time(&request(varies)).unwrap();
    assert_eq!(reply.differing_rounds, (1..10).collect::<Vec<_>>());
    assert_eq!(reply.differing_outputs.len(), device::DIFFERING_KEPT);
    assert_ne!(reply.differing_outputs[0][0], reply.outputs[0]);
}

#[test]
fn a_second_launch_finds_what_the_first_left_in_variables_only() {
    let Some(gpu) = gpu() else { return };
    let lazy =
        "__device__ int done = 0;\nextern \"C\" __global__ void k(int* out) { if (done++ == 0) out[0] = 5; }";
    let tidy = "__device__ int done = 0;\n\
                extern \"C\" __global__ void k(int* out) { if (done++ == 0) out[0] = 5; done = 0; }";
    let run = |source: &str| {
        let launch = launch(&gpu, source, 1, vec![Arg::Buffer(0)]);
        SESSION
            .run(&RunRequest { ordinal: 0, launch, buffers: &[OUT], relaunch: true, limit: LIMIT })
            .unwrap()
    };
    let reply = run(lazy);
    assert_eq!(reply.buffers[0][..4], 5u32.to_le_bytes());
    assert_eq!(
        reply.again.unwrap()[0][..4],
        [0xff; 4],
        "nothing was written, and nothing was left in the buffer"
    );
    let reply = run(tidy);
    assert_eq!((&reply.buffers[0][..4], reply.again), (&5u32.to_le_bytes()[..], None));
}

#[test]
fn a_session_keeps_its_worker_and_no_memory() {
    let Some(gpu) = gpu() else { return };
    let session = Session::with_command(worker());
    let source = "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = 3; }";
    let run = || {
        let launch = launch(&gpu, source, 1, vec![Arg::Buffer(0)]);
        session
            .run(&RunRequest { ordinal: 0, launch, buffers: &[OUT], relaunch: false, limit: LIMIT })
            .unwrap()
    };
    run();
    let started = Instant::now();
    for _ in 0..20 {
        run();
    }
    // Compiling is the most of it.
    eprintln!("{:?} for one more run", started.elapsed() / 20);
    // Far more than the GPU has, if it were kept.
    let half = Buffer { init: Init::Poison(gpu.memory_bytes / 2), read_back: false };
    for _ in 0..4 {
        let launch = launch(&gpu, source, 1, vec![Arg::Buffer(0)]);
        session
            .run(&RunRequest { ordinal: 0, launch, buffers: &[half], relaunch: false, limit: LIMIT })
            .unwrap();
    }
}

#[test]
fn ptx_is_compiled_by_the_driver_or_refused_with_its_reason() {
    let Some(gpu) = gpu() else { return };
    let source = "extern \"C\" __global__ void k(int* out) { out[threadIdx.x] = 3; }";
    let good = launch(&gpu, source, 1, vec![Arg::Buffer(0)]);
    let ptx = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
               .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n\
               st.global.u32 [%rd2], 3;\nret;\n}\n";
    let with = |text: &str| Launch { image: Image::Ptx(text.into()), ..good.clone() };
    assert_eq!(run(with(ptx), &[OUT], LIMIT).unwrap().buffers[0][..4], 3u32.to_le_bytes());
    let error = run(with(&ptx.replace("%rd2], 3", "%rd9], 3")), &[OUT], LIMIT).unwrap_err();
    assert!(matches!(&error, DeviceError::BadPtx { log, .. } if log.contains("rd9")), "{error}");
    let error = run(with(&ptx.replace("sm_52", "sm_199")), &[OUT], LIMIT).unwrap_err();
    assert!(matches!(&error, DeviceError::BadPtx { .. }), "{error}");
}

#[test]
fn ceilings_are_near_what_the_clocks_allow() {
    let Some(gpu) = gpu() else { return };
    let started = Instant::now();
    let ceilings = SESSION.ceilings(0).unwrap();
    eprintln!("{}: {ceilings:?} in {:?}", gpu.name, started.elapsed());
    let of = |part: f64, whole: f64| whole == 0.0 || (0.4..1.05).contains(&(part / whole));
    assert!(
        of(ceilings.copy_bytes_per_second, gpu.peak_bandwidth()),
        "{} {}",
        ceilings.copy_bytes_per_second,
        gpu.peak_bandwidth()
    );
    assert!(
        of(ceilings.fma_flops_per_second, gpu.peak_flops()),
        "{} {}",
        ceilings.fma_flops_per_second,
        gpu.peak_flops()
    );
}

#[test]
fn cublas_multiplies_row_by_row_where_it_is_there() {
    if gpu().is_none() {
        return;
    }
    let (m, n, k) = (3, 5, 2);
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let a: Vec<f32> = (0..m * k).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..k * n).map(|i| 10.0 + i as f32).collect();
    let (a_file, b_bytes) = (InputFile::new(&bytes(&a)).unwrap(), bytes(&b));
    let buffers = [
        Buffer { init: Init::File(&a_file), read_back: true },
        Buffer { init: Init::Bytes(&b_bytes), read_back: false },
        Buffer { init: Init::Poison((4 * m * n) as u64), read_back: true },
    ];
    let product = |size| Work::MatrixProduct { a: 0, b: 1, c: 2, size, tf32: false };
    let request = TimeRequest {
        ordinal: 0,
        works: vec![product([m as u32, n as u32, k as u32])],
        checked: 0,
        buffers: &buffers,
        rounds: 3,
        warmups: 1,
        seed: 1,
        launch_limit: LIMIT,
        limit: Duration::from_secs(60),
    };
    let reply = match SESSION.time(&request) {
        Ok(reply) => reply,
        Err(error @ DeviceError::NoLibrary { .. }) => return eprintln!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    let expected: Vec<f32> =
        (0..m * n).map(|i| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum()).collect();
    assert_eq!(reply.outputs, [None, None, Some(bytes(&expected))]);
    let bad = TimeRequest { works: vec![product([3, 5, 3])], ..request };
    assert!(matches!(SESSION.time(&bad), Err(DeviceError::BadRequest(_))));
}

#[test]
fn the_timing_kernels_are_their_sources() {
    if toolchain().version != (12, 9) {
        eprintln!("skipped: the committed PTX is that of NVRTC 12.9");
        return;
    }
    let compiled = common::compile(include_str!("../src/device/helper.cu")).unwrap();
    let code = |ptx: &str| -> Vec<String> {
        let aside = ["//", ".version", ".target", ".loc", ".file"];
        let lines = ptx.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.filter(|line| !aside.iter().any(|word| line.starts_with(word))).map(str::to_owned).collect()
    };
    assert_eq!(code(include_str!("../src/device/helper.ptx")), code(&compiled.ptx));
}
