//! Listens to warpsim, and writes down what each warp does.

use warpsim::observer::{Access, Observer, Site};
use warpsim::{Program, Space, Touch};

use super::request::Coster;
use super::{NONE, Request, Total, Trace, WarpTrace};
use crate::code::{self, Code, Region};

/// An instruction of the program that is none of the code's.
const UNKNOWN: u32 = u32::MAX;

/// The observer.
#[derive(Debug)]
pub(super) struct Recorder<'c> {
    code: &'c Code,
    /// For each instruction of the program that of the code.
    instructions: Vec<u32>,
    source_lines: Vec<u32>,
    totals: Vec<Total>,
    warps: Vec<WarpLog>,
    blocks: Vec<Vec<WarpTrace>>,
    requests: Vec<Request>,
    coster: Coster,
}

/// A warp's way through the code, as far as it has got.
#[derive(Clone, Debug)]
struct WarpLog {
    /// Regions.
    runs: Vec<u32>,
    /// The last instruction.
    last: Option<u32>,
    /// For each instruction that makes requests, when it did.
    made: Vec<Made>,
}

/// The requests of one instruction.
#[derive(Clone, Debug, Default)]
struct Made {
    /// For each execution, the number of the run.
    runs: Vec<u32>,
    requests: Vec<u32>,
}

impl<'c> Recorder<'c> {
    pub(super) fn new(code: &'c Code, program: &Program, warps: u32) -> Recorder<'c> {
        let count = code.ptx_lines.len();
        let instructions = instructions(code, program);
        let mut source_lines = vec![0; count];
        for (pc, &instruction) in instructions.iter().enumerate() {
            if let (Some(line), Some(at)) =
                (source_lines.get_mut(instruction as usize), program.source_line(pc as u32))
            {
                *line = at.line;
            }
        }
        let fresh = WarpLog { runs: Vec::new(), last: None, made: vec![Made::default(); count] };
        Recorder {
            code,
            instructions,
            source_lines,
            totals: vec![Total::default(); count],
            warps: vec![fresh; warps as usize],
            blocks: Vec::new(),
            requests: Vec::new(),
            coster: Coster::default(),
        }
    }

    pub(super) fn finish(self) -> Trace {
        Trace {
            blocks: self.blocks,
            requests: self.requests,
            lines: self.coster.lines,
            buffers: Vec::new(),
            source_lines: self.source_lines,
            totals: self.totals,
        }
    }

    fn step(&mut self, warp: u32, pc: u32, lanes: u32) {
        let instruction = self.instructions[pc as usize];
        if instruction == UNKNOWN {
            return;
        }
        let at = instruction as usize;
        self.totals[at].executions += 1;
        self.totals[at].lanes += u64::from(lanes);
        let region = self.code.region_of[at];
        let log = &mut self.warps[warp as usize];
        if log.runs.last() != Some(&region) || log.last.is_none_or(|last| instruction <= last) {
            log.runs.push(region);
        }
        log.last = Some(instruction);
        if self.code.requests[at] != code::Request::None {
            log.made[at].runs.push(log.runs.len() as u32 - 1);
        }
    }
}

/// An instruction of PTX may be several of the program, in order; they count as the last of the code's on that line.
fn instructions(code: &Code, program: &Program) -> Vec<u32> {
    let last_line = code.ptx_lines.iter().copied().max().unwrap_or(0) as usize;
    let mut on_line: Vec<Vec<u32>> = vec![Vec::new(); last_line + 1];
    for (at, line) in code.ptx_lines.iter().enumerate() {
        on_line[*line as usize].push(at as u32);
    }
    let mut seen = vec![0; last_line + 1];
    let mut find = |line: u32| {
        let all = on_line.get(line as usize).filter(|all| !all.is_empty())?;
        let nth: &mut usize = seen.get_mut(line as usize)?;
        *nth += 1;
        all.get((*nth - 1).min(all.len() - 1)).copied()
    };
    program.instructions().iter().map(|at| find(at.ptx_line).unwrap_or(UNKNOWN)).collect()
}

impl Observer for Recorder<'_> {
    fn block_start(&mut self, _block: u64) {
        for log in &mut self.warps {
            log.runs.clear();
            log.last = None;
            log.made.iter_mut().for_each(|made| *made = Made::default());
        }
    }

