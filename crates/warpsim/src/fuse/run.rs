//! Executes superblocks.

use super::{Dot, Loads, Op, Superblock, dot};
use crate::alu::{self, BuiltFor};
use crate::exec::access::access_of_words;
use crate::exec::access::layout::{Octet, Words};
use crate::exec::dispatch::per_cpu;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Located, Machine};
use crate::fault::{Space, Touch};
use crate::isa;
use crate::observer::{Detail, Observer, Site};
use crate::program::{Guard, Step};
use crate::registers::FULL;

/// How a superblock was left.
#[derive(Clone, Copy)]
pub(crate) struct Exit {
    /// How many instructions were executed, of those that follow each other from its start.
    pub(crate) executed: u32,
    /// The next instruction.
    pub(crate) next: u32,
}

impl<O: Observer> Machine<'_, '_, O> {
    /// The interpreter's one way in here: executes the superblock with this number, which begins at the instruction that
    /// is issued, for all lanes of a full warp. `None`, if it cannot be executed now: then nothing was done.
    #[inline(always)]
    pub(crate) fn fused<const AVX2: bool>(
        &mut self,
        warp: &mut Warp,
        issue: &Issue<'_>,
        number: u32,
        budget: u64,
        join_pc: u32,
    ) -> Option<Exit> {
        if O::detail() == Detail::InOrder || issue.active != FULL || warp.registers.tainted {
            return None;
        }
        let superblock = &self.context.program.superblocks[number as usize];
        // Nobody must pass the place where others wait for them.
        let joins = join_pc.wrapping_sub(issue.at.pc) < superblock.length;
        if budget < u64::from(superblock.length) || joins {
            return None;
        }
        let exit = self.run_superblock::<AVX2>(warp, issue, superblock);
        if exit.executed == 0 { None } else { Some(exit) }
    }

    per_cpu! {
        fn run_superblock, run_superblock_avx2, run_superblock_any(
            warp: &mut Warp, issue: &Issue<'_>, superblock: &Superblock
        ) -> Exit;
    }

