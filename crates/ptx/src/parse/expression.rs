//! Constant expressions, with the operators, precedence and 64-bit types of the PTX ISA
//! (section "Constant Expression Evaluation").

use super::Result;
use super::cursor::Parser;
use super::lexer::Kind;
use crate::ParseError;

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// `.s64`
    Signed(i64),
    /// `.u64`
    Unsigned(u64),
    /// The bits of a `0f` literal, which takes part in no arithmetic but a sign.
    Single(u32),
    /// The bits of a double.
    Double(u64),
}

impl Value {
    /// The integer, or `None` for a floating-point constant.
    pub(super) fn integer(self) -> Option<i128> {
        match self {
            Value::Signed(value) => Some(value.into()),
            Value::Unsigned(value) => Some(value.into()),
            Value::Single(_) | Value::Double(_) => None,
        }
    }

    /// The 64 bits of an integer.
    fn bits(self) -> Option<u64> {
        self.integer().map(|value| value as u64)
    }

    fn is_true(self) -> bool {
        match self {
            Value::Signed(value) => value != 0,
            Value::Unsigned(value) => value != 0,
            Value::Single(bits) => f32::from_bits(bits) != 0.0,
            Value::Double(bits) => f64::from_bits(bits) != 0.0,
        }
    }

    fn negated(self) -> Self {
        match self {
            Value::Signed(value) => Value::Signed(value.wrapping_neg()),
            Value::Unsigned(value) => Value::Unsigned(value.wrapping_neg()),
            Value::Single(bits) => Value::Single(bits ^ 1 << 31),
            Value::Double(bits) => Value::Double(bits ^ 1 << 63),
        }
    }

    /// `!self`
    pub(super) fn logical_not(self) -> Self {
        truth(!self.is_true())
    }
}

fn truth(value: bool) -> Value {
    Value::Signed(value.into())
}

/// How tightly a binary operator binds; more is tighter.
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "?" => 0,
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// A constant expression.
    pub(super) fn expression(&mut self) -> Result<Value> {
        let first = self.unary()?;
        self.expression_after(first)
    }

    /// The rest of an expression whose first term is already read: `+4*2` after a name.
    pub(super) fn expression_after(&mut self, first: Value) -> Result<Value> {
        self.binary(first, 0)
    }

    /// A constant expression that must be an integer.
    pub(super) fn integer(&mut self, what: &str) -> Result<i128> {
        let start = self.position();
        let value = self.expression()?;
        value.integer().ok_or_else(|| {
            ParseError::new(start, format!("expected {what}, an integer, found a floating-point constant"))
        })
    }

    /// A byte offset after a name: `+8`, `-8`, `+-8`, `+(1<<4)+3`; 0 if none follows.
    pub(super) fn offset(&mut self) -> Result<i64> {
        if !self.at("+") && !self.at("-") {
            return Ok(0);
        }
        let start = self.position();
        let value = self.expression_after(Value::Signed(0))?;
        value
            .bits()
            .map(|bits| bits as i64)
            .ok_or_else(|| ParseError::new(start, "an offset is a whole number of bytes"))
    }

    fn binary(&mut self, mut left: Value, loosest: u8) -> Result<Value> {
        loop {
            let operator = *self.peek();
            let Some(level) =
                precedence(operator.text).filter(|&level| operator.kind == Kind::Symbol && level >= loosest)
            else {
                return Ok(left);
            };
            self.bump()?;
            if operator.is("?") {
                left = self.nested(|parser| parser.choice(left))?;
                continue;
            }
            let mut right = self.unary()?;
            right = self.nested(|parser| parser.binary(right, level + 1))?;
            left = apply(operator.text, left, right)
                .map_err(|message| ParseError::new(operator.position, message))?;
        }
    }

    /// `a : b` of `condition ? a : b`.
    fn choice(&mut self, condition: Value) -> Result<Value> {
        let yes = self.expression()?;
        self.expect(":", "of the `? :` expression")?;
        let no = self.expression()?;
        Ok(if condition.is_true() { yes } else { no })
    }

    pub(super) fn unary(&mut self) -> Result<Value> {
        let token = *self.peek();
        let value = match token.kind {
            Kind::Integer { value, unsigned: true } => Value::Unsigned(value),
            Kind::Integer { value, unsigned: false } => Value::Signed(value as i64),
            Kind::Single(bits) => Value::Single(bits),
            Kind::Double(bits) => Value::Double(bits),
            Kind::Word if token.text == "WARP_SZ" => Value::Signed(32),
            Kind::Symbol => return self.nested(Self::prefixed),
            _ => return Err(self.expected("a constant")),
        };
        self.bump()?;
        Ok(value)
    }

    /// A term that begins with a sign, a negation, a cast or a parenthesis.
    fn prefixed(&mut self) -> Result<Value> {
        let start = self.position();
        if self.eat("-")? {
            Ok(self.unary()?.negated())
        } else if self.eat("+")? {
            self.unary()
        } else if self.eat("!")? {
            Ok(self.unary()?.logical_not())
        } else if self.eat("~")? {
            match self.unary()? {
                Value::Signed(value) => Ok(Value::Signed(!value)),
                Value::Unsigned(value) => Ok(Value::Unsigned(!value)),
                _ => Err(ParseError::new(start, "`~` takes an integer")),
            }
        } else if self.eat("(")? {
            if self.peek().kind == Kind::Dotted {
                return self.cast();
            }
            let value = self.expression()?;
            self.expect(")", "after the expression")?;
            Ok(value)
        } else {
            Err(self.expected("a constant"))
        }
    }

    /// `.s64)x` or `.u64)x`.
    fn cast(&mut self) -> Result<Value> {
        let start = self.position();
        let ty = self.dotted("the type of the cast")?;
        self.expect(")", "after the type of the cast")?;
        let value = self.unary()?;
        match (ty, value.bits()) {
            ("s64", Some(bits)) => Ok(Value::Signed(bits as i64)),
            ("u64", Some(bits)) => Ok(Value::Unsigned(bits)),
            _ => Err(ParseError::new(start, "constants are cast between `.s64` and `.u64` only")),
        }
    }
}

