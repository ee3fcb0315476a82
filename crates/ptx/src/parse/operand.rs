//! Operands of instructions.

use super::Result;
use super::cursor::Parser;
use super::expression::Value;
use super::lexer::Kind;
use crate::{Address, Operand};

impl<'a> Parser<'a> {
    /// One operand. Those of a `call` may be lists in parentheses; elsewhere, and inside the lists, parentheses
    /// group an expression.
    pub(super) fn operand(&mut self, in_call: bool) -> Result<Operand> {
        let token = *self.peek();
        match token.kind {
            Kind::Word if token.text != "WARP_SZ" => self.named_operand(),
            Kind::Symbol => match token.text {
                "[" => self.address(),
                "{" => {
                    self.bump()?;
                    Ok(Operand::Vector(self.operands_until("}")?))
                }
                "(" if in_call => {
                    self.bump()?;
                    Ok(Operand::List(self.operands_until(")")?))
                }
                "!" => self.negation(),
                _ => self.constant(),
            },
            Kind::Dotted | Kind::Text | Kind::End => Err(self.expected("an operand")),
            _ => self.constant(),
        }
    }

    /// `a, b` and the closing mark, which may also come at once.
    fn operands_until(&mut self, close: &str) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        if self.eat(close)? {
            return Ok(operands);
        }
        loop {
            operands.push(self.nested(|parser| parser.operand(false))?);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(close, "or `,` after an operand")?;
        Ok(operands)
    }

    /// `name`, `name.x`, `name+4`, `p|q` or `_`.
    fn named_operand(&mut self) -> Result<Operand> {
        let first = self.register_or_sink()?;
        if self.eat("|")? {
            let second = self.register_or_sink()?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        match first {
            Operand::Name(name) if self.at("+") || self.at("-") => Ok(Operand::Offset(name, self.offset()?)),
            first => Ok(first),
        }
    }

    fn register_or_sink(&mut self) -> Result<Operand> {
        let name = self.name_with_component("a register")?;
        Ok(if name == "_" { Operand::Sink } else { Operand::Name(name) })
    }

    /// `%tid.x`, `%v.w`, or a plain name.
    fn name_with_component(&mut self, what: &str) -> Result<String> {
        let mut name = self.word(what)?.to_owned();
        if self.peek().kind == Kind::Dotted && self.peek().glued {
            name.push('.');
            name.push_str(self.bump()?.text);
        }
        Ok(name)
    }

    /// `!p`, or `!` of a constant.
    fn negation(&mut self) -> Result<Operand> {
        self.bump()?;
        if self.peek().kind == Kind::Word && self.peek().text != "WARP_SZ" {
            return Ok(Operand::Not(self.name_with_component("a predicate")?));
        }
        let value = self.unary()?.logical_not();
        Ok(self.expression_after(value)?.into())
    }

    fn constant(&mut self) -> Result<Operand> {
        if self.peek().kind == Kind::Symbol && !matches!(self.peek().text, "+" | "-" | "~" | "(") {
            return Err(self.expected("an operand"));
        }
        Ok(self.expression()?.into())
    }

    /// `[base+offset]`, `[1024]` or `[tex, {x, y}]`.
    fn address(&mut self) -> Result<Operand> {
        self.bump()?;
        let base = match self.peek().kind {
            Kind::Word if self.peek().text != "WARP_SZ" => Some(self.name_with_component("an address")?),
            _ => None,
        };
        let offset = match base {
            Some(_) => self.offset()?,
            None => self.integer("an address")? as i64,
        };
        if !self.eat(",")? {
            self.expect("]", "at the end of the address")?;
            return Ok(Operand::Address(Address { base, offset }));
        }
        let first = match base {
            Some(name) if offset == 0 => Operand::Name(name),
            Some(name) => Operand::Offset(name, offset),
            None => Operand::Integer(offset.into()),
        };
        let mut parts = vec![first];
        if self.at("]") {
            return Err(self.expected("an operand"));
        }
        parts.append(&mut self.operands_until("]")?);
        Ok(Operand::Bracketed(parts))
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        match value {
            Value::Signed(value) => Operand::Integer(value.into()),
            Value::Unsigned(value) => Operand::Integer(value.into()),
            Value::Single(bits) => Operand::Single(bits),
            Value::Double(bits) => Operand::Double(bits),
        }
    }
}
