//! Lowering of instructions on matrices that a warp holds together.

use ptx::{Instruction, Operand};

use super::function::{Draft, FunctionLowerer};
use super::instruction::memory_space;
use super::operand::{space_of, space_of_modifier};
use crate::isa::{self, Fragment};
use crate::observer::{Order, Scope};
use crate::program::{Constant, LowerError, Memory, Register, Step, TileAccess};
use crate::registers::{Kind, Operands, RegisterFile};

impl FunctionLowerer<'_, '_> {
    /// `mma.sync` and `wmma.mma`.
    pub(super) fn multiply(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let Some(multiply) = isa::Multiply::find(&instruction.opcode, &modifiers) else {
            return Err(self.unsupported());
        };
        let operands: [&Operand; 4] = self.exactly(instruction)?;
        let mut draft = Draft::default();
        let mut regs = [const { Vec::new() }; 4];
        for (position, (operand, fragment)) in operands.into_iter().zip(multiply.fragments).enumerate() {
            let is_result = position == 0;
            let found = self.fragment(operand, position, fragment, is_result)?;
            regs[position] = found.iter().map(|reg| reg.index).collect();
            let list = if is_result { &mut draft.writes } else { &mut draft.reads };
            list.extend(found);
        }
        let matrices = &mut self.builder.program.matrices;
        matrices.push((multiply, regs));
        let number = matrices.len() as u32 - 1;
        self.emit(Step::Matrix(number), Operands::default(), draft);
        Ok(())
    }

    /// `wmma.load.MATRIX d, [a]{, stride}` and `wmma.store.d [a], d{, stride}`.
    pub(super) fn tile(&mut self, instruction: &Instruction) -> Result<(), LowerError> {
        let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
        let Some(tile) = isa::Tile::find(&modifiers) else { return Err(self.unsupported()) };
        let loads = modifiers[0] == "load";
        let (first, second, stride) = match instruction.operands.as_slice() {
            [first, second] => (first, second, None),
            [first, second, stride] => (first, second, Some(stride)),
            other => {
                return Err(self.error(format!("it takes 2 or 3 operands and has {}", other.len())));
            }
        };
        let (place, registers) = if loads { (second, first) } else { (first, second) };
        let target = self.target(place)?;
        let named = modifiers.iter().find_map(|m| space_of_modifier(m)).and_then(memory_space);
        let memory = Memory {
            space: target.variable.map(space_of).or(named),
            base: target.base.map(|r| r.file),
            in_frame: matches!(target.variable, Some(super::layout::Location::Local { .. })),
            offset: target.offset,
            bytes: tile.piece_bytes() as u8,
            count: 1,
            sign_extend: None,
            class: RegisterFile::Wide,
            order: Order::Weak,
            scope: Scope::Block,
        };
        let mut ops = Operands::default();
        let mut draft = Draft::default();
        if let Some(base) = target.base {
            ops.src[0] = base.index;
            draft.reads.push(base);
        }
        ops.src[1] = match stride {
            Some(stride) => self.source(stride, Kind::Bits(32))?,
            None => self.constant(Constant::Bits(tile.default_stride() as u64), RegisterFile::Word),
        };
        draft.reads.push(Register { file: RegisterFile::Word, index: ops.src[1] });
        let registers = self.fragment(registers, usize::from(!loads), tile.fragment, loads)?;
        if loads {
            draft.writes.extend(&registers)
        } else {
            draft.reads.extend(&registers)
        }
        let tiles = &mut self.builder.program.tiles;
        tiles.push(TileAccess { tile, memory, registers });
        let number = tiles.len() as u32 - 1;
        self.emit(if loads { Step::LoadTile(number) } else { Step::StoreTile(number) }, ops, draft);
        Ok(())
    }

    /// The registers of a fragment, as many as it must have.
    fn fragment(
        &mut self,
        operand: &Operand,
        position: usize,
        fragment: Fragment,
        is_result: bool,
    ) -> Result<Vec<Register>, LowerError> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let (wanted, given) = (fragment.registers, parts.len());
        if wanted != given {
            let message = format!("operand {} has {given} registers and needs {wanted}", position + 1);
            return Err(self.error(message));
        }
        let class = fragment.kind.class();
        let mut registers = Vec::with_capacity(wanted);
        for part in parts {
            let index =
                if is_result { self.destination(part, class)? } else { self.source(part, fragment.kind)? };
            registers.push(Register { file: class, index });
        }
        Ok(registers)
    }
}