/// `left operator right`, or why it has no value.
fn apply(operator: &str, left: Value, right: Value) -> std::result::Result<Value, String> {
    match operator {
        "&&" => return Ok(truth(left.is_true() && right.is_true())),
        "||" => return Ok(truth(left.is_true() || right.is_true())),
        _ => {}
    }
    match (left, right) {
        (Value::Double(a), Value::Double(b)) => float(operator, f64::from_bits(a), f64::from_bits(b)),
        (Value::Signed(a), Value::Signed(b)) => signed(operator, a, b),
        // As in C: a shift has the type of what is shifted, everything else becomes unsigned.
        (Value::Signed(a), Value::Unsigned(_)) if matches!(operator, "<<" | ">>") => {
            signed(operator, a, right.bits().unwrap_or(0).min(64) as i64)
        }
        _ => match (left.bits(), right.bits()) {
            (Some(a), Some(b)) => unsigned(operator, a, b),
            _ => Err(format!("`{operator}` takes two integers or two doubles")),
        },
    }
}

fn float(operator: &str, a: f64, b: f64) -> std::result::Result<Value, String> {
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "==" => return Ok(truth(a == b)),
        "!=" => return Ok(truth(a != b)),
        "<" => return Ok(truth(a < b)),
        ">" => return Ok(truth(a > b)),
        "<=" => return Ok(truth(a <= b)),
        ">=" => return Ok(truth(a >= b)),
        _ => return Err(format!("`{operator}` takes integers")),
    };
    Ok(Value::Double(result.to_bits()))
}

fn signed(operator: &str, a: i64, b: i64) -> std::result::Result<Value, String> {
    Ok(Value::Signed(match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" | "%" if b == 0 => return Err(format!("`{operator}` by zero")),
        "/" => a.wrapping_div(b),
        "%" => a.wrapping_rem(b),
        "<<" if (0..64).contains(&b) => a << b,
        "<<" => 0,
        ">>" => a >> b.clamp(0, 63),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        _ => return compare(operator, a, b),
    }))
}

fn unsigned(operator: &str, a: u64, b: u64) -> std::result::Result<Value, String> {
    Ok(Value::Unsigned(match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" | "%" if b == 0 => return Err(format!("`{operator}` by zero")),
        "/" => a / b,
        "%" => a % b,
        "<<" | ">>" if b >= 64 => 0,
        "<<" => a << b,
        ">>" => a >> b,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        _ => return compare(operator, a, b),
    }))
}

fn compare<T: Ord>(operator: &str, a: T, b: T) -> std::result::Result<Value, String> {
    Ok(truth(match operator {
        "==" => a == b,
        "!=" => a != b,
        "<" => a < b,
        ">" => a > b,
        "<=" => a <= b,
        ">=" => a >= b,
        _ => return Err(format!("`{operator}` is not an operator of constant expressions")),
    }))
}
