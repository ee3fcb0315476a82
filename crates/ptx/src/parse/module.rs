//! What stands at module scope.

use super::Result;
use super::cursor::Parser;
use super::lexer::Kind;
use crate::{Module, ParseError, Position, StateSpace};

impl<'a> Parser<'a> {
    /// The whole text.
    pub(super) fn module(&mut self) -> Result<Module> {
        let mut module = Module { address_size: 32, ..Module::default() };
        if self.peek().kind != Kind::Dotted || self.peek().text != "version" {
            return Err(self.expected("`.version`, with which PTX begins"));
        }
        while self.peek().kind != Kind::End {
            if !self.eat(";")? {
                self.module_item(&mut module)?;
            }
        }
        if module.target.is_empty() {
            return Err(self.expected("`.target` after `.version`"));
        }
        Ok(module)
    }

    fn module_item(&mut self, module: &mut Module) -> Result<()> {
        let position = self.position();
        match self.dotted("a directive such as `.entry`, `.func` or `.global`")? {
            "version" => module.version = self.version()?,
            "target" => {
                let target = self.word("a target such as `sm_80`")?;
                module.target = target.to_owned();
                while self.eat(",")? {
                    self.word("an option of the target")?;
                }
            }
            "address_size" => module.address_size = self.address_size()?,
            "file" => self.file(module)?,
            "section" => self.skip_section()?,
            "pragma" => self.pragma()?,
            "alias" => {
                let alias = self.word("the new name")?.to_owned();
                self.expect(",", "between the two names of the alias")?;
                let function = self.word("the name of a function")?.to_owned();
                self.expect(";", "after the alias")?;
                module.aliases.insert(alias, function);
            }
            first => self.declaration(first, position, module)?,
        }
        Ok(())
    }

    /// A function or a variable; `first` is its first directive, already read.
    fn declaration(&mut self, first: &'a str, position: Position, module: &mut Module) -> Result<()> {
        let mut word = first;
        let mut is_extern = false;
        while let "visible" | "extern" | "weak" | "common" = word {
            is_extern |= word == "extern";
            word = self.dotted("`.entry`, `.func` or a state space")?;
        }
        match (word, StateSpace::from_name(word)) {
            ("entry" | "func", _) => module.functions.push(self.function(word == "entry", position)?),
            (_, Some(space @ (StateSpace::Global | StateSpace::Constant | StateSpace::Shared))) => {
                module.variables.append(&mut self.variables(space, is_extern, position)?);
            }
            (_, Some(_)) => {
                let message = format!("`.{word}` variables are declared inside functions");
                return Err(ParseError::new(position, message));
            }
            (_, None) => return Err(ParseError::new(position, format!("unknown directive `.{word}`"))),
        }
        Ok(())
    }

    /// `8.8`, which the lexer takes for a floating-point number.
    fn version(&mut self) -> Result<(u32, u32)> {
        let numbers = self.peek().text.split_once('.');
        let version = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let version = version.ok_or_else(|| self.expected("a version such as `8.0`"))?;
        self.bump()?;
        Ok(version)
    }

    fn address_size(&mut self) -> Result<u32> {
        let start = self.position();
        match self.u32("32 or 64")? {
            size @ (32 | 64) => Ok(size),
            other => Err(ParseError::new(start, format!("addresses have 32 or 64 bits, not {other}"))),
        }
    }

    /// `number "name"[, timestamp, size]`.
    fn file(&mut self, module: &mut Module) -> Result<()> {
        let number = self.u32("the number of the file")?;
        let name = self.string("the name of the file in quotes")?;
        while self.eat(",")? {
            self.integer("the time or the size of the file")?;
        }
        module.files.insert(number, name);
        Ok(())
    }

    /// `"text"[, "text"];`: advice to the assembler.
    pub(super) fn pragma(&mut self) -> Result<()> {
        self.string("the text of the pragma in quotes")?;
        while self.eat(",")? {
            self.string("the text of the pragma in quotes")?;
        }
        self.expect(";", "after the pragma")
    }

    /// `(...)`, of an attribute.
    pub(super) fn skip_parentheses(&mut self) -> Result<()> {
        self.skip_between("(", ")", "of the attribute")
    }

    /// A section of debug information: a name and `{ ... }`.
    fn skip_section(&mut self) -> Result<()> {
        self.dotted("the name of the section")?;
        self.skip_between("{", "}", "of the section")
    }

    fn skip_between(&mut self, open: &str, close: &str, place: &str) -> Result<()> {
        self.expect(open, place)?;
        let mut depth = 1u64;
        while depth > 0 {
            if self.peek().kind == Kind::End {
                return Err(self.expected(&format!("`{close}` at the end {place}")));
            }
            let token = self.bump()?;
            depth += u64::from(token.is(open));
            depth -= u64::from(token.is(close));
        }
        Ok(())
    }
}
