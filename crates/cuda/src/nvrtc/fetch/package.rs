//! What is fetched: exact versions, with the hashes of everything that is executed.

/// A set of wheels that together make a compiler.
#[derive(Debug)]
pub(crate) struct Package {
    /// Version of the compiler, which names the folder in the cache.
    pub(crate) version: &'static str,
    /// About how much is downloaded on this kind of machine, in megabytes.
    pub(crate) megabytes: u32,
    /// The wheels.
    pub(super) wheels: &'static [Wheel],
    /// SHA-256 of the files that are executed, by their names after unpacking.
    pub(super) executed: &'static [(&'static str, &'static str)],
}

/// One wheel on PyPI, published by NVIDIA.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Name on PyPI.
    pub(super) name: &'static str,
    /// Its version.
    pub(super) version: &'static str,
    /// SHA-256 for x86-64 Linux, aarch64 Linux and Windows.
    pub(super) hashes: &'static [&'static str],
    /// What is taken: a file or, with a `/` at the end, a folder, and where it goes.
    pub(super) taken: &'static [(&'static str, &'static str)],
}

/// NVRTC 12.9 Update 1, which compiles for compute capability 5.0 to 12.1, and the device headers of that toolkit:
/// half precision, pipelines, cooperative groups and the parts of libcu++ that these include.
pub(crate) const PINNED: Package = Package {
    version: "12.9.86",
    megabytes: if cfg!(windows) {
        83
    } else if cfg!(target_arch = "aarch64") {
        52
    } else {
        97
    },
    wheels: &[
        Wheel {
            name: "nvidia-cuda-nvrtc-cu12",
            version: "12.9.86",
            hashes: &[
                "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
                "096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead",
                "72972ebdcf504d69462d3bcd67e7b81edd25d0fb85a2c46d3ea3517666636349",
            ],
            // Without the `.alt` libraries, which are half of the wheel.
            taken: &[
                ("nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "libnvrtc.so.12"),
                ("nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9", "libnvrtc-builtins.so.12.9"),
                ("nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll", "nvrtc64_120_0.dll"),
                ("nvidia/cuda_nvrtc/bin/nvrtc-builtins64_129.dll", "nvrtc-builtins64_129.dll"),
                ("nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/licenses/License.txt", "License.txt"),
            ],
        },
        Wheel {
            name: "nvidia-cuda-runtime-cu12",
            version: "12.9.79",
            hashes: &[
                "25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3",
                "83469a846206f2a733db0c42e223589ab62fd2fabac4432d2f8802de4bded0a4",
                "8e018af8fa02363876860388bd10ccb89eb9ab8fb0aa749aaf58430a9f7c4891",
            ],
            taken: &[("nvidia/cuda_runtime/include/", "include/")],
        },
        Wheel {
            name: "nvidia-cuda-cccl-cu12",
            version: "12.9.27",
            hashes: &[
                "37869e17ce2e1ecec6eddf1927cca0f8c34e64fd848d40453df559091e2d7117",
                "d7898b38aa68beaa234d48f0868273702342a196d6e2e9d0ef058dca2390ebea",
                "72106f95a9bb3be18472806b4f663ebf0f9248a86d14b4ae3305725b855d9d92",
            ],
            taken: &[
                ("nvidia/cuda_cccl/include/cuda/", "include/cuda/"),
                ("nvidia/cuda_cccl/include/nv/", "include/nv/"),
            ],
        },
    ],
    executed: EXECUTED,
};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const EXECUTED: &[(&str, &str)] = &[
    ("libnvrtc.so.12", "7c67c6b51ea0e0279634cebd676ff7efda1674806444520c84430ad5c35fe625"),
    ("libnvrtc-builtins.so.12.9", "6507cf33450cfb22970c2c1e7aa8e7c0a33e39d864720277b05f61a92791e2e8"),
];
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const EXECUTED: &[(&str, &str)] = &[
    ("libnvrtc.so.12", "3a599a1649813776e6852024ba6c3a2fc291a0eab61745864261aa449f8d2b7d"),
    ("libnvrtc-builtins.so.12.9", "fa791107a53e7e38bbcf28cd8223c62bd91445227634537d1e71a4b3cbd6920d"),
];
#[cfg(all(windows, target_arch = "x86_64"))]
const EXECUTED: &[(&str, &str)] = &[
    ("nvrtc64_120_0.dll", "0cc63349fedffeec1660b30955e8028b6e4e4c26cf1e41c56dc4569fd5eca82c"),
    ("nvrtc-builtins64_129.dll", "c405226b0b394ed8bdc593bb1419b94a989f93248ed2873e8f2e0e27c1688ca1"),
];
/// NVIDIA publishes NVRTC for no other system.
#[cfg(not(any(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
    all(windows, target_arch = "x86_64")
)))]
const EXECUTED: &[(&str, &str)] = &[];

impl Package {
    /// A requirements file that admits nothing else.
    pub(super) fn requirements(&self) -> String {
        let line = |wheel: &Wheel| {
            let hashes: String = wheel.hashes.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
            format!("{}=={}{hashes}\n", wheel.name, wheel.version)
        };
        self.wheels.iter().map(line).collect()
    }

    /// What is fetched, in words: `nvidia-cuda-nvrtc-cu12 12.9.86` first of all.
    pub(super) fn title(&self) -> String {
        let names: Vec<_> =
            self.wheels.iter().map(|wheel| format!("{} {}", wheel.name, wheel.version)).collect();
        names.join(", ")
    }
}
