//! The typed form of a PTX module.
//!
//! Parsing is generic: an instruction is an opcode, an unordered set of modifiers and operands. Meaning is
//! given later, by whoever decodes the instruction; names are resolved there too.

use std::collections::BTreeMap;

/// Where a node begins in the PTX text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
}

/// One PTX translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`, as (major, minor).
    pub version: (u32, u32),
    /// The first word of `.target`, such as `sm_80`.
    pub target: String,
    /// `.address_size`: 32 or 64.
    pub address_size: u32,
    /// Module-scope variables (`.global`, `.const`, `.shared`), in order of appearance.
    pub variables: Vec<Variable>,
    /// Entry points and device functions, in order; declarations without a body included.
    pub functions: Vec<Function>,
    /// Source files by the number that `.file` gives them.
    pub files: BTreeMap<u32, String>,
    /// `.alias NEW, FUNCTION;`: other names of functions.
    pub aliases: BTreeMap<String, String>,
}

/// A kernel (`.entry`) or a device function (`.func`).
#[derive(Clone, Debug)]
pub struct Function {
    /// The mangled name.
    pub name: String,
    /// Whether this is an entry point, that is, a kernel.
    pub is_entry: bool,
    /// Return parameters of a `.func`, `.param` or `.reg`.
    pub returns: Vec<Variable>,
    /// Parameters in order.
    pub params: Vec<Variable>,
    /// `.maxntid`: the largest block it may be launched with.
    pub max_block: Option<[u32; 3]>,
    /// `.reqntid`: the only block it may be launched with.
    pub required_block: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
    /// The body; `None` for a declaration.
    pub body: Option<Vec<Statement>>,
    /// Where the directive begins.
    pub position: Position,
}

/// One item of a function body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// An instruction.
    Instruction(Instruction),
    /// `NAME:`.
    Label(String, Position),
    /// `.reg .type names;`, ranges like `%r<5>` kept as a range.
    Registers(RegisterDeclaration),
    /// A `.local`, `.shared`, `.param` ... variable declared inside the body.
    Variable(Variable),
    /// `.loc`.
    Location(SourceLocation),
    /// `NAME: .branchtargets A, B;`
    BranchTargets(String, Vec<String>, Position),
    /// `NAME: .callprototype ...;` or `.calltargets`: the name, the return and the formal parameters.
    CallPrototype {
        /// The label that calls name.
        name: String,
        /// Return parameters.
        returns: Vec<Variable>,
        /// Formal parameters.
        params: Vec<Variable>,
    },
    /// `NAME: .calltargets A, B;`
    CallTargets(String, Vec<String>, Position),
    /// `{`: names declared until the matching end are local to it.
    BlockStart(Position),
    /// `}`.
    BlockEnd(Position),
}

/// `.reg .b32 %r<48>;` or `.reg .pred p, q;`.
#[derive(Clone, Debug)]
pub struct RegisterDeclaration {
    /// Scalar type.
    pub ty: Type,
    /// 1, or 2 and 4 for `.v2` and `.v4`.
    pub vector: u32,
    /// The name, or the stem of a range.
    pub name: String,
    /// `Some(n)` for `name<n>`, which declares `name0` .. `name(n-1)`.
    pub range: Option<u32>,
    /// Where.
    pub position: Position,
}

/// A variable or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name; empty for an unnamed prototype parameter.
    pub name: String,
    /// State space.
    pub space: StateSpace,
    /// Element type.
    pub ty: Type,
    /// 1, or 2 and 4 for `.v2` and `.v4`.
    pub vector: u32,
    /// Alignment in bytes, if declared.
    pub align: Option<u32>,
    /// Array dimensions, outermost first; an open dimension (`[]`) is 0; a scalar has none.
    pub dims: Vec<u64>,
    /// Initial value, flattened in memory order.
    pub init: Vec<Initializer>,
    /// `.extern`.
    pub is_extern: bool,
    /// `.ptr` attributes of kernel parameters carry the pointed-to space, if any.
    pub pointee: Option<StateSpace>,
    /// Where.
    pub position: Position,
}

/// One element of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// A number, as the bits of an integer or of a float of the variable's type.
    Integer(i128),
    /// A floating-point constant (`0f`, `0d` or decimal).
    Float(f64),
    /// The address of a variable or function, plus an offset; `generic(name)` sets the flag.
    Symbol {
        /// Its name.
        name: String,
        /// Bytes added.
        offset: i64,
        /// Wrapped in `generic()`.
        generic: bool,
        /// `0xFF00(name)`: only these bits of the address, moved down to bit 0. Packed structures hold
        /// addresses byte by byte.
        mask: Option<u64>,
    },
}

/// State spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    /// `.reg`
    Register,
    /// `.global`
    Global,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Constant,
    /// `.param`
    Param,
}

/// Fundamental types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    Pred,
}

/// `.loc file line column[, function_name L, inlined_at file line column]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// Number of a `.file`.
    pub file: u32,
    /// 1-based line; 0 means "none".
    pub line: u32,
    /// Column.
    pub column: u32,
    /// For inlined code: the place it was inlined at (file, line, column).
    pub inlined_at: Option<(u32, u32, u32)>,
}

/// `@[!]p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: String,
    /// `@!p`.
    pub negated: bool,
}

/// `[@[!]p] opcode{.modifier}* operands;`
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The guard, if any.
    pub guard: Option<Guard>,
    /// The base opcode: `ld` of `ld.global.f32`.
    pub opcode: String,
    /// The modifiers in order, without dots: `["global", "f32"]`. `::` stays inside (`L2::128B`).
    pub modifiers: Vec<String>,
    /// The operands in order. For `call` see [`Operand::List`].
    pub operands: Vec<Operand>,
    /// Where the opcode (or the guard) begins.
    pub position: Position,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a special register with its component (`%tid.x`), a variable, a label or a function. `reg.x` of a vector register too.
    Name(String),
    /// `!p`.
    Not(String),
    /// `p|q`: the pair of destinations of `setp` and `shfl`.
    Pair(Box<Operand>, Box<Operand>),
    /// An integer constant; constant expressions are evaluated.
    Integer(i128),
    /// `0f3F800000`: the bits of a single.
    Single(u32),
    /// `0d...` or a decimal floating-point constant: the bits of a double.
    Double(u64),
    /// `[base+offset]`.
    Address(Address),
    /// `name+offset` outside brackets.
    Offset(String, i64),
    /// `{a, b, c, d}`.
    Vector(Vec<Operand>),
    /// `(a, b)`: the lists of a `call`.
    List(Vec<Operand>),
    /// `[tex, {x, y}]`: brackets with several parts, of texture, surface and tensor instructions.
    Bracketed(Vec<Operand>),
    /// `_`: a sink.
    Sink,
}

/// The inside of brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// A register or a variable; `None` for an absolute address.
    pub base: Option<String>,
    /// Bytes added.
    pub offset: i64,
}
