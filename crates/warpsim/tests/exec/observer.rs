//! What an observer of the caller's is told.

use warpsim::observer::{Access, Arrival, Observer, Site};
use warpsim::{Checks, LaunchError, RegisterFile, Space};

use super::support::{Run, by_hand};

/// Writes everything down, a line for each event.
#[derive(Default)]
struct Log(Vec<(Site, String)>);

impl Log {
    fn of_warp(&self, warp: u32) -> Vec<&str> {
        let own = self.0.iter().filter(|(at, _)| at.warp == warp);
        own.map(|(_, what)| what.as_str()).filter(|what| !what.starts_with("issue")).collect()
    }

    fn put(&mut self, at: Site, what: String) {
        self.0.push((at, what));
    }
}

impl Observer for Log {
    fn block_start(&mut self, block: u64) {
        self.put(Site { block, warp: u32::MAX, pc: 0 }, "start".to_owned());
    }

    fn block_end(&mut self, block: u64) {
        self.put(Site { block, warp: u32::MAX, pc: 0 }, "end".to_owned());
    }

    fn issue(&mut self, at: Site, mask: u32) {
        self.put(at, format!("issue {mask:x}"));
    }

    fn access(&mut self, at: Site, access: &Access<'_>) {
        let first = access.addresses.of(access.mask.trailing_zeros());
        let first = if access.space == Space::Global { 0 } else { first };
        self.put(at, format!("{:?} {:?} {} at {first}", access.touch, access.space, access.bytes));
    }

    fn barrier_arrive(&mut self, at: Site, arrival: Arrival) {
        self.put(at, format!("barrier {}: {:x}", arrival.barrier, arrival.mask));
    }

    fn branch(&mut self, at: Site, active: u32, taken: u32) {
        self.put(at, format!("branch {active:x}: {taken:x}"));
    }

    fn copy_commit(&mut self, at: Site, mask: u32) {
        self.put(at, format!("commit {mask:x}"));
    }

    fn copy_wait(&mut self, at: Site, mask: u32, pending: Option<u32>) {
        self.put(at, format!("wait {mask:x} {pending:?}"));
    }

    fn exit(&mut self, at: Site, mask: u32) {
        self.put(at, format!("exit {mask:x}"));
    }
}

/// A kernel with a bit of everything: shared, local and global memory, a copy, a barrier, a branch.
const EVERYTHING: &str = ".shared .align 16 .b8 stage[1024]; .local .align 4 .b8 own[8];
    shl.b32 %r1, %t, 2; mov.u32 %r2, stage; add.u32 %r1, %r1, %r2; mad.wide.u32 %rd1, %t, 4, %out;
    cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r3, [%r1]; ld.shared.u32 %r4, [%r1]; add.u32 %r3, %r3, %r4;
    st.local.u32 [own+4], %r3;
    setp.lt.u32 %p1, %t, 40; @!%p1 bra DONE;
    st.global.u32 [%rd1], %r3;
    DONE: ret;";

#[test]
fn an_observer_sees_each_warps_events_in_program_order() {
    let mut run = Run::new(&by_hand(EVERYTHING), "k", 1, 64);
    let out = run.words(0..64);
    let mut log = Log::default();
    assert!(run.run_with(&mut log).is_clean());
    assert_eq!(run.ints(out)[38..42], [76, 78, 40, 41]);
    let all = "ffffffff";
    let tail = ["Write Global 4 at 0", "exit ff", "exit ffffff00"];
    let start = |warp: u32| {
        vec![
            "Read Global 4 at 0".to_owned(),
            format!("Write Shared 4 at {}", 128 * warp),
            format!("commit {all}"),
            format!("wait {all} Some(0)"),
            format!("barrier 0: {all}"),
            format!("Read Shared 4 at {}", 128 * warp),
            format!("Read Shared 4 at {}", 128 * warp),
            "Write Local 4 at 4".to_owned(),
        ]
    };
    let first = [start(0), vec![format!("branch {all}: 0"), tail[0].into(), format!("exit {all}")]].concat();
    assert_eq!(log.of_warp(0), first);
    let second = [start(1), vec![format!("branch {all}: ffffff00")]].concat();
    assert_eq!(log.of_warp(1)[..9], second);
    let mut parted = log.of_warp(1)[9..].to_vec();
    parted.sort_unstable();
    assert_eq!(parted, ["Write Global 4 at 0", "exit ff", "exit ffffff00"]);
    // Every event follows the issue of its instruction, by the same lanes.
    let mut issued = [None; 2];
    for (at, what) in log.0.iter().filter(|(at, _)| at.warp < 2) {
        if what.starts_with("issue") {
            issued[at.warp as usize] = Some(at.pc);
        } else if !what.starts_with("exit") && !what.starts_with("branch") {
            assert_eq!(issued[at.warp as usize], Some(at.pc), "{what}");
        }
    }
    assert_eq!((log.0[0].1.as_str(), log.0.last().map(|l| l.1.as_str())), ("start", Some("end")));
}

