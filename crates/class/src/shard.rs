//! Which part of a plan a process does, and on how many cores, as the scheduler says.

/// What a process is told by whoever started it.
pub struct Environment<'a>(pub &'a dyn Fn(&str) -> Option<String>);

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0; `None`: all of it.
    pub index: Option<u32>,
    /// The job, where a scheduler has one.
    pub job: Option<String>,
    /// How often the scheduler has started this task again.
    pub restarts: u32,
}

impl Environment<'_> {
    fn number(&self, name: &str) -> Result<Option<u32>, String> {
        let Some(text) = (self.0)(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{name} is `{text}`, which is no number"))
    }

    /// The shard: as it was asked for, else Slurm's array index, else that of Kubernetes' indexed job, else
    /// all of it.
    ///
    /// # Errors
    /// If a variable is there and is no number: doing all of the plan instead would be dear.
    pub fn shard(&self, asked: Option<u32>) -> Result<Shard, String> {
        let index = match asked {
            Some(index) => Some(index),
            None => match self.number("SLURM_ARRAY_TASK_ID")? {
                Some(index) => Some(index),
                None => self.number("JOB_COMPLETION_INDEX")?,
            },
        };
        let job = (self.0)("SLURM_ARRAY_JOB_ID").or_else(|| (self.0)("SLURM_JOB_ID"));
        let digits = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        let restarts = self.number("SLURM_RESTART_COUNT")?.unwrap_or(0);
        Ok(Shard { index, job: job.filter(digits), restarts })
    }

    /// Cores that this process may use: what Slurm gave the task, else what the system says. `nproc` may
    /// count the cores of the whole node.
    pub fn cores(&self) -> usize {
        let slurm = ["SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"]
            .into_iter()
            .find_map(|name| self.number(name).ok().flatten());
        let here = || std::thread::available_parallelism().map_or(1, usize::from);
        slurm.map_or_else(here, |cores| cores as usize).clamp(1, 1024)
    }
}

impl Shard {
    /// A name for the file of results that no other process uses: `s0007-1234_7-r0-node3-4711`.
    pub fn writer(&self, host: &str, process: u32) -> String {
        let index = self.index.map_or_else(|| "all".to_owned(), |index| format!("{index:04}"));
        let job = self.job.as_deref().unwrap_or("0");
        let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').take(64).collect();
        format!("s{index}-{job}_{}-r{}-{host}-{process}", self.index.unwrap_or(0), self.restarts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(asked: Option<u32>, pairs: &[(&str, &str)]) -> Result<Shard, String> {
        let get =
            |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Environment(&get).shard(asked)
    }

    #[test]
    fn slurm_kubernetes_and_people_say_which_shard() {
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_JOB_ID", "12"),
            ("SLURM_JOB_ID", "19"),
            ("SLURM_RESTART_COUNT", "2"),
        ];
        let shard7 = shard(None, &slurm).expect("a shard");
        assert_eq!((shard7.index, shard7.job.as_deref(), shard7.restarts), (Some(7), Some("12"), 2));
        assert_eq!(shard7.writer("node-3", 4711), "s0007-12_7-r2-node3-4711");
        assert_eq!(shard(Some(3), &slurm).expect("a shard").index, Some(3));
        assert_eq!(shard(None, &[("JOB_COMPLETION_INDEX", "4")]).expect("a shard").index, Some(4));
        assert_eq!(shard(None, &[]).expect("a shard").index, None);
        assert!(shard(None, &[("SLURM_ARRAY_TASK_ID", "x")]).is_err());
        assert!(shard(None, &[("SLURM_ARRAY_TASK_ID", "-1")]).is_err());
    }

    #[test]
    fn cores_are_those_of_the_task() {
        let cores = |pairs: &[(&str, &str)]| {
            let get = |name: &str| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            Environment(&get).cores()
        };
        assert_eq!(cores(&[("SLURM_CPUS_PER_TASK", "4"), ("SLURM_CPUS_ON_NODE", "64")]), 4);
        assert_eq!(cores(&[("SLURM_CPUS_ON_NODE", "3")]), 3);
        assert!(cores(&[]) >= 1);
    }
}
