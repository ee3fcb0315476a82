//! Operands: names, constants and addresses become registers.

use ptx::{Address, Operand, StateSpace};

use super::function::{FunctionLowerer, Name};
use super::invalid;
use super::layout::Location;
use crate::fault::Space;
use crate::program::{Constant, LaneMask, LowerError, RESERVED_SHARED_BYTES, Register, Special, Step};
use crate::registers::{Kind, Operands, RegisterFile};

/// The parts of a memory operand.
pub(super) struct Target {
    /// Register that holds the base.
    pub(super) base: Option<Register>,
    /// Bytes to add; the whole address if there is no base.
    pub(super) offset: i64,
    /// What the base names, if it is a variable.
    pub(super) variable: Option<Location>,
}

impl FunctionLowerer<'_, '_> {
    /// The register a source operand is in; constants get one of their own.
    pub(super) fn source(&mut self, operand: &Operand, kind: Kind) -> Result<u16, LowerError> {
        match operand {
            Operand::Name(name) => self.named_source(name, 0, kind),
            Operand::Offset(name, offset) => self.named_source(name, *offset, kind),
            Operand::Not(name) => {
                let reg = self.register(name, RegisterFile::Pred)?;
                Ok(self.negate(reg))
            }
            Operand::Integer(value) => {
                let bits = match kind {
                    Kind::F32 => u64::from((*value as f32).to_bits()),
                    Kind::F64 => (*value as f64).to_bits(),
                    Kind::Pred => u64::from(*value != 0),
                    Kind::Bits(_) => *value as u64,
                };
                Ok(self.constant(Constant::Bits(truncate(bits, kind)), kind.class()))
            }
            Operand::Single(bits) => {
                let bits = match kind {
                    Kind::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
                    _ => u64::from(*bits),
                };
                Ok(self.constant(Constant::Bits(truncate(bits, kind)), kind.class()))
            }
            Operand::Double(bits) => {
                let bits = match kind {
                    Kind::F32 | Kind::Bits(32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
                    _ => *bits,
                };
                Ok(self.constant(Constant::Bits(truncate(bits, kind)), kind.class()))
            }
            Operand::Vector(list) if list.len() == 1 => self.source(&list[0], kind),
            Operand::Sink => Ok(self.constant(Constant::Bits(0), kind.class())),
            _ => Err(self.error("this operand cannot be read as a value")),
        }
    }

    fn named_source(&mut self, name: &str, offset: i64, kind: Kind) -> Result<u16, LowerError> {
        match self.resolve(name)? {
            Name::Register(reg, _) if offset == 0 => self.expect_class(name, reg, kind.class()),
            Name::Register(..) => {
                Err(self.error(format!("`{name}` is a register: an offset needs brackets")))
            }
            Name::Special(constant) => Ok(self.constant(constant, kind.class())),
            Name::Clock => {
                let reg = self.temporary(kind.class());
                self.emit_write(
                    Step::Clock(kind.class()),
                    Operands { dst: [reg.index, 0], ..Operands::default() },
                    reg,
                );
                Ok(reg.index)
            }
            Name::Variable(location) => self.address_value(location, offset, kind.class()),
            Name::Function(number) => Ok(self.constant(Constant::Bits(u64::from(number) + 1), kind.class())),
        }
    }

    /// The address of a variable as a value, in the variable's own space.
    fn address_value(
        &mut self,
        location: Location,
        offset: i64,
        class: RegisterFile,
    ) -> Result<u16, LowerError> {
        let constant = match location {
            Location::Shared(at) => Constant::Shared { variable: self.shared_variable(at), offset },
            Location::Constant(at) => Constant::Bits(at.wrapping_add(offset as u64)),
            Location::Param { offset: at, .. } => Constant::Bits(u64::from(at).wrapping_add(offset as u64)),
            Location::Global(variable) => Constant::Global { variable, offset },
            Location::Local { offset: at, .. } => {
                let reg = self.temporary(class);
                let step = Step::LocalAddress(at.wrapping_add(offset as u32));
                let src = [if class == RegisterFile::Wide { 1 } else { 0 }, 0, 0, 0];
                self.emit_write(step, Operands { dst: [reg.index, 0], src, imm: 0 }, reg);
                return Ok(reg.index);
            }
        };
        Ok(self.constant(constant, class))
    }

    /// The number of the variable of shared memory that begins at `at`. `extern` arrays are one and the same.
    pub(super) fn shared_variable(&self, at: u64) -> u32 {
        let variables = &self.builder.program.shared;
        variables.iter().position(|variable| variable.offset == at).unwrap_or(0) as u32
    }

    /// The register a destination operand names.
    pub(super) fn destination(&mut self, operand: &Operand, class: RegisterFile) -> Result<u16, LowerError> {
        match operand {
            Operand::Name(name) => Ok(self.register(name, class)?.index),
            Operand::Vector(list) if list.len() == 1 => self.destination(&list[0], class),
            Operand::Sink => Ok(self.temporary(class).index),
            _ => Err(self.error("the destination must be a register")),
        }
    }

    /// A declared register of the class that the instruction needs.
    pub(super) fn register(&mut self, name: &str, class: RegisterFile) -> Result<Register, LowerError> {
        match self.resolve(name)? {
            Name::Register(reg, _) => {
                self.expect_class(name, reg, class)?;
                Ok(reg)
            }
            _ => Err(self.error(format!("`{name}` is not a register"))),
        }
    }

    fn expect_class(&self, name: &str, reg: Register, class: RegisterFile) -> Result<u16, LowerError> {
        if reg.file == class {
            return Ok(reg.index);
        }
        let say = |class| match class {
            RegisterFile::Pred => "a predicate",
            RegisterFile::Word => "a register of at most 32 bits",
            RegisterFile::Wide => "a 64-bit register",
        };
        Err(self.error(format!("`{name}` is {}, where {} belongs", say(reg.file), say(class))))
    }

    /// What is inside brackets.
    pub(super) fn target(&mut self, operand: &Operand) -> Result<Target, LowerError> {
        let address = match operand {
            Operand::Address(address) => address.clone(),
            // Call parameters and the like are sometimes written without brackets.
            Operand::Name(name) => Address { base: Some(name.clone()), offset: 0 },
            _ => return Err(self.error("an address in brackets is expected here")),
        };
        let Some(name) = &address.base else {
            return Ok(Target { base: None, offset: address.offset, variable: None });
        };
        match self.resolve(name)? {
            Name::Register(reg, _) if reg.file == RegisterFile::Pred => {
                Err(self.error(format!("`{name}` is a predicate and holds no address")))
            }
            Name::Register(reg, _) => Ok(Target { base: Some(reg), offset: address.offset, variable: None }),
            Name::Variable(location) => {
                let (base, offset) = match location {
                    Location::Shared(at) | Location::Constant(at) => (None, at as i64),
                    Location::Param { offset, .. } | Location::Local { offset, .. } => {
                        (None, i64::from(offset))
                    }
                    Location::Global(variable) => {
                        let index =
                            self.constant(Constant::Global { variable, offset: 0 }, RegisterFile::Wide);
                        (Some(Register { file: RegisterFile::Wide, index }), 0)
                    }
                };
                Ok(Target { base, offset: offset.wrapping_add(address.offset), variable: Some(location) })
            }
            _ => Err(self.error(format!("`{name}` is no address"))),
        }
    }

    /// A predicate as it is used by a guard or an instruction: its register, and whether it is negated.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Result<(u16, bool), LowerError> {
        match operand {
            Operand::Not(name) => Ok((self.register(name, RegisterFile::Pred)?.index, true)),
            other => Ok((self.source(other, Kind::Pred)?, false)),
        }
    }
}

