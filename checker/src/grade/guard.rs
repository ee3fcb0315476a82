//! What a judging process imposes on itself before it touches what a student handed in.

use std::str::FromStr;

/// The hidden option by which `checker grade` hands a [`Guard`] to the process that judges.
pub(crate) const OPTION: &str = "guard";

/// The grader's process, and how much memory the judging one may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    /// Process that this one must not outlive.
    pub(crate) parent: u32,
    /// Most bytes of address space; `None` where a GPU's driver reserves far more than it uses.
    pub(crate) memory: Option<u64>,
}

impl Guard {
    /// As [`Guard::from_str`] reads it.
    pub(crate) fn to_argument(self) -> String {
        format!("--{OPTION}={},{}", self.parent, self.memory.unwrap_or(0))
    }

    /// Ends this process with its parent (on Linux), and limits its memory (on Unix). The compiler, a child of this
    /// process, gets no more either. No other process of the user may look into this one, which knows the inputs.
    ///
    /// # Errors
    /// If the limit cannot be had: with another one, the machine would decide who fails.
    #[cfg(unix)]
    pub(crate) fn impose(self) -> anyhow::Result<()> {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let _ = setrlimit(Resource::Core, limit(0));
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        if let Some(bytes) = self.memory {
            setrlimit(Resource::As, limit(bytes)).map_err(|_| {
                anyhow::anyhow!(
                    "the memory limit of this shell (`ulimit -v`) is below --memory ({} MiB)",
                    bytes >> 20
                )
            })?;
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            // It may have died before that was asked for.
            let parent = getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
            if parent != Some(self.parent) {
                std::process::exit(3);
            }
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn impose(self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Guard, String> {
        let (parent, memory) = text.split_once(',').ok_or("expected PROCESS,BYTES")?;
        let parent = parent.parse().map_err(|_| format!("`{parent}` is no process"))?;
        let memory: u64 = memory.parse().map_err(|_| format!("`{memory}` is no number of bytes"))?;
        Ok(Guard { parent, memory: (memory > 0).then_some(memory) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_arrives() {
        for memory in [None, Some(4 << 30)] {
            let guard = Guard { parent: 7, memory };
            let argument = guard.to_argument();
            assert_eq!(argument.strip_prefix("--guard=").map(str::parse), Some(Ok(guard)));
        }
        for text in ["", "7", "x,7", "7,x"] {
            assert!(text.parse::<Guard>().is_err(), "{text}");
        }
    }
}
