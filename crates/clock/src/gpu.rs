//! What the model knows of a GPU: one data file for each, with the source of every figure.

use std::collections::BTreeMap;
use std::path::Path;

use exercise::Sm;
use serde::{Deserialize, Serialize};

/// A data file, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuFile {
    /// What to type: `h200`.
    pub key: String,
    /// What people call it: `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// What its predictions were compared with, if they were: kernels timed on such a card.
    #[serde(default)]
    pub checked: Option<Check>,
    /// Every figure of the model by its name, with where it is from.
    pub figures: BTreeMap<String, Figure>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its value, in the unit that [`Gpu`] names.
    pub value: f64,
    /// Where it is from: a publication, a measurement, or "as X" where none is known.
    pub source: String,
}

/// How far predictions are right, on kernels that no constant was fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// How many kernels were compared.
    pub kernels: u32,
    /// The error of the speed-up over the baseline that half of them do not exceed, as a fraction.
    pub median_error: f64,
    /// The error that nine of ten do not exceed.
    pub most_error: f64,
    /// The measurement.
    pub measurement: String,
}

/// Why there is no such GPU.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum GpuError {
    #[error("no GPU called `{name}` is known; there are {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    #[error("{file}: {source}")]
    Unreadable { file: String, source: std::io::Error },
    #[error("{file}: {source}")]
    Malformed { file: String, source: serde_json::Error },
    #[error("{file}: `{figure}` is missing")]
    Missing { file: String, figure: &'static str },
    #[error("{file}: `{figure}` is {value}, which is not a positive number")]
    Absurd { file: String, figure: &'static str, value: f64 },
    #[error("{file}: `{figure}` is no figure of the model")]
    Surplus { file: String, figure: String },
    #[error("{file}: compute capability {}.{} is not known", capability.0, capability.1)]
    Capability { file: String, capability: (u32, u32) },
}

macro_rules! gpu {
    ($($(#[doc = $doc:literal])+ $figure:ident,)+) => {
        /// A GPU, as far as time depends on it. Cycles are those of the SM's clock.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Gpu {
            /// What to type.
            pub key: String,
            /// What people call it.
            pub name: String,
            /// What an SM has room for.
            pub sm: Sm,
            /// What its predictions were compared with.
            pub checked: Option<Check>,
            $($(#[doc = $doc])+ pub $figure: f64,)+
        }

        impl Gpu {
            fn of(file: GpuFile, path: &str) -> Result<Gpu, GpuError> {
                const FIGURES: &[&str] = &[$(stringify!($figure)),+];
                if let Some(surplus) = file.figures.keys().find(|name| !FIGURES.contains(&name.as_str())) {
                    return Err(GpuError::Surplus { file: path.to_owned(), figure: surplus.clone() });
                }
                let figure = |figure: &'static str| {
                    let found = file.figures.get(figure);
                    let value = found.ok_or(GpuError::Missing { file: path.to_owned(), figure })?.value;
                    let is_sound = value.is_finite() && value > 0.0;
                    is_sound.then_some(value).ok_or(GpuError::Absurd { file: path.to_owned(), figure, value })
                };
                let sm = Sm::of_capability(file.capability)
                    .ok_or(GpuError::Capability { file: path.to_owned(), capability: file.capability })?;
                Ok(Gpu {
                    $($figure: figure(stringify!($figure))?,)+
                    key: file.key,
                    name: file.name,
                    sm,
                    checked: file.checked,
                })
            }
        }
    };
}

gpu! {
    /// Multiprocessors.
    sms,
    /// Clock of the SMs under load, in MHz.
    clock_mhz,
    /// Cycles for which a warp's multiply-add in single precision occupies its unit: 32 over the lanes of a quarter SM.
    fma_interval,
    /// The same for integers, logic and comparisons.
    alu_interval,
    /// The same for integer multiplications.
    multiply_interval,
    /// The same for reciprocals, roots and conversions.
    special_interval,
    /// The same for double precision.
    double_interval,
    /// The same for conversions from and to double precision.
    double_convert_interval,
    /// Multiply-adds in TF32 that a quarter SM makes per cycle through `mma.sync`.
    tf32_products_per_cycle,
    /// Cycles until the result of plain arithmetic can be used.
    math_latency,
    /// The same for double precision.
    double_latency,
    /// The same for `mma.m16n8k8`.
    tensor_latency,
    /// The same for a shuffle.
    shuffle_latency,
    /// The same for a load from constant memory at a computed address.
    constant_latency,
    /// The same for `threadIdx` and `blockIdx`.
    identity_latency,
    /// Cycles between two memory instructions of a quarter SM.
    memory_issue_interval,
    /// Memory instructions of a quarter SM that may wait for the load/store unit.
    memory_queue,
    /// Cycles from a load from shared memory to its value.
    shared_latency,
    /// The same from L1.
    l1_latency,
    /// The same from L2.
    l2_latency,
    /// The same from DRAM.
    dram_latency,
    /// What the compiler expects a load from global memory to take, in cycles.
    expected_global_latency,
    /// L1 and shared memory of an SM together, in bytes.
    l1_bytes,
    /// Bytes that an SM may take in from L2 per cycle.
    l2_port_bytes_per_cycle,
    /// Bytes that L2 hands out per cycle and SM, while all SMs read.
    l2_read_bytes_per_cycle,
    /// Bytes that L2 takes in per cycle and SM, while all SMs write.
    l2_write_bytes_per_cycle,
    /// Bytes that are read from DRAM per second at best.
    dram_read_bytes_per_second,
    /// Bytes that are written to it.
    dram_write_bytes_per_second,
    /// Sectors' worth of writing that a sector costs of which a part only is written.
    partial_sector_cost,
    /// Cycles by which stores may be behind before the warps that store have to wait.
    store_window,
    /// Cycles that a barrier takes once the last warp has come.
    barrier_latency,
    /// Cycles that a jump takes.
    branch_latency,
    /// Cycles between the end of a block and the first instruction of the next one in its place.
    block_gap,
    /// Microseconds that a launch takes by itself.
    launch_microseconds,
}

/// The files that come with the crate.
const BUILT_IN: [&str; 7] = [
    include_str!("../gpus/h200.json"),
    include_str!("../gpus/h100.json"),
    include_str!("../gpus/a100.json"),
    include_str!("../gpus/rtx4090.json"),
    include_str!("../gpus/rtx3060.json"),
    include_str!("../gpus/t4.json"),
    include_str!("../gpus/v100.json"),
];

impl Gpu {
    /// The GPU of this key or name, however it is spaced and capitalised, or that of a data file if `name` ends in `.json`.
    ///
    /// # Errors
    /// If no such GPU is known, with those that are; if the file is not what it should be.
    pub fn named(name: &str) -> Result<Gpu, GpuError> {
        if name.to_ascii_lowercase().ends_with(".json") {
            return Gpu::read(Path::new(name));
        }
        let plain = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let mut all = Gpu::built_in();
        let wanted = plain(name);
        let is_it = |gpu: &Gpu| plain(&gpu.key) == wanted || plain(&gpu.name) == wanted;
        match all.iter().position(is_it) {
            Some(at) => Ok(all.swap_remove(at)),
            None => Err(GpuError::Unknown {
                name: name.to_owned(),
                known: all.into_iter().map(|gpu| gpu.key).collect(),
            }),
        }
    }

    /// The GPU that a data file describes.
    ///
    /// # Errors
    /// If it cannot be read, or is not what it should be.
    pub fn read(path: &Path) -> Result<Gpu, GpuError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Gpu::parse(&text, &file),
            Err(source) => Err(GpuError::Unreadable { file, source }),
        }
    }

    /// Those whose files come with the crate; predictions are for the first one unless another is asked for.
    pub fn built_in() -> Vec<Gpu> {
        let parse = |text: &&str| Gpu::parse(text, "a built-in data file").ok();
        BUILT_IN.iter().filter_map(parse).collect()
    }

    fn parse(text: &str, file: &str) -> Result<Gpu, GpuError> {
        match serde_json::from_str(text) {
            Ok(parsed) => Gpu::of(parsed, file),
            Err(source) => Err(GpuError::Malformed { file: file.to_owned(), source }),
        }
    }

    /// Cycles of a figure in bytes per second, as bytes per cycle for one SM's share.
    pub(crate) fn share_of(&self, bytes_per_second: f64) -> f64 {
        bytes_per_second / self.sms / (self.clock_mhz * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_file_is_sound_and_says_where_its_figures_are_from() {
        for text in BUILT_IN {
            let file: GpuFile = serde_json::from_str(text).expect("JSON");
            assert!(file.figures.values().all(|figure| figure.source.len() > 3), "{}", file.key);
            let gpu = Gpu::of(file, "file").expect("complete");
            assert_eq!(Gpu::named(&gpu.name).expect("known").key, gpu.key);
        }
        assert_eq!(Gpu::built_in().len(), BUILT_IN.len());
    }

    #[test]
    fn what_is_wrong_with_a_name_or_a_file_is_said() {
        let error = Gpu::named("gtx1080").expect_err("unknown").to_string();
        assert!(error.contains("`gtx1080`") && error.contains("h200, h100"), "{error}");
        assert!(matches!(Gpu::named("missing.json"), Err(GpuError::Unreadable { .. })));
        let change = |from: &str, to: &str| Gpu::parse(&BUILT_IN[0].replacen(from, to, 1), "f.json");
        let missing = change("\"sms\"", "\"smss\"").expect_err("surplus").to_string();
        assert!(missing.contains("`smss` is no figure"), "{missing}");
        assert!(matches!(change("\"value\": 132", "\"value\": -1"), Err(GpuError::Absurd { .. })));
        assert!(matches!(Gpu::parse("{", "f.json"), Err(GpuError::Malformed { .. })));
    }
}
