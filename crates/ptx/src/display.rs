//! Instructions and operands as PTX text, for messages.

use std::fmt::{Display, Formatter, Result};

use crate::{Address, Guard, Instruction, Operand};

impl Display for Guard {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "@{}{}", if self.negated { "!" } else { "" }, self.register)
    }
}

/// `@%p1 ld.global.f32 %f1, [%rd1+4];`
impl Display for Instruction {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if let Some(guard) = &self.guard {
            write!(out, "{guard} ")?;
        }
        out.write_str(&self.opcode)?;
        for modifier in &self.modifiers {
            write!(out, ".{modifier}")?;
        }
        if !self.operands.is_empty() {
            out.write_str(" ")?;
            list(&self.operands, out)?;
        }
        out.write_str(";")
    }
}

impl Display for Operand {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Operand::Name(name) => out.write_str(name),
            Operand::Not(name) => write!(out, "!{name}"),
            Operand::Pair(first, second) => write!(out, "{first}|{second}"),
            Operand::Integer(value) => write!(out, "{value}"),
            Operand::Single(bits) => write!(out, "0f{bits:08X}"),
            Operand::Double(bits) => write!(out, "0d{bits:016X}"),
            Operand::Address(address) => write!(out, "{address}"),
            Operand::Offset(name, offset) => write!(out, "{name}{}", Offset(*offset)),
            Operand::Vector(items) => {
                out.write_str("{")?;
                list(items, out)?;
                out.write_str("}")
            }
            Operand::List(items) => {
                out.write_str("(")?;
                list(items, out)?;
                out.write_str(")")
            }
            Operand::Bracketed(items) => {
                out.write_str("[")?;
                list(items, out)?;
                out.write_str("]")
            }
            Operand::Sink => out.write_str("_"),
        }
    }
}

impl Display for Address {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match &self.base {
            Some(base) => write!(out, "[{base}{}]", Offset(self.offset)),
            None => write!(out, "[{}]", self.offset),
        }
    }
}

/// `+8`, `-8`, or nothing for 0.
struct Offset(i64);

impl Display for Offset {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if self.0 == 0 { Ok(()) } else { write!(out, "{:+}", self.0) }
    }
}

fn list(items: &[Operand], out: &mut Formatter<'_>) -> Result {
    for (index, item) in items.iter().enumerate() {
        write!(out, "{}{item}", if index == 0 { "" } else { ", " })?;
    }
    Ok(())
}
