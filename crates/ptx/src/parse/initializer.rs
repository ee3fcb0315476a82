//! Initial values of variables, flattened in memory order.

use super::cursor::Parser;
use super::expression::Value;
use super::lexer::Kind;
use super::{MAX_INITIALIZER_PADDING, Result};
use crate::{Initializer, ParseError, Position, Type, Variable};

impl<'a> Parser<'a> {
    /// The value after `=`. It also gives an open dimension its size.
    pub(super) fn initializer(&mut self, variable: &mut Variable) -> Result<()> {
        let start = self.position();
        let mut sizes = variable.dims.clone();
        if variable.vector > 1 {
            sizes.push(variable.vector.into());
        }
        let mut values = Vec::new();
        if self.at("{") {
            self.aggregate(variable.ty, &sizes, &mut values)?;
        } else {
            values.push(self.element(variable.ty)?);
        }
        let count = values.len() as u64;
        let row = sizes.iter().skip(1).fold(1u64, |product, &size| product.saturating_mul(size));
        match variable.dims.first_mut() {
            Some(open) if *open == 0 => *open = count.div_ceil(row.max(1)),
            _ => {
                let most = sizes.first().map_or(1, |&size| row.saturating_mul(size));
                if count > most {
                    let message = format!("{count} initial values for `{}`, which has {most}", variable.name);
                    return Err(ParseError::new(start, message));
                }
            }
        }
        variable.init = values;
        Ok(())
    }

    /// `{ a, b, { c, d } }`: `sizes` are the dimensions that these braces span, outermost first.
    fn aggregate(&mut self, ty: Type, sizes: &[u64], values: &mut Vec<Initializer>) -> Result<()> {
        let Some((_, inner)) = sizes.split_first() else {
            return Err(self.error("more braces than the variable has dimensions"));
        };
        self.expect("{", "before the initial values")?;
        if self.eat("}")? {
            return Ok(());
        }
        loop {
            if self.at("{") {
                let start = self.position();
                let before = values.len();
                self.nested(|parser| parser.aggregate(ty, inner, values))?;
                let used = (values.len() - before) as u64;
                let row = inner.iter().fold(1u64, |product, &size| product.saturating_mul(size));
                self.pad_row(used, row, values).map_err(|message| ParseError::new(start, message))?;
            } else {
                values.push(self.element(ty)?);
            }
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}", "or `,` after an initial value")
    }

    /// Fills up a row that gives fewer values than it has elements.
    fn pad_row(
        &mut self,
        used: u64,
        row: u64,
        values: &mut Vec<Initializer>,
    ) -> std::result::Result<(), String> {
        let missing =
            row.checked_sub(used).ok_or_else(|| format!("{used} initial values for a row of {row}"))?;
        self.padding = self.padding.saturating_add(missing);
        if self.padding > MAX_INITIALIZER_PADDING {
            return Err(format!(
                "rows that are not written out add more than {MAX_INITIALIZER_PADDING} zeros"
            ));
        }
        values.extend((0..missing).map(|_| Initializer::Integer(0)));
        Ok(())
    }

    /// A constant, or the address of a variable or a function.
    fn element(&mut self, ty: Type) -> Result<Initializer> {
        let token = *self.peek();
        if token.kind == Kind::Word && token.text != "WARP_SZ" {
            return self.symbol_address();
        }
        let value = self.expression()?;
        if self.eat("(")? {
            return self.masked_address(value, token.position);
        }
        let is_float = matches!(ty, Type::F32 | Type::F64);
        Ok(match value {
            Value::Signed(value) if is_float => Initializer::Float(value as f64),
            Value::Unsigned(value) if is_float => Initializer::Float(value as f64),
            Value::Signed(value) => Initializer::Integer(value.into()),
            Value::Unsigned(value) => Initializer::Integer(value.into()),
            Value::Single(bits) => Initializer::Float(f32::from_bits(bits).into()),
            Value::Double(bits) => Initializer::Float(f64::from_bits(bits)),
        })
    }

    /// `name`, `name+4`, `generic(name)` or `generic(name)+4`.
    fn symbol_address(&mut self) -> Result<Initializer> {
        let first = self.word("a name")?;
        let generic = first == "generic" && self.eat("(")?;
        let name = if generic { self.word("the name of a variable")? } else { first }.to_owned();
        let mut offset = self.offset()?;
        if generic {
            self.expect(")", "after the name")?;
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok(Initializer::Symbol { name, offset, generic, mask: None })
    }

    /// `0xFF00(generic(name)+4)`; the mask and the parenthesis are already read.
    fn masked_address(&mut self, mask: Value, position: Position) -> Result<Initializer> {
        let bits = mask.integer().map_or(0, |mask| mask as u64);
        if !matches!(bits >> bits.trailing_zeros().min(63), 0xFF | 0xFFFF | 0xFFFF_FFFF | u64::MAX) {
            return Err(ParseError::new(
                position,
                "a mask of an address has 8, 16, 32 or 64 bits that are set",
            ));
        }
        let mut element = self.symbol_address()?;
        self.expect(")", "after the address")?;
        if let Initializer::Symbol { mask, .. } = &mut element {
            *mask = Some(bits);
        }
        Ok(element)
    }
}
