//! Kernels, device functions, and the statements of their bodies.

use super::cursor::Parser;
use super::lexer::Kind;
use super::{MAX_NESTING, Result};
use crate::{Function, ParseError, Position, SourceLocation, StateSpace, Statement};

/// Directives between the head and the body of a function that change nothing for an execution here: hints for
/// the assembler, and clusters, which the instructions that need them reject. Integers may follow them.
const FUNCTION_METADATA: [&str; 8] = [
    "noreturn",
    "maxnctapersm",
    "abi_preserve",
    "abi_preserve_control",
    "reqnctapercluster",
    "explicitcluster",
    "maxclusterrank",
    "blocksareclusters",
];

impl<'a> Parser<'a> {
    /// A kernel or function; `.entry` or `.func` is already read.
    pub(super) fn function(&mut self, is_entry: bool, position: Position) -> Result<Function> {
        while self.peek().kind == Kind::Dotted {
            match self.bump()?.text {
                "attribute" => self.skip_parentheses()?,
                "noreturn" => {}
                other => {
                    let message = format!("unknown directive `.{other}` before the name of a function");
                    return Err(ParseError::new(position, message));
                }
            }
        }
        let returns = if !is_entry && self.at("(") { self.parameters()? } else { Vec::new() };
        let name = self.word("the name of the function")?.to_owned();
        let params = if self.at("(") { self.parameters()? } else { Vec::new() };
        let mut function = Function {
            name,
            is_entry,
            returns,
            params,
            max_block: None,
            required_block: None,
            min_blocks_per_sm: None,
            max_registers: None,
            body: None,
            position,
        };
        while self.peek().kind == Kind::Dotted {
            self.function_directive(&mut function)?;
        }
        if !self.eat(";")? {
            self.expect("{", &format!("or `;` after the head of `{}`", function.name))?;
            function.body = Some(self.body(&function.name)?);
        }
        Ok(function)
    }

    fn function_directive(&mut self, function: &mut Function) -> Result<()> {
        let start = self.position();
        match self.dotted("a directive")? {
            "maxntid" => function.max_block = Some(self.block_dimensions()?),
            "reqntid" => function.required_block = Some(self.block_dimensions()?),
            "minnctapersm" => function.min_blocks_per_sm = Some(self.u32("the number of blocks")?),
            "maxnreg" => function.max_registers = Some(self.u32("the number of registers")?),
            "pragma" => self.pragma()?,
            name if FUNCTION_METADATA.contains(&name) => {
                while let Kind::Integer { .. } = self.peek().kind {
                    self.bump()?;
                    self.eat(",")?;
                }
            }
            other => {
                let message = format!("unknown directive `.{other}` in the head of `{}`", function.name);
                return Err(ParseError::new(start, message));
            }
        }
        Ok(())
    }

    /// One to three numbers; those left out are 1.
    fn block_dimensions(&mut self) -> Result<[u32; 3]> {
        let mut dims = [1; 3];
        for (axis, dim) in dims.iter_mut().enumerate() {
            if axis > 0 && !self.eat(",")? {
                break;
            }
            *dim = self.u32("a number of threads")?;
        }
        Ok(dims)
    }

    /// Statements up to the brace that closes the function.
    fn body(&mut self, function: &str) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut declared_registers = 0;
        let mut open_blocks = 0;
        loop {
            let token = *self.peek();
            match token.kind {
                Kind::Word => {
                    self.bump()?;
                    let statement = if self.eat(":")? {
                        self.labelled(token.text, token.position)?
                    } else {
                        Statement::Instruction(self.instruction(token)?)
                    };
                    statements.push(statement);
                }
                Kind::Dotted => self.body_directive(&mut declared_registers, &mut statements)?,
                Kind::Symbol if token.text == "@" => {
                    statements.push(Statement::Instruction(self.guarded_instruction()?));
                }
                Kind::Symbol if token.text == "{" => {
                    if open_blocks == MAX_NESTING {
                        return Err(self.error(format!("blocks nested more than {MAX_NESTING} deep")));
                    }
                    open_blocks += 1;
                    self.bump()?;
                    statements.push(Statement::BlockStart(token.position));
                }
                Kind::Symbol if token.text == "}" => {
                    self.bump()?;
                    if open_blocks == 0 {
                        return Ok(statements);
                    }
                    open_blocks -= 1;
                    statements.push(Statement::BlockEnd(token.position));
                }
                Kind::Symbol if token.text == ";" => {
                    self.bump()?;
                }
                Kind::End => return Err(self.expected(&format!("`}}` to close the body of `{function}`"))),
                _ => return Err(self.expected("an instruction, a label or a directive")),
            }
        }
    }

    /// What follows `NAME:`: a list of targets or a prototype belongs to the label.
    fn labelled(&mut self, name: &str, position: Position) -> Result<Statement> {
        let name = name.to_owned();
        if self.peek().kind != Kind::Dotted {
            return Ok(Statement::Label(name, position));
        }
        match self.peek().text {
            "branchtargets" => Ok(Statement::BranchTargets(name, self.targets("a label")?, position)),
            "calltargets" => Ok(Statement::CallTargets(name, self.targets("a function")?, position)),
            "callprototype" => {
                self.bump()?;
                let returns = if self.at("(") { self.parameters()? } else { Vec::new() };
                self.word("`_` in the prototype")?;
                let params = if self.at("(") { self.parameters()? } else { Vec::new() };
                while self.peek().kind == Kind::Dotted && FUNCTION_METADATA.contains(&self.peek().text) {
                    self.bump()?;
                    if let Kind::Integer { .. } = self.peek().kind {
                        self.bump()?;
                    }
                }
                self.expect(";", "after the prototype")?;
                Ok(Statement::CallPrototype { name, returns, params })
            }
            _ => Ok(Statement::Label(name, position)),
        }
    }

    fn targets(&mut self, what: &str) -> Result<Vec<String>> {
        self.bump()?;
        let mut targets = vec![self.word(what)?.to_owned()];
        while self.eat(",")? {
            targets.push(self.word(what)?.to_owned());
        }
        self.expect(";", "or `,` after a target")?;
        Ok(targets)
    }

    fn body_directive(&mut self, registers: &mut u64, statements: &mut Vec<Statement>) -> Result<()> {
        let position = self.position();
        match self.dotted("a directive")? {
            "reg" => self.registers(position, registers, statements)?,
            "loc" => statements.push(Statement::Location(self.location()?)),
            "pragma" => self.pragma()?,
            name => match StateSpace::from_name(name) {
                Some(space) => {
                    let variables = self.variables(space, false, position)?;
                    statements.extend(variables.into_iter().map(Statement::Variable));
                }
                None => {
                    let message = format!("unknown directive `.{name}` in a function");
                    return Err(ParseError::new(position, message));
                }
            },
        }
        Ok(())
    }

    /// `file line column[, function_name label[+n], inlined_at file line column]`.
    fn location(&mut self) -> Result<SourceLocation> {
        let (file, line, column) = self.place()?;
        let mut inlined_at = None;
        while self.eat(",")? {
            let start = self.position();
            match self.word("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.word("the label of a function's name")?;
                    self.offset()?;
                }
                "inlined_at" => inlined_at = Some(self.place()?),
                _ => {
                    let message = "a `.loc` goes on with `function_name` or `inlined_at`";
                    return Err(ParseError::new(start, message));
                }
            }
        }
        Ok(SourceLocation { file, line, column, inlined_at })
    }

    fn place(&mut self) -> Result<(u32, u32, u32)> {
        Ok((self.u32("a file's number")?, self.u32("a line")?, self.u32("a column")?))
    }
}
