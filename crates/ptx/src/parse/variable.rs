//! Declarations of variables, parameters and registers.

use super::cursor::Parser;
use super::lexer::Kind;
use super::{MAX_REGISTERS, Result};
use crate::{ParseError, Position, RegisterDeclaration, StateSpace, Statement, Type, Variable};

/// What stands between the state space and the names of a declaration.
struct Shape {
    ty: Type,
    vector: u32,
    align: Option<u32>,
    pointee: Option<StateSpace>,
}

impl<'a> Parser<'a> {
    /// The variables of `.space shape name, name = value;`; the space is already read.
    pub(super) fn variables(
        &mut self,
        space: StateSpace,
        is_extern: bool,
        position: Position,
    ) -> Result<Vec<Variable>> {
        let shape = self.shape()?;
        let mut variables = Vec::with_capacity(1);
        loop {
            let mut variable = self.variable(space, &shape, position)?;
            variable.is_extern = is_extern;
            if self.eat("=")? {
                self.initializer(&mut variable)?;
            }
            variables.push(variable);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(";", "after the declaration")?;
        Ok(variables)
    }

    /// `(.param ..., .reg ...)`: the parameters or results of a function.
    pub(super) fn parameters(&mut self) -> Result<Vec<Variable>> {
        self.expect("(", "before the parameters")?;
        let mut parameters = Vec::new();
        if self.eat(")")? {
            return Ok(parameters);
        }
        loop {
            let position = self.position();
            let space = match self.dotted("`.param` or `.reg`")? {
                "param" => StateSpace::Param,
                "reg" => StateSpace::Register,
                other => {
                    let message = format!("a parameter is `.param` or `.reg`, not `.{other}`");
                    return Err(ParseError::new(position, message));
                }
            };
            let shape = self.shape()?;
            parameters.push(self.variable(space, &shape, position)?);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(")", "or `,` after a parameter")?;
        Ok(parameters)
    }

    /// `.type name, stem<n>;` after `.reg`, one statement for each name. `declared` counts the registers of
    /// the function.
    pub(super) fn registers(
        &mut self,
        position: Position,
        declared: &mut u64,
        statements: &mut Vec<Statement>,
    ) -> Result<()> {
        let shape = self.shape()?;
        loop {
            let name = self.word("the name of a register")?.to_owned();
            let range = if self.eat("<")? {
                let count = self.u32("the number of registers")?;
                self.expect(">", "after the number of registers")?;
                Some(count)
            } else {
                None
            };
            *declared += u64::from(range.unwrap_or(1));
            if *declared > MAX_REGISTERS {
                let message = format!("a function may declare {MAX_REGISTERS} registers; this is more");
                return Err(ParseError::new(position, message));
            }
            let declaration =
                RegisterDeclaration { ty: shape.ty, vector: shape.vector, name, range, position };
            statements.push(Statement::Registers(declaration));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(";", "or `,` after the name of a register")
    }

    /// Attributes and type, in any order.
    fn shape(&mut self) -> Result<Shape> {
        let mut ty = None;
        let mut shape = Shape { ty: Type::B8, vector: 1, align: None, pointee: None };
        let mut is_pointer = false;
        while self.peek().kind == Kind::Dotted {
            let start = self.position();
            let word = self.bump()?.text;
            match word {
                "align" => {
                    let align = self.alignment()?;
                    // After `.ptr` it is the alignment of what is pointed to.
                    if !is_pointer {
                        shape.align = Some(align);
                    }
                }
                "v2" => shape.vector = 2,
                "v4" => shape.vector = 4,
                "v8" => shape.vector = 8,
                "ptr" => is_pointer = true,
                "attribute" => self.skip_parentheses()?,
                _ => match (Type::from_name(word), StateSpace::from_name(word)) {
                    (Some(found), _) if ty.is_none() => ty = Some(found),
                    (Some(_), _) => return Err(ParseError::new(start, format!("a second type, `.{word}`"))),
                    (None, Some(space)) if is_pointer => shape.pointee = Some(space),
                    _ => {
                        let message = format!("expected a type such as `.b32`, found `.{word}`");
                        return Err(ParseError::new(start, message));
                    }
                },
            }
        }
        shape.ty = ty.ok_or_else(|| self.expected("a type such as `.b32`"))?;
        Ok(shape)
    }

    fn alignment(&mut self) -> Result<u32> {
        let start = self.position();
        let align = self.u32("the alignment in bytes")?;
        if align.is_power_of_two() {
            Ok(align)
        } else {
            Err(ParseError::new(start, format!("an alignment is a power of two, not {align}")))
        }
    }

    /// A name and its dimensions. Parameters of prototypes are called `_`, or nothing.
    fn variable(&mut self, space: StateSpace, shape: &Shape, position: Position) -> Result<Variable> {
        let unnamed = space == StateSpace::Param && (self.at(",") || self.at(")") || self.at("["));
        let name = if unnamed { "" } else { self.word("a name")? };
        let mut variable = Variable {
            name: if name == "_" { String::new() } else { name.to_owned() },
            space,
            ty: shape.ty,
            vector: shape.vector,
            align: shape.align,
            dims: self.dimensions()?,
            init: Vec::new(),
            is_extern: false,
            pointee: shape.pointee,
            position,
        };
        variable.dims.shrink_to_fit();
        if variable.size_bytes() == u64::MAX {
            return Err(ParseError::new(position, format!("`{}` is larger than any memory", variable.name)));
        }
        Ok(variable)
    }

    fn dimensions(&mut self) -> Result<Vec<u64>> {
        let mut dims = Vec::new();
        while self.eat("[")? {
            let start = self.position();
            if self.eat("]")? {
                if !dims.is_empty() {
                    return Err(ParseError::new(start, "only the first dimension of an array may be open"));
                }
                dims.push(0);
                continue;
            }
            let dim = self.integer("the size of the array")?;
            dims.push(
                u64::try_from(dim)
                    .map_err(|_| ParseError::new(start, format!("an array cannot have {dim} elements")))?,
            );
            self.expect("]", "after the size of the array")?;
        }
        Ok(dims)
    }
}
