//! The reference solutions on a GPU, launch by launch, in the time that CUDA events tell. Without a GPU it says so and
//! measures nothing.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, Throughput};
use cuda::device::{self, Buffer, DeviceInfo, Image, Init, InputFile, Launch, Session, TimeRequest, Work};
use cuda::nvrtc::{self, CompileRequest, Toolchain};
use exercise::{Arg, Exercise, LaunchSpec, Scalar, Speed};
use ptx::Initializer;

const HEADERS: &[(&str, &str)] = &[("warplings.cuh", include_str!("../../kernels/warplings.cuh"))];

/// Launches that one request times: inputs are handed over once for all of them.
const ROUNDS: u32 = 100;

/// Milliseconds between two CUDA events.
struct CudaEvents;

impl Measurement for CudaEvents {
    type Intermediate = Instant;
    type Value = f64;

    // Only for routines that criterion times itself, of which there are none here: the worker's events do.
    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, start: Instant) -> f64 {
        start.elapsed().as_secs_f64() * 1e3
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, milliseconds: &f64) -> f64 {
        // Criterion plans its iterations as if values were nanoseconds.
        milliseconds * 1e6
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for CudaEvents {
    fn scale_values(&self, _typical: f64, values: &mut [f64]) -> &'static str {
        values.iter_mut().for_each(|nanoseconds| *nanoseconds *= 1e-6);
        "ms"
    }

    fn scale_throughputs(&self, _typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        // Per nanosecond, so in thousands of millions per second.
        let (amount, unit) = match *throughput {
            Throughput::Elements(flops) => (flops as f64 * 1e-3, "TFLOP/s"),
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => (bytes as f64, "GB/s"),
            _ => (f64::NAN, "?"),
        };
        values.iter_mut().for_each(|nanoseconds| *nanoseconds = amount / *nanoseconds);
        unit
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}

/// A solution at its timed size, with times in store.
struct Bench<'a> {
    session: &'a Session,
    launch: Launch,
    inits: Vec<(u64, Option<InputFile>)>,
    times: VecDeque<f64>,
}

impl<'a> Bench<'a> {
    fn new(
        session: &'a Session,
        gpu: &DeviceInfo,
        toolchain: &Toolchain,
        exercise: &Exercise,
        speed: &Speed,
    ) -> Self {
        let request = CompileRequest {
            headers: HEADERS,
            ..CompileRequest::new(exercise.solution, "kernel.cu", gpu.arch())
        };
        let compiled = nvrtc::compile(toolchain, &request).expect("the solution compiles");
        let module = ptx::parse(&compiled.ptx).expect("NVRTC writes PTX");
        let constants = constants(&module);
        let spec =
            LaunchSpec::from_constants(constants.iter().map(|(name, bytes)| (*name, bytes.as_slice())))
                .expect("the solution says how it is launched");
        let kernels = module.functions.iter().filter(|function| function.is_entry);
        let kernel =
            kernels.map(|kernel| &kernel.name).find(|name| nvrtc::base_name(name) == exercise.kernel);
        let instance = exercise.problem.instance(speed.size, 1);
        let mut inits = Vec::new();
        let args = instance.args.iter().map(|arg| match arg {
            Arg::Scalar(Scalar::Int(value)) => device::Arg::I32(*value),
            Arg::Scalar(Scalar::Float(value)) => device::Arg::F32(*value),
            Arg::Buffer(buffer) => {
                let bytes = |data: &Vec<f32>| data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
                let file = buffer.data.as_ref().map(|data| InputFile::new(&bytes(data)).expect("written"));
                inits.push((4 * buffer.len as u64, file));
                device::Arg::Buffer(inits.len() - 1)
            }
        });
        let launch = Launch {
            label: exercise.slug.into(),
            args: args.collect(),
            image: Image::Cubin(compiled.cubin),
            kernel: kernel.expect("the solution has the kernel").clone(),
            grid_dim: spec.grid(exercise.problem.extent(speed.size)).expect("a legal grid"),
            block_dim: spec.block,
            dynamic_shared_bytes: spec.shared_bytes,
        };
        Self { session, launch, inits, times: VecDeque::new() }
    }

    /// The sum of so many launches' times, in milliseconds.
    fn time(&mut self, launches: u64) -> f64 {
        (0..launches).map(|_| self.next()).sum()
    }

    fn next(&mut self) -> f64 {
        if self.times.is_empty() {
            let inits =
                self.inits.iter().map(|(bytes, file)| file.as_ref().map_or(Init::Poison(*bytes), Init::File));
            let buffers: Vec<Buffer<'_>> = inits.map(|init| Buffer { init, read_back: false }).collect();
            let reply = self.session.time(&TimeRequest {
                ordinal: 0,
                works: vec![Work::Launch(self.launch.clone())],
                checked: 0,
                buffers: &buffers,
                rounds: ROUNDS,
                warmups: 3,
                seed: 1,
                launch_limit: Duration::from_secs(10),
                limit: Duration::from_secs(120),
            });
            self.times.extend(reply.expect("the solution runs").rounds.iter().map(|round| round[0]));
        }
        self.times.pop_front().expect("some rounds")
    }
}

/// The launch macros' constants.
fn constants(module: &ptx::Module) -> Vec<(&str, Vec<u8>)> {
    let bytes = |variable: &ptx::Variable| {
        let size = variable.ty.size_bytes() as usize;
        let byte = |value: &Initializer| match value {
            Initializer::Integer(value) => Some(value.to_le_bytes()[..size].to_vec()),
            _ => None,
        };
        variable.init.iter().map(byte).collect::<Option<Vec<_>>>().map(|bytes| bytes.concat())
    };
    let constants = module.variables.iter().filter(|variable| variable.space == ptx::StateSpace::Constant);
    constants.filter_map(|variable| Some((variable.name.as_str(), bytes(variable)?))).collect()
}

fn main() {
    cuda::worker::run_if_worker();
    let session = Session::new();
    let gpu = match session.probe() {
        Ok(devices) => devices.into_iter().next().expect("a GPU or an error"),
        Err(error) => return println!("skipped, there is no GPU to time kernels on: {error}"),
    };
    let toolchain = nvrtc::find_or_fetch(&mut |step| eprintln!("{step:?}")).expect("NVRTC");
    let mut criterion = Criterion::default()
        .with_measurement(CudaEvents)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(10))
        .measurement_time(Duration::from_millis(100))
        .configure_from_args();
    let mut group = criterion.benchmark_group(gpu.name.as_str());
    let (major, minor) = gpu.compute_capability;
    for exercise in course::all().iter().map(|entry| &entry.exercise) {
        let Some(speed) = exercise.speed.filter(|speed| 10 * major + minor >= speed.min_capability) else {
            continue;
        };
        let (bytes, flops) = (exercise.problem.bytes(speed.size), exercise.problem.flops(speed.size));
        // About the ridge of a GPU.
        let is_arithmetic = flops > 15 * bytes;
        group.throughput(if is_arithmetic { Throughput::Elements(flops) } else { Throughput::Bytes(bytes) });
        let mut bench = None;
        group.bench_function(format!("{:02} {}", exercise.number, exercise.slug), |bencher| {
            let bench = bench.get_or_insert_with(|| Bench::new(&session, &gpu, &toolchain, exercise, &speed));
            bencher.iter_custom(|launches| bench.time(launches));
        });
    }
    group.finish();
    criterion.final_summary();
}
