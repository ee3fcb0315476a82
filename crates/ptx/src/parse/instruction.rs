//! `[@[!]p] opcode{.modifier}* operands;`

use super::Result;
use super::cursor::Parser;
use super::lexer::{Kind, Token};
use crate::{Guard, Instruction};

impl<'a> Parser<'a> {
    /// An instruction that begins with its guard.
    pub(super) fn guarded_instruction(&mut self) -> Result<Instruction> {
        let position = self.position();
        self.expect("@", "before the guard")?;
        let negated = self.eat("!")?;
        let register = self.word("the predicate of the guard")?.to_owned();
        if self.peek().kind != Kind::Word {
            return Err(self.expected("an instruction after the guard"));
        }
        let opcode = self.bump()?;
        let mut instruction = self.instruction(opcode)?;
        instruction.guard = Some(Guard { register, negated });
        instruction.position = position;
        Ok(instruction)
    }

    /// The rest of an instruction whose opcode is already read.
    pub(super) fn instruction(&mut self, opcode: Token<'a>) -> Result<Instruction> {
        let mut modifiers = Vec::new();
        // Each modifier is a token, so blanks between them, as in `atom .global.add`, do no harm.
        while self.peek().kind == Kind::Dotted {
            modifiers.push(self.bump()?.text.to_owned());
        }
        let in_call = opcode.text == "call";
        let mut operands = Vec::new();
        if !self.at(";") {
            operands.reserve(4);
            operands.push(self.operand(in_call)?);
            while self.eat(",")? {
                operands.push(self.operand(in_call)?);
            }
        }
        if !self.at(";") {
            let rest = if operands.is_empty() { "" } else { " or `,`" };
            return Err(self.expected(&format!("`;`{rest} to go on with `{}`", opcode.text)));
        }
        self.bump()?;
        Ok(Instruction {
            guard: None,
            opcode: opcode.text.to_owned(),
            modifiers,
            operands,
            position: opcode.position,
        })
    }
}
