//! The worked class on a real Slurm: three nodes on this machine, one of which dies.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::class::worked;
use crate::scratch::Scratch;

/// A cluster that ends with the test.
struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    fn script() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm/cluster.sh")
    }

    /// `None`, and a line that says so, where Slurm is not installed or this is not root.
    fn start(folder: PathBuf) -> Option<Cluster> {
        let check = Command::new(Cluster::script()).arg("check").output().expect("bash");
        if !check.status.success() {
            let why = String::from_utf8_lossy(&check.stdout).trim().to_owned();
            eprintln!("skipped: a cluster of Slurm cannot be started here: {why}");
            return None;
        }
        let cluster = Cluster { folder };
        let started =
            Command::new(Cluster::script()).arg("start").arg(&cluster.folder).output().expect("bash");
        assert!(started.status.success(), "{started:?}");
        Some(cluster)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).env("SLURM_CONF", self.folder.join("slurm.conf")).output().expect("started")
    }

    fn text(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.run(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Waits until `is_so`, at most as long as such a thing can take.
    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < Duration::from_secs(120), "{what}: {}", self.text("squeue", &[]));
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = Command::new(Cluster::script()).arg("stop").arg(&self.folder).output();
    }
}

#[test]
fn a_class_on_slurm_has_the_same_marks_though_a_node_dies() {
    let scratch = Scratch::new();
    // Its daemons' sockets want a short path.
    let place = tempfile::Builder::new().prefix("slurm").tempdir().expect("a folder");
    let Some(cluster) = Cluster::start(place.path().to_owned()) else { return };
    let done = |arguments: &[&str]| {
        let mut command = scratch.checker(arguments);
        let output = command.env("SLURM_CONF", cluster.folder.join("slurm.conf")).output().expect("started");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    done(&["class", "import", &worked("canvas.zip"), "--into", "it's 50% class", "--exercise", "05"]);
    done(&["class", "plan", "it's 50% class", "--cpus", "1", "--shards", "6"]);
    let copied =
        Command::new("cp").args(["-r", "it's 50% class", "alone"]).current_dir(scratch.path()).status();
    assert!(copied.expect("cp").success());

    let script = scratch.path().join("it's 50% class/job.sbatch").display().to_string();
    let job = cluster.text("sbatch", &["--parsable", &script]);
    let results = scratch.path().join("it's 50% class/results");
    let count = || std::fs::read_dir(&results).map_or(0, Iterator::count);
    cluster.wait_until("the first results", || count() >= 3);
    let crashed =
        Command::new(Cluster::script()).arg("crash").arg(&cluster.folder).arg("n2").output().expect("bash");
    assert!(crashed.status.success(), "{crashed:?}");
    let is_down = || cluster.text("sinfo", &["-h", "-n", "n2", "-o", "%T"]).starts_with("down");
    cluster.wait_until("the node's end", is_down);
    // What ran on it waits for two minutes; there is no need to.
    for waiting in cluster.text("squeue", &["-h", "-r", "-t", "PD", "-o", "%A"]).lines() {
        cluster.run("scontrol", &["update", &format!("JobId={waiting}"), "StartTime=now"]);
    }
    cluster.wait_until("the end of the job", || cluster.text("squeue", &["-h", "-j", &job]).is_empty());
    let status = done(&["class", "status", "it's 50% class"]);
    assert!(!status.contains("not done"), "{status}");
    assert!(scratch.path().join("it's 50% class/logs").join(format!("{job}_0.out")).is_file());

    done(&["class", "work", "alone"]);
    let marks = |folder: &str| done(&["class", "collect", folder]);
    assert_eq!(marks("it's 50% class"), marks("alone"));
}