/// The space a location lies in.
pub(super) fn space_of(location: Location) -> Space {
    match location {
        Location::Shared(_) => Space::Shared,
        Location::Global(_) => Space::Global,
        Location::Constant(_) => Space::Constant,
        Location::Param { .. } => Space::Param,
        Location::Local { .. } => Space::Local,
    }
}

/// The space a PTX modifier names.
pub(super) fn space_of_modifier(modifier: &str) -> Option<StateSpace> {
    // `.param::entry`, `.shared::cta` and the like name the same memory here.
    match modifier.split("::").next()? {
        "global" => Some(StateSpace::Global),
        "shared" => Some(StateSpace::Shared),
        "local" => Some(StateSpace::Local),
        "const" => Some(StateSpace::Constant),
        "param" => Some(StateSpace::Param),
        _ => None,
    }
}

fn truncate(bits: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Pred => bits & 1,
        Kind::Bits(64) | Kind::F64 => bits,
        Kind::Bits(n) => bits & ((1 << n) - 1),
        Kind::F32 => bits & 0xffff_ffff,
    }
}

/// A special register whose value is fixed while a block runs. Those that say where on the GPU a block runs
/// (`%smid`) are 0: the emulated device has one multiprocessor.
pub(super) fn special(name: &str) -> Option<Constant> {
    let (stem, axis) = match name.split_once('.') {
        Some((stem, axis)) => (stem, ["x", "y", "z", "w"].iter().position(|&a| a == axis)? as u8),
        None => (name, 0),
    };
    let special = match stem {
        "%tid" | "%ntid" | "%ctaid" | "%nctaid" if axis == 3 => return Some(Constant::Bits(0)),
        "%tid" => Special::ThreadIndex(axis),
        "%ntid" => Special::BlockDim(axis),
        "%ctaid" => Special::BlockIndex(axis),
        "%nctaid" => Special::GridDim(axis),
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::WarpCount,
        "%lanemask_eq" => Special::LaneMask(LaneMask::Eq),
        "%lanemask_lt" => Special::LaneMask(LaneMask::Lt),
        "%lanemask_le" => Special::LaneMask(LaneMask::Le),
        "%lanemask_gt" => Special::LaneMask(LaneMask::Gt),
        "%lanemask_ge" => Special::LaneMask(LaneMask::Ge),
        "%dynamic_smem_size" => Special::DynamicSharedBytes,
        "%total_smem_size" | "%aggr_smem_size" => Special::TotalSharedBytes,
        "%reserved_smem_offset_begin" => Special::ReservedShared(0),
        "%reserved_smem_offset_end" => Special::ReservedShared(RESERVED_SHARED_BYTES),
        "%reserved_smem_offset_cap" => return Some(Constant::Bits(RESERVED_SHARED_BYTES.into())),
        "%reserved_smem_offset_0" => Special::ReservedShared(0),
        "%reserved_smem_offset_1" => Special::ReservedShared(RESERVED_SHARED_BYTES / 2),
        "%smid" | "%gridid" => return Some(Constant::Bits(0)),
        "%nsmid" => return Some(Constant::Bits(1)),
        "WARP_SZ" => return Some(Constant::Bits(32)),
        // Counters that a profiler sets up: there are none here.
        _ if stem.starts_with("%envreg") || is_numbered(stem, "%pm") => return Some(Constant::Bits(0)),
        _ => return None,
    };
    Some(Constant::Special(special))
}

/// `%pm0`, `%pm3_64` and the like.
fn is_numbered(name: &str, stem: &str) -> bool {
    let rest = name.strip_prefix(stem).map(|rest| rest.strip_suffix("_64").unwrap_or(rest));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// An error at a line, for callers without a lowerer.
pub(super) fn unknown_name(line: u32, name: &str) -> LowerError {
    invalid(line, format!("`{name}` is not declared"))
}
