//! Names, as in the source, for what a run knows by number.

use crate::fault::{SourceLine, Space};
use crate::memory::{Buffer, window};
use crate::observe::{Habits, Nearest, Resolver, Way};
use crate::program::{BarrierKind, Program, SharedVariable, Step};

/// Names for what observers know by number.
pub(crate) struct Names<'a> {
    pub(crate) program: &'a Program,
    pub(crate) buffers: &'a [Buffer],
    /// Of all shared memory.
    pub(crate) shared_bytes: u64,
}

impl Resolver for Names<'_> {
    fn line(&self, pc: u32) -> Option<SourceLine> {
        self.program.source_line(pc).cloned()
    }

    fn nearest(&self, space: Space, address: u64) -> Option<Nearest> {
        match space {
            Space::Global => {
                let (index, offset) = window::buffer_offset(address)?;
                let buffer = self.buffers.get(index)?;
                let (name, bytes) = (source_name(&buffer.name), buffer.data.len() as u64);
                Some(Nearest { name, bytes, offset, is_dynamic: false })
            }
            Space::Shared => {
                let starts_before = |v: &&SharedVariable| v.offset <= address;
                let variables = &self.program.shared;
                let variable =
                    variables.iter().filter(starts_before).max_by_key(|v| v.offset).or(variables.first())?;
                Some(self.near(variable, address))
            }
            Space::Local | Space::Constant | Space::Param => None,
        }
    }

    fn way(&self, first: u32, second: u32, of_warp: bool) -> Way {
        let code = &self.program.code;
        let is_barrier = |pc: u32| match code[pc as usize].step {
            Step::Barrier(barrier) => barrier.kind != BarrierKind::Arrive,
            Step::WarpSync => of_warp,
            _ => false,
        };
        let end = code.len() as u32;
        let rounds = (second..end).filter_map(|pc| match code[pc as usize].step {
            Step::Branch { target, .. } if target <= first => Some((target, pc)),
            _ => None,
        });
        let smallest = rounds.min_by_key(|(start, end)| end - start);
        Way {
            has_barrier: (first..second).any(is_barrier),
            is_in_loop: smallest.is_some(),
            has_barrier_back: smallest
                .is_some_and(|(start, end)| (start..first).chain(second..end).any(is_barrier)),
        }
    }

    fn habits(&self) -> Habits {
        Habits { locks: self.program.takes_locks, signals: self.program.communicates }
    }

    fn object(&self, number: u32, address: u64) -> Option<Nearest> {
        self.program.shared.get(number as usize).map(|variable| self.near(variable, address))
    }
}

impl Names<'_> {
    fn near(&self, variable: &SharedVariable, address: u64) -> Nearest {
        Nearest {
            name: source_name(&variable.name),
            bytes: variable.end(self.shared_bytes) - variable.offset,
            offset: address.wrapping_sub(variable.offset) as i64,
            is_dynamic: variable.bytes == 0,
        }
    }
}

/// What the source calls a variable: the last part of the demangled name.
pub(crate) fn source_name(name: &str) -> String {
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    // Compilers number variables of one name: `_ZZ3dotE4cell_$_0`.
    let name = name.split_once("_$_").map_or(name, |(name, _)| name);
    let demangled = cpp_demangle::Symbol::new(name).ok().and_then(|s| s.demangle().ok());
    let last = |full: String| full.rsplit("::").next().map(str::to_owned);
    demangled.and_then(last).unwrap_or_else(|| name.to_owned())
}