    fn block_end(&mut self, _block: u64) {
        let (code, requests) = (self.code, &mut self.requests);
        let resolve = |log: &mut WarpLog| Resolver::new(log, requests).resolve(code);
        self.blocks.push(self.warps.iter_mut().map(resolve).collect());
    }

    fn issue(&mut self, at: Site, mask: u32) {
        self.step(at.warp, at.pc, mask.count_ones());
    }

    fn issue_run(&mut self, at: Site, count: u32) {
        (at.pc..at.pc + count).for_each(|pc| self.step(at.warp, pc, 32));
    }

    fn access(&mut self, at: Site, access: &Access<'_>) {
        let instruction = self.instructions[at.pc as usize];
        // Of an asynchronous copy the read side counts.
        let is_copied = access.is_async && access.space == Space::Shared && access.touch == Touch::Write;
        if instruction == UNKNOWN || is_copied {
            return;
        }
        let bytes = match self.code.requests[instruction as usize] {
            code::Request::None => return,
            code::Request::Joined => access.bytes,
            code::Request::Own(bytes) => bytes.max(access.bytes),
        };
        let request = self.coster.cost(at.warp, access, bytes);
        self.totals[instruction as usize].add(&request, bytes, access.pattern.sectors);
        self.warps[at.warp as usize].made[instruction as usize].requests.push(self.requests.len() as u32);
        self.requests.push(request);
    }
}

/// Assigns requests to ops.
struct Resolver<'a> {
    runs: Vec<u32>,
    made: &'a [Made],
    /// For each instruction: executions and requests that are assigned.
    assigned: Vec<(usize, usize)>,
    requests: &'a mut Vec<Request>,
}

impl<'a> Resolver<'a> {
    fn new(log: &'a mut WarpLog, requests: &'a mut Vec<Request>) -> Resolver<'a> {
        let runs = std::mem::take(&mut log.runs);
        Resolver { runs, made: &log.made, assigned: vec![(0, 0); log.made.len()], requests }
    }

    fn resolve(mut self, code: &Code) -> WarpTrace {
        let mut trace = WarpTrace::default();
        let mut run = 0;
        while run < self.runs.len() {
            let own = self.runs[run];
            let several = code.regions[own as usize].unrolled.filter(|several| {
                let copies = code.regions[*several as usize].copies;
                self.runs.get(run..run + copies).is_some_and(|runs| runs.iter().all(|other| *other == own))
            });
            let number = several.unwrap_or(own);
            let region = &code.regions[number as usize];
            self.assign(region, run, &mut trace.requests);
            trace.runs.push(number);
            run += region.copies;
        }
        trace
    }

    /// The requests of a region whose first turn is the run `first`. The ops of a region are not in the order of its turns.
    fn assign(&mut self, region: &Region, first: usize, found: &mut Vec<u32>) {
        let ops = region.requests.iter().map(|at| &region.ops[*at as usize]);
        if region.copies == 1 {
            found.extend(ops.map(|op| self.next(op.at as usize, first)));
            return;
        }
        let mut by_copy: Vec<(u32, Vec<u32>)> = Vec::new();
        for op in ops {
            let known = by_copy.iter().position(|(at, _)| *at == op.at);
            let known = known.unwrap_or_else(|| {
                let copies = first..first + region.copies;
                by_copy.push((op.at, copies.map(|run| self.next(op.at as usize, run)).collect()));
                by_copy.len() - 1
            });
            found.push(by_copy[known].1[usize::from(op.copy)]);
        }
    }

    /// The request that an instruction makes in a run; several become one.
    fn next(&mut self, at: usize, run: usize) -> u32 {
        let made = &self.made[at];
        let (mut execution, mut request) = self.assigned[at];
        let each = made.requests.len().checked_div(made.runs.len()).unwrap_or(1).max(1);
        let is_now = |execution: usize| made.runs.get(execution) == Some(&(run as u32));
        if !is_now(execution) {
            return NONE;
        }
        let found = match made.requests.get(request..(request + each).min(made.requests.len())) {
            None | Some([]) => NONE,
            Some([only]) => *only,
            Some([head, rest @ ..]) => {
                let sum = rest
                    .iter()
                    .fold(self.requests[*head as usize], |sum, next| sum.and(self.requests[*next as usize]));
                self.requests.push(sum);
                self.requests.len() as u32 - 1
            }
        };
        // Lanes that part make more of them in the same run.
        while is_now(execution) {
            (execution, request) = (execution + 1, request + each);
        }
        self.assigned[at] = (execution, request);
        found
    }
}
