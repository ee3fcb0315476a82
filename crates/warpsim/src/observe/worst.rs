//! Remembers the costliest request of each instruction, lane by lane, so that it can be drawn.

use std::collections::BTreeMap;

use super::Launched;
use crate::fault::Space;
use crate::observer::{Access, Site};
use crate::report::WorstAccess;

/// The costliest request of each instruction to each kind of memory. Of equal ones the first, in order of blocks,
/// is kept, so that the choice does not depend on how the grid was cut into ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Worst {
    requests: BTreeMap<(u32, usize), Request>,
}

#[derive(Clone, Debug)]
struct Request {
    cost: u32,
    access: WorstAccess,
    block: u64,
}

impl Worst {
    /// Keeps a request that costs more than all before it. `class` tells the kinds of memory apart.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(&mut self, at: Site, class: usize, cost: u32, wavefronts: u32, access: &Access<'_>) {
        let request = Request {
            cost,
            access: WorstAccess {
                at: None,
                space: access.space,
                touch: access.touch,
                bytes: access.bytes,
                mask: access.mask,
                addresses: access.addresses.to_array(),
                sectors: if access.space == Space::Global { access.pattern.sectors } else { 0 },
                wavefronts,
                object: None,
                offset: 0,
                block: [0; 3],
                warp: at.warp,
            },
            block: at.block,
        };
        self.requests.insert((at.pc, class), request);
    }

    /// Adds what later blocks did.
    pub(super) fn merge(&mut self, later: &Worst) {
        for (key, theirs) in &later.requests {
            match self.requests.get(key) {
                Some(ours) if ours.cost >= theirs.cost => {}
                _ => {
                    self.requests.insert(*key, theirs.clone());
                }
            }
        }
    }

    /// All of them, in order of instruction, with names.
    pub(super) fn resolve(self, launched: &Launched<'_>) -> Vec<WorstAccess> {
        let Launched { context, resolver } = launched;
        let named = |((pc, _), request): ((u32, usize), Request)| {
            let access = request.access;
            let first = access.lanes().next().map_or(0, |lane| access.addresses[lane]);
            let nearest = resolver.nearest(access.space, first);
            WorstAccess {
                at: resolver.line(pc),
                offset: nearest.as_ref().map_or(0, |nearest| nearest.offset),
                object: nearest.map(|nearest| nearest.name),
                block: context.block_index(request.block),
                ..access
            }
        };
        self.requests.into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, InstructionFacts, Monitors, Nearest, Resolver};
    use super::*;
    use crate::fault::{SourceLine, Touch};
    use crate::launch::Checks;
    use crate::observer::{Observer, Order, Scope};
    use crate::pattern::Pattern;

    struct Nameless;

    impl Resolver for Nameless {
        fn line(&self, pc: u32) -> Option<SourceLine> {
            Some(SourceLine { file: "kernel.cu".into(), line: pc })
        }

        fn nearest(&self, _: Space, address: u64) -> Option<Nearest> {
            Some(Nearest { name: "x".into(), bytes: 4096, offset: address as i64 - 1024, is_dynamic: false })
        }
    }

    fn context() -> Context {
        Context {
            grid_dim: [4, 2, 1],
            block_dim: [32, 1, 1],
            instructions: vec![InstructionFacts::default(); 2],
        }
    }

    fn load(monitors: &mut Monitors, block: u64, pc: u32, space: Space, stride: u64) {
        let addresses: [u64; 32] = std::array::from_fn(|lane| 1024 + block * 256 + stride * lane as u64);
        let access = Access {
            touch: Touch::Read,
            space,
            bytes: 4,
            mask: u32::MAX,
            addresses: (&addresses).into(),
            pattern: &Pattern::new(4, u32::MAX, &addresses),
            order: Order::Weak,
            scope: Scope::Device,
            is_async: false,
            values: None,
        };
        monitors.access(Site { block, warp: 0, pc }, &access);
    }

    #[test]
    fn the_costliest_is_kept_and_of_equals_the_first_however_the_grid_is_cut() {
        let strides = [4, 8, 128, 4, 128, 64];
        let run = |cut: usize| {
            let checks = Checks { counters: true, ..Checks::NONE };
            let mut ranges = [Monitors::new(&context(), checks), Monitors::new(&context(), checks)];
            for (block, stride) in strides.into_iter().enumerate() {
                let range = &mut ranges[usize::from(block >= cut)];
                load(range, block as u64, 0, Space::Global, stride);
                load(range, block as u64, 1, Space::Shared, stride);
            }
            let [mut first, later] = ranges;
            first.merge(later);
            first.finish(&Nameless).worst
        };
        let whole = run(6);
        let seen: Vec<_> =
            whole.iter().map(|worst| (worst.space, worst.sectors, worst.wavefronts, worst.block)).collect();
        assert_eq!(seen[0], (Space::Global, 32, 32, [2, 0, 0]));
        assert_eq!(seen[1], (Space::Shared, 0, 32, [2, 0, 0]));
        assert_eq!((whole[0].object.as_deref(), whole[0].offset), (Some("x"), 512));
        assert_eq!(whole[1].at.as_ref().map(|at| at.line), Some(1));
        assert_eq!(whole[0].lanes().count(), 32);
        for cut in 0..6 {
            assert_eq!(run(cut), whole, "cut at {cut}");
        }
    }
}