    #[inline(always)]
    fn run_superblock_any(&mut self, warp: &mut Warp, issue: &Issue<'_>, superblock: &Superblock) -> Exit {
        let (at, group) = (issue.at, issue.group);
        // All instructions before this one have been reported.
        let mut reported = at.pc;
        let end = at.pc + superblock.length;
        // After the last instruction that was executed, and where the warp goes on.
        let (mut done, mut next) = (end, end);
        macro_rules! deoptimise_from {
            ($pc:expr) => {
                if warp.registers.tainted {
                    (done, next) = self.deoptimise(warp, group, at, superblock, $pc);
                    break;
                }
            };
        }
        for op in &superblock.ops {
            match op {
                Op::MultiplyAdd(ops) => {
                    let registers = &mut warp.registers;
                    alu::map3(BuiltFor::<false>, registers, ops, FULL, |_, a, b, c| isa::fused(a, b, c));
                }
                Op::Alu(function, ops) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, ops, FULL) }
                }
                &Op::Dot(number) => self.dot(warp, superblock, &superblock.dots[number as usize]),
                &Op::Loads(number) => {
                    let loads = &superblock.groups[number as usize];
                    if self.load_group(warp, at, number, loads).is_none() {
                        self.load_each(warp, group, at, number, loads);
                        deoptimise_from!(loads.pc() + 1);
                    }
                }
                &Op::LoadGlobal(pc) => {
                    let (inst, here) = (&self.context.program.code[pc as usize], Site { pc, ..at });
                    let is_done = match &inst.step {
                        Step::Load(memory) => self.load_words(warp, here, Space::Global, memory, &inst.ops),
                        _ => false,
                    };
                    if !is_done {
                        self.access(warp, group, here);
                        deoptimise_from!(pc + 1);
                    }
                }
                &Op::StoreShared(pc) => {
                    warp.groups[group].idle = 0;
                    let (inst, here) = (&self.context.program.code[pc as usize], Site { pc, ..at });
                    let is_done = match &inst.step {
                        Step::Store(memory) => self.store_words(warp, here, memory, &inst.ops),
                        _ => false,
                    };
                    if !is_done {
                        self.access(warp, group, here);
                    }
                }
                &Op::Access(pc) => {
                    self.access(warp, group, Site { pc, ..at });
                    deoptimise_from!(pc + 1);
                }
                &Op::Branch { pc, guard, target } => {
                    let here = Site { pc, ..at };
                    if let Some(way) = self.branch(warp, group, here, guard, target, &mut reported) {
                        (done, next) = way;
                        break;
                    }
                }
            }
        }
        if O::detail() != Detail::Faults && reported < done {
            self.observer.issue_run(Site { pc: reported, ..at }, done - reported);
        }
        Exit { executed: done - at.pc, next }
    }

    /// A branch of a superblock. Returns where the superblock ends and where the warp goes on, if it ends here; all
    /// instructions before `reported` have been reported.
    #[inline(always)]
    fn branch(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        guard: Guard,
        target: u32,
        reported: &mut u32,
    ) -> Option<(u32, u32)> {
        let pc = at.pc;
        let taken = match guard {
            Guard::Always => FULL,
            Guard::If(p) => warp.registers.pred(p),
            Guard::Unless(p) => !warp.registers.pred(p),
        };
        if taken != 0 && taken != FULL {
            return Some((pc, pc));
        }
        if O::detail() != Detail::Faults {
            // A branch that nobody takes is not issued.
            let end = if taken == 0 { pc } else { pc + 1 };
            self.observer.issue_run(Site { pc: *reported, ..at }, end - *reported);
            if guard != Guard::Always {
                self.observer.branch(at, FULL, taken);
            }
        }
        *reported = pc + 1;
        if taken == 0 {
            return None;
        }
        let group = &mut warp.groups[group];
        if target > pc {
            group.jump = pc;
        } else {
            group.back_edge = pc;
        }
        Some((pc + 1, target))
    }

    /// Does all loads of a group, if each is in bounds and of words that were written, and lies as the first one did the
    /// last time.
    #[inline(always)]
    fn load_group(&mut self, warp: &mut Warp, at: Site, number: u32, loads: &Loads) -> Option<()> {
        let words = self.words(warp, loads.pc(), loads.base, loads.offset)?;
        let layout = match O::detail() {
            Detail::Faults => self.layouts.layout(words.layout),
            _ => self.layouts.with_wavefronts(words),
        };
        let located = self.shared.locate(layout, words.first, loads.room())?;
        // Mostly all of what lies between was written, too.
        if self.context.track_poison
            && !located.all_valid_between(layout)
            && !loads.group.each.iter().all(|load| located.moved(load.distance).all_valid())
        {
            return None;
        }
        if O::detail() != Detail::Faults {
            let access = access_of_words(Touch::Read, Space::Shared, loads.scope, words.first, layout);
            self.observer.loads(Site { pc: loads.pc(), ..at }, &access, &loads.group);
        }
        let is_regular = located.all_octets() != Octet::Scattered;
        self.found[number as usize] = is_regular.then_some(words);
        if !(is_regular && loads.is_only_multiplied) {
            fill(warp, loads, &located);
        }
        Some(())
    }

    /// A load group that was found, if its octets are not scattered.
    #[inline(always)]
    fn group(&self, number: u32, loads: &Loads) -> Option<Located<'_>> {
        match self.found[number as usize] {
            Some(Words { first, layout }) => {
                self.shared.locate(self.layouts.layout(layout), first, loads.room())
            }
            None => None,
        }
    }

    /// Copies what is still missing in the registers of a load group that was found. (Others have been copied already; by
    /// now something else may be in their registers, or in memory.)
    fn fill_missing(&self, warp: &mut Warp, number: u32, loads: &Loads) {
        if let Some(located) = self.group(number, loads).filter(|_| loads.is_only_multiplied) {
            fill(warp, loads, &located);
        }
    }

    /// The loads of a group one by one.
    #[cold]
    fn load_each(&mut self, warp: &mut Warp, group: usize, at: Site, number: u32, loads: &Loads) {
        self.found[number as usize] = None;
        for load in &loads.group.each {
            self.access(warp, group, Site { pc: load.pc, ..at });
        }
    }

    /// Executes the rest of a superblock from instruction `next` on, up to a branch, one by one, where some registers are
    /// poisoned from now on. Returns after which instruction it ends and where the warp goes on.
    #[cold]
    fn deoptimise(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        superblock: &Superblock,
        next: u32,
    ) -> (u32, u32) {
        let loaded: Vec<&Loads> = superblock.groups.iter().take_while(|loads| loads.pc() < next).collect();
        for (number, loads) in (0..).zip(&loaded) {
            self.fill_missing(warp, number, loads);
        }
        let end = at.pc + superblock.length;
        for pc in next..end {
            let inst = &self.context.program.code[pc as usize];
            match inst.step {
                // To look at its guard is left to the interpreter.
                Step::Branch { .. } => return (pc, pc),
                Step::Alu(function) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, &inst.ops, FULL) };
                    self.flow(warp, pc, &inst.ops, FULL);
                }
                _ if loaded.iter().any(|loads| loads.group.each.iter().any(|load| load.pc == pc)) => {}
                _ => self.access(warp, group, Site { pc, ..at }),
            }
        }
        (end, end)
    }

    #[inline(always)]
    fn dot(&mut self, warp: &mut Warp, superblock: &Superblock, dot: &Dot) {
        #[cfg(target_arch = "x86_64")]
        let has_avx2 = self.has_avx2;
        #[cfg(not(target_arch = "x86_64"))]
        let has_avx2 = false;
        if let Some(products) = &dot.products {
            let [a, b] = products.groups().map(|number| (number, &superblock.groups[number as usize]));
            if let (Some(first), Some(second)) = (self.group(a.0, a.1), self.group(b.0, b.1)) {
                let from = warp.registers.word(dot.from);
                if let Some(sum) = products.sum(has_avx2, from, &[first, second]) {
                    *warp.registers.word_mut(dot.to) = sum;
                    return;
                }
            }
            for (number, loads) in [a, b] {
                self.fill_missing(warp, number, loads);
            }
        }
        dot::of_registers(has_avx2, &mut warp.registers, dot);
    }

    /// A load or a store of a superblock by itself.
    #[inline(never)]
    fn access(&mut self, warp: &mut Warp, group: usize, at: Site) {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            return self.access_on::<true>(warp, group, at);
        }
        self.access_on::<false>(warp, group, at);
    }

    #[inline(always)]
    fn access_on<const AVX2: bool>(&mut self, warp: &mut Warp, group: usize, at: Site) {
        let inst = &self.context.program.code[at.pc as usize];
        let issue = &Issue { at, group, active: FULL, ops: &inst.ops };
        match &inst.step {
            Step::Load(memory) => self.load::<AVX2>(warp, issue, memory),
            Step::Store(memory) => self.store::<AVX2>(warp, issue, memory),
            _ => {}
        }
    }
}

/// Copies what the loads of a group read into their registers.
#[inline(always)]
fn fill(warp: &mut Warp, loads: &Loads, located: &Located<'_>) {
    for (load, &to) in loads.group.each.iter().zip(&loads.to) {
        located.moved(load.distance).gather_into(warp.registers.word_mut(to));
    }
}
