//! A plan as a job of Slurm.

use std::path::Path;

use crate::plan::Plan;

/// Tasks that run at a time, so that a class leaves room for others.
const AT_A_TIME: u32 = 20;

/// What a job script is made of.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is to be judged.
    pub plan: &'a Plan,
    /// The class's folder, on a file system that all nodes share.
    pub folder: &'a Path,
    /// The checker, on the same.
    pub program: &'a Path,
    /// Cores of each task.
    pub cpus: u32,
}

impl Job<'_> {
    /// The script for `sbatch`. `exec` makes the checker the batch process, so that Slurm's signals reach it.
    pub fn script(&self) -> String {
        let Job { plan, folder, program, cpus } = *self;
        let folder_text = folder.display().to_string();
        // Slurm reads percent signs in the name of a log, and quotes as a shell does.
        let log = format!("{}/logs/%A_%a.out", folder_text.replace('%', "%%").replace('"', "\\\""));
        let gpu = if plan.judge.engine == "sim" { "##SBATCH --gres=gpu:1" } else { "#SBATCH --gres=gpu:1" };
        let minutes = 60;
        format!(
            "#!/bin/bash\n\
             # Judges plan {number} of this class: `checker class plan` wrote it, `sbatch` takes it.\n\
             #SBATCH --job-name=warplings --array=0-{last}%{AT_A_TIME} --requeue --open-mode=append\n\
             #SBATCH --cpus-per-task={cpus} --mem-per-cpu=2G --time={minutes} --signal=B:TERM@60\n\
             #SBATCH --output=\"{log}\"\n\
             {gpu}\n\
             exec {program} class work {folder} --plan {number}\n",
            number = plan.number,
            last = plan.shards - 1,
            program = quoted(&program.display().to_string()),
            folder = quoted(&folder_text),
        )
    }
}

/// A word of a shell's command line.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How many tasks one array may have, from what `scontrol show config` says: indices are below
/// `MaxArraySize`.
pub fn most_tasks(config: &str) -> Option<u32> {
    let line = config.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"))?;
    line.trim_start().strip_prefix('=')?.trim().parse().ok().filter(|most| *most > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_says_how_many_tasks_it_takes() {
        assert_eq!(
            most_tasks("Configuration data\nMaxArraySize            = 101\nMaxJobCount = 200\n"),
            Some(101)
        );
        assert_eq!(most_tasks("nothing of the kind"), None);
        assert_eq!(most_tasks("MaxArraySize = 0"), None);
    }

    #[test]
    fn paths_are_words_whatever_is_in_them() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
    }
}