#[test]
fn instructions_tell_what_they_read_and_write() {
    let mut run = Run::new(&by_hand(EVERYTHING), "k", 1, 32);
    run.words(0..32);
    let mut log = Log::default();
    run.run_with(&mut log);
    let issued: Vec<u32> =
        log.0.iter().filter(|(_, what)| what.starts_with("issue")).map(|l| l.0.pc).collect();
    let opcodes: Vec<&str> = issued.iter().map(|&pc| &*run.instructions()[pc as usize].opcode).collect();
    assert_eq!(opcodes[2..6], ["shl.b32", "mov.u32", "add.u32", "mad.wide.u32"]);
    let of = |pc: u32| run.instructions()[pc as usize].clone();
    let (add, mad) = (of(issued[4]), of(issued[5]));
    let files = |registers: &[warpsim::Register]| registers.iter().map(|r| r.file).collect::<Vec<_>>();
    assert_eq!(
        (files(&add.reads), files(&add.writes)),
        (vec![RegisterFile::Word; 2], vec![RegisterFile::Word])
    );
    // `add.u32 %r1, %r1, %r2` writes what it reads first.
    assert_eq!(add.writes[0], add.reads[0]);
    assert_eq!(files(&mad.reads), [RegisterFile::Word, RegisterFile::Word, RegisterFile::Wide]);
    let branch = run.instructions().iter().find(|i| &*i.opcode == "bra").expect("there is a branch");
    assert_eq!(
        branch.guard.map(|(register, negated)| (register.file, negated)),
        Some((RegisterFile::Pred, true))
    );
    let lines: Vec<u32> = issued.iter().map(|&pc| of(pc).ptx_line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn the_report_does_not_depend_on_who_else_looks() {
    let tiled = |observer: Option<&mut Log>| {
        let mut run = Run::new(include_str!("../ptx/tiled.ptx"), "tiled", 3, 16);
        (run.launch.grid[1], run.launch.block[1]) = (3, 16);
        let (a, b) = (run.words(0..40 * 40), run.words(5..5 + 40 * 40));
        let c = run.room(40 * 40);
        (0..3).for_each(|_| run.arg(40));
        let report = match observer {
            Some(log) => run.run_with(log),
            None => run.run(),
        };
        assert!(a != b && report.is_clean(), "{:?}", report.faults);
        (run.ints(c), report)
    };
    let mut log = Log::default();
    let (alone, watched) = (tiled(None), tiled(Some(&mut log)));
    assert_eq!(watched.0, alone.0);
    assert_eq!((watched.1.counters, watched.1.lines), (alone.1.counters, alone.1.lines));
    assert_eq!(watched.1.worst, alone.1.worst);
    // The counters are of what the observer saw.
    let issued = log.0.iter().filter(|(_, what)| what.starts_with("issue")).count();
    assert_eq!(issued as u64, alone.1.counters.warp_instructions);
    let loads = log.0.iter().filter(|(_, what)| what.starts_with("Read Shared")).count();
    assert_eq!(loads as u64, alone.1.counters.shared_load_requests);
}

#[test]
fn only_chosen_blocks_run() {
    let body = "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 32, %t; mad.wide.u32 %rd1, %r2, 4, %out;
        st.global.u32 [%rd1], %r1; ret;";
    let mut run = Run::new(&by_hand(body), "k", 8, 32);
    let out = run.words([-1; 256]);
    run.launch.blocks = Some(vec![5, 2]);
    let mut log = Log::default();
    let report = run.run_with(&mut log);
    let started: Vec<u64> =
        log.0.iter().filter(|(_, what)| what == "start").map(|(at, _)| at.block).collect();
    assert_eq!(started, [5, 2]);
    assert_eq!(report.counters.global_store_requests, 2);
    let written: Vec<i32> = run.ints(out).chunks(32).map(|block| block[0]).collect();
    assert_eq!(written, [-1, -1, 2, -1, -1, 5, -1, -1]);
    // The same without an observer, and with nothing checked.
    for checks in [Checks::ALL, Checks::NONE] {
        let mut run = Run::new(&by_hand(body), "k", 8, 32);
        let out = run.words([-1; 256]);
        (run.launch.blocks, run.launch.checks) = (Some(vec![7, 1, 2]), checks);
        run.clean();
        let written: Vec<i32> = run.ints(out).chunks(32).map(|block| block[31]).collect();
        assert_eq!(written, [-1, 1, 2, -1, -1, -1, -1, 7]);
    }
    run.launch.blocks = Some(vec![0, 8]);
    let refused = run.try_run().expect_err("there are 8 blocks");
    assert_eq!(refused, LaunchError::NoSuchBlock { block: 8, blocks: 8 });
}
