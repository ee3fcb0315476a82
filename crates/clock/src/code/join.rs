//! Joins loads of neighbouring words of shared memory into vector loads, as `ptxas` does where it knows the alignment.

use foldhash::{HashMap, HashMapExt as _};

use super::listing::Reg;
use super::op::{Class, Op, Space};

/// Bytes of the widest load.
pub(super) const QUAD: u32 = 16;
const WORD: i64 = 4;

/// An instruction of a stretch that is still to be ordered.
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) touch: Touch,
    /// Where a load reads shared memory, if it can be joined with others.
    pub(super) address: Option<SharedAddress>,
    /// Bytes per lane.
    pub(super) width: u32,
    /// Whether it ends the stretch.
    pub(super) ends: bool,
}

/// What an instruction does to memory, as far as order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Nothing,
    ReadsShared,
    WritesShared,
    Reads,
    Writes,
    /// Reads global and writes shared memory.
    Copies,
    /// Nothing moves across it.
    Orders,
}

impl Touch {
    pub(super) fn of(op: &Op) -> Touch {
        match op.class {
            Class::Load(Space::Shared) => Touch::ReadsShared,
            Class::Store(Space::Shared) | Class::Atomic(Space::Shared) => Touch::WritesShared,
            Class::Load(_) => Touch::Reads,
            Class::Store(_) | Class::Atomic(_) => Touch::Writes,
            Class::Copy => Touch::Copies,
            Class::WarpSync | Class::Commit | Class::Wait(_) => Touch::Orders,
            _ => Touch::Nothing,
        }
    }

    fn writes_shared(self) -> bool {
        matches!(self, Touch::WritesShared | Touch::Copies | Touch::Orders)
    }
}

/// An address in shared memory: a register (0: none) plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedAddress {
    pub(super) base: Reg,
    pub(super) offset: i64,
    /// Low bits of the register that are known to be zero.
    pub(super) zeros: u32,
}

/// Joins what can be joined. `joined` learns of each vector: the instruction that comes first, the one with the lowest address,
/// whose addresses count, all of them, and the bytes of the whole.
pub(super) fn join(nodes: &mut [Node], mut joined: impl FnMut(usize, usize, &[usize], u32)) {
    // Words are joined only if nothing writes shared memory between them.
    let mut first = 0;
    while first < nodes.len() {
        let length = nodes[first..].iter().position(|node| node.touch.writes_shared());
        let end = length.map_or(nodes.len(), |length| first + length);
        join_stretch(nodes, first, end, &mut joined);
        first = end + 1;
    }
}

fn join_stretch(
    nodes: &mut [Node],
    first: usize,
    end: usize,
    joined: &mut impl FnMut(usize, usize, &[usize], u32),
) {
    let mut by_base: HashMap<Reg, Vec<(i64, usize)>> = HashMap::new();
    for index in first..end {
        let Some(address) = nodes[index].address.filter(|_| i64::from(nodes[index].width) == WORD) else {
            continue;
        };
        by_base.entry(address.base).or_default().push((address.offset, index));
    }
    for words in by_base.values_mut() {
        words.sort_unstable();
        let zeros = nodes[words[0].1].address.map_or(0, |address| address.zeros);
        let alignment = 1_i64 << zeros.min(QUAD.trailing_zeros());
        let mut at = 0;
        while at < words.len() {
            let length = [4, 2].into_iter().find(|length| is_vector(&words[at..], *length, alignment));
            if let Some(length) = length {
                merge(nodes, &words[at..at + length], joined);
            }
            at += length.unwrap_or(1);
        }
    }
}

fn is_vector(words: &[(i64, usize)], length: usize, alignment: i64) -> bool {
    let bytes = WORD * length as i64;
    let Some(words) = words.get(..length) else { return false };
    let start = words[0].0;
    alignment >= bytes
        && start % bytes == 0
        && words.iter().zip(0..).all(|((offset, _), place)| *offset == start + WORD * place)
}

/// The first of the loads becomes the vector's, the others nothing.
fn merge(nodes: &mut [Node], words: &[(i64, usize)], joined: &mut impl FnMut(usize, usize, &[usize], u32)) {
    let Some(lead) = words.iter().map(|(_, index)| *index).min() else { return };
    let all: Vec<usize> = words.iter().map(|(_, index)| nodes[*index].op.at as usize).collect();
    for (_, index) in words {
        if *index != lead {
            let writes = std::mem::take(&mut nodes[*index].op.writes);
            nodes[lead].op.writes.extend(writes);
            nodes[*index].op.free();
            nodes[*index].op.reads.clear();
            nodes[*index].touch = Touch::Nothing;
        }
    }
    let bytes = 4 * words.len() as u32;
    joined(nodes[lead].op.at as usize, all[0], &all, bytes);
    nodes[lead].op.at = all[0] as u32;
    nodes[lead].width = bytes;
}

#[cfg(test)]
mod tests {
    use super::super::op::Pipe;
    use super::*;

    fn load(at: u32, base: Reg, offset: i64, zeros: u32) -> Node {
        let op = Op {
            class: Class::Load(Space::Shared),
            pipe: Pipe::Memory,
            reads: vec![base],
            writes: vec![100 + at],
            slots: 1,
            busy: 1.0,
            latency: 0.0,
            at,
            copy: 0,
        };
        let address = Some(SharedAddress { base, offset, zeros });
        Node { touch: Touch::of(&op), address, width: 4, ends: false, op }
    }

    fn vectors(mut nodes: Vec<Node>) -> Vec<u32> {
        let mut found = Vec::new();
        join(&mut nodes, |_, _, _, bytes| found.push(bytes));
        found
    }

    #[test]
    fn neighbours_are_joined_as_far_as_their_alignment_is_known() {
        let four = |zeros| (0..4).map(|i| load(i, 1, 4 * i64::from(i), zeros)).collect::<Vec<_>>();
        assert_eq!(vectors(four(4)), [16]);
        assert_eq!(vectors(four(3)), [8, 8]);
        assert_eq!(vectors(four(2)), [0_u32; 0]);
    }

    #[test]
    fn words_that_a_store_or_a_gap_parts_stay_apart() {
        let mut parted = vec![load(0, 1, 0, 4), load(1, 1, 4, 4)];
        parted.insert(1, Node { touch: Touch::WritesShared, address: None, ..load(2, 1, 8, 4) });
        assert_eq!(vectors(parted), [0_u32; 0]);
        assert_eq!(vectors(vec![load(0, 1, 0, 4), load(1, 1, 8, 4)]), [0_u32; 0]);
        assert_eq!(vectors(vec![load(0, 1, 4, 4), load(1, 1, 8, 4)]), [0_u32; 0]);
        assert_eq!(vectors(vec![load(0, 1, 0, 4), load(1, 2, 4, 4)]), [0_u32; 0]);
    }

    #[test]
    fn the_first_load_writes_all_registers_and_reads_at_the_lowest_address() {
        let mut nodes = vec![load(7, 1, 4, 3), load(9, 1, 0, 3)];
        join(&mut nodes, |lead, lowest, all, bytes| {
            assert_eq!((lead, lowest, all, bytes), (7, 9, &[9, 7][..], 8));
        });
        assert_eq!((nodes[0].op.at, nodes[0].op.writes.len()), (9, 2));
        assert_eq!(nodes[1].op.class, Class::Free);
    }
}
