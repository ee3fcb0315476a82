//! What each instruction is for the hardware: its unit, how long it holds it, and when its result is there.
//!
//! Latencies and intervals of a GPU come from its [`Gpu`]. How many machine instructions one of PTX becomes was read off
//! `cuobjdump -sass` of what NVRTC makes of the course's kernels.

use ptx::{Instruction, Operand, Type};

use super::listing::{Kind, Listing};
use super::liveness::shared_addresses;
use super::op::{Class, Op, Pipe, Space};
use crate::gpu::Gpu;

/// Multiply-adds of `mma.m16n8k8`.
const MMA: u32 = 16 * 8 * 8;

/// All instructions of a listing, one by one.
pub(super) fn ops(listing: &Listing<'_>, gpu: &Gpu) -> Vec<Op> {
    let shared = shared_addresses(listing);
    (0..listing.lines.len()).map(|at| Coster { listing, gpu, shared: &shared, at }.op()).collect()
}

/// Looks at one instruction.
struct Coster<'a> {
    listing: &'a Listing<'a>,
    gpu: &'a Gpu,
    shared: &'a [bool],
    at: usize,
}

/// Class and pipe, scheduler slots, cycles of the pipe for each slot, latency.
struct Cost(Class, Pipe, u32, f64, f64);

impl Coster<'_> {
    fn op(&self) -> Op {
        let line = &self.listing.lines[self.at];
        let Cost(class, pipe, slots, interval, latency) = self.cost(line.instruction);
        Op {
            class,
            pipe,
            reads: line.reads.clone(),
            writes: line.writes.clone(),
            slots,
            busy: (interval * f64::from(slots)) as f32,
            latency: latency as f32,
            at: self.at as u32,
            copy: 0,
        }
    }

    fn free(&self) -> Cost {
        Cost(Class::Free, Pipe::Alu, 0, 0.0, 0.0)
    }

    fn fma(&self, slots: u32, latency: f64) -> Cost {
        Cost(Class::Math, Pipe::Fma, slots, self.gpu.fma_interval, latency)
    }

    fn alu(&self, slots: u32, latency: f64) -> Cost {
        Cost(Class::Math, Pipe::Alu, slots, self.gpu.alu_interval, latency)
    }

    fn multiply(&self, slots: u32, latency: f64) -> Cost {
        Cost(Class::Math, Pipe::Fma, slots, self.gpu.multiply_interval, latency)
    }

    fn special(&self, latency: f64) -> Cost {
        Cost(Class::Math, Pipe::Special, 1, self.gpu.special_interval, latency)
    }

    fn request(&self, class: Class) -> Cost {
        Cost(class, Pipe::Memory, 1, self.gpu.memory_issue_interval, 0.0)
    }

    fn cost(&self, i: &Instruction) -> Cost {
        let has = |modifier: &str| i.has(modifier);
        let math = self.gpu.math_latency;
        let is_wide = has("s64") || has("u64") || has("b64");
        let makes_shared_address = self.writes().any(|reg| self.shared[reg as usize]);
        match i.opcode.as_str() {
            "mov" if i.operands.iter().any(is_identity) => {
                Cost(Class::Math, Pipe::Alu, 1, 4.0, self.gpu.identity_latency)
            }
            "mov" | "cvta" | "isspacep" | "membar" | "fence" | "pragma" | "neg" | "abs" => self.free(),
            "ld" | "ldu" => self.load(i),
            "ldmatrix" => self.request(Class::Load(Space::Shared)),
            "st" if has("param") => self.free(),
            "st" => self.request(Class::Store(space(i))),
            "atom" | "red" => self.request(Class::Atomic(space(i))),
            "cp" if has("commit_group") => Cost(Class::Commit, Pipe::Alu, 1, 1.0, 0.0),
            "cp" if has("wait_group") || has("wait_all") => {
                let pending = match i.operands.first() {
                    Some(Operand::Integer(pending)) => u32::try_from(*pending).unwrap_or(0),
                    _ => 0,
                };
                Cost(Class::Wait(pending), Pipe::Alu, 1, 1.0, 0.0)
            }
            "cp" => self.request(Class::Copy),
            "bar" | "barrier" if has("warp") => Cost(Class::WarpSync, Pipe::Alu, 1, 1.0, 2.0),
            "bar" | "barrier" => Cost(Class::Barrier, Pipe::Control, 1, 2.0, 0.0),
            "bra" | "call" | "brx" => Cost(Class::Branch, Pipe::Control, 1, 2.0, 0.0),
            "exit" => Cost(Class::Exit, Pipe::Control, 1, 2.0, 0.0),
            "ret" => Cost(Class::Exit, Pipe::Control, 1, 2.0, 0.0),
            "shfl" => Cost(
                Class::Exchange,
                Pipe::Memory,
                1,
                self.gpu.memory_issue_interval,
                self.gpu.shuffle_latency,
            ),
            "vote" | "match" | "activemask" | "redux" | "elect" => self.alu(1, 12.0),
            "fma" | "mul" | "add" | "sub" | "mad" if has("f32") => self.fma(1, math),
            "fma" | "mul" | "add" | "sub" | "mad" | "min" | "max" if has("f64") => self.double(1),
            "setp" if has("f64") => self.double(1),
            "setp" => self.alu(if is_wide { 2 } else { 1 }, math + 2.0),
            "selp" | "slct" => self.alu(if is_wide { 2 } else { 1 }, math),
            "min" | "max" => self.alu(1, math),
            "and" | "or" | "xor" | "not" | "lop3" => {
                if has("pred") || self.is_only_used_by(|i| is_logic(&i.opcode)) {
                    self.free()
                } else {
                    self.alu(if is_wide { 2 } else { 1 }, math)
                }
            }
            "cvt" => self.convert(i),
            "shl" if self.is_only_used_by(|i| matches!(i.opcode.as_str(), "add" | "or")) => self.free(),
            "shl" | "shr" => self.alu(if is_wide && !makes_shared_address { 2 } else { 1 }, math),
            "mul" if (has("wide") || !is_wide) && self.is_only_used_by(|i| i.opcode == "add") => self.free(),
            "mul" | "mad" if has("wide") => self.multiply(1, math + 1.0),
            "mul" if is_wide && !makes_shared_address => self.multiply(3, 8.0),
            "mad" if is_wide => self.multiply(3, 8.0),
            "mul" | "mad" => self.multiply(1, math + 1.0),
            "add" | "sub" => self.add(i, is_wide, makes_shared_address),
            "div" | "rem" => self.divide(i),
            "sqrt" if !has("approx") => self.fma(8, 45.0),
            "sqrt" | "rsqrt" | "rcp" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => self.special(20.0),
            "mma" | "wmma" => self.matrix(i),
            "clz" | "popc" | "brev" | "bfind" => self.special(16.0),
            _ => self.alu(1, math),
        }
    }

    fn writes(&self) -> impl Iterator<Item = u32> + '_ {
        self.listing.lines[self.at].writes.iter().copied()
    }

    /// Whether one instruction, of which `test` holds, is all that reads the result: it may take this one in.
    fn is_only_used_by(&self, test: impl Fn(&Instruction) -> bool) -> bool {
        let fits = |reg: u32| {
            let uses = &self.listing.uses[reg as usize];
            self.listing.is_single_use(reg) && uses.iter().all(|at| test(self.listing.lines[*at].instruction))
        };
        self.writes().all(fits)
    }

    fn load(&self, i: &Instruction) -> Cost {
        if i.has("param") {
            return self.free();
        }
        if !i.has("const") {
            return self.request(Class::Load(space(i)));
        }
        // An address that is known when the kernel is compiled is an operand of whatever uses the value.
        let is_computed = i.operands.iter().any(|operand| {
            let Operand::Address(address) = operand else { return false };
            let reg = address.base.as_deref().and_then(|base| self.listing.register(self.at, base));
            reg.is_some_and(|reg| {
                let definitions = &self.listing.definitions[reg as usize];
                definitions.iter().any(|at| self.listing.lines[*at].instruction.opcode != "mov")
            })
        });
        if is_computed { self.request(Class::Load(Space::Constant)) } else { self.free() }
    }

    fn double(&self, slots: u32) -> Cost {
        Cost(Class::Math, Pipe::Double, slots, self.gpu.double_interval, self.gpu.double_latency)
    }

    fn convert(&self, i: &Instruction) -> Cost {
        let has = |modifier: &str| i.has(modifier);
        let is_float = has("f32") || has("f64") || has("f16") || has("bf16");
        match () {
            () if has("tf32") => self.alu(1, self.gpu.math_latency),
            () if has("f64") => {
                // F2F runs on the double unit, at its rate.
                Cost(Class::Math, Pipe::Special, 1, self.gpu.double_convert_interval, self.gpu.double_latency)
            }
            () if is_float => self.special(if has("s64") || has("u64") { 20.0 } else { 16.0 }),
            () if has("s64") || has("u64") => self.free(),
            () => self.alu(1, self.gpu.math_latency),
        }
    }

    fn add(&self, i: &Instruction, is_wide: bool, makes_shared_address: bool) -> Cost {
        let math = self.gpu.math_latency;
        if !is_wide || makes_shared_address {
            return self.alu(1, math);
        }
        let is_product = |operand: &Operand| {
            let Operand::Name(name) = operand else { return false };
            let Some(reg) = self.listing.register(self.at, name) else { return false };
            let definition = self.listing.definition(reg).filter(|_| self.listing.is_single_use(reg));
            definition.is_some_and(|definition| definition.opcode == "mul" && definition.has("wide"))
        };
        if i.operands.iter().skip(1).any(is_product) {
            return self.multiply(1, math + 1.0);
        }
        // A constant that is added to an address becomes the offset of the access.
        let is_offset = matches!(i.operands.get(2), Some(Operand::Integer(_)));
        let only_addresses = self.writes().all(|reg| {
            let uses = &self.listing.uses[reg as usize];
            let is_access = |at: &usize| {
                matches!(self.listing.lines[*at].instruction.opcode.as_str(), "ld" | "st" | "cp")
            };
            self.listing.definitions[reg as usize].len() == 1 && uses.iter().all(is_access)
        });
        if is_offset && only_addresses { self.free() } else { self.alu(2, math + 2.0) }
    }

    fn divide(&self, i: &Instruction) -> Cost {
        if i.has("f64") {
            return self.double(12);
        }
        if i.has("f32") {
            return if i.has("approx") { self.special(30.0) } else { self.fma(9, 45.0) };
        }
        match i.operands.get(2) {
            Some(Operand::Integer(by)) if by.unsigned_abs().is_power_of_two() => {
                self.alu(if i.has("s32") { 3 } else { 1 }, 12.0)
            }
            Some(Operand::Integer(_)) => self.multiply(4, 20.0),
            _ => self.alu(if is_64_bits(i) { 70 } else { 22 }, if is_64_bits(i) { 300.0 } else { 110.0 }),
        }
    }

    fn matrix(&self, i: &Instruction) -> Cost {
        if i.has("load") {
            return self.request(Class::Load(space(i)));
        }
        if i.has("store") {
            return self.request(Class::Store(space(i)));
        }
        let products = i.modifiers.iter().find_map(|modifier| products(modifier)).unwrap_or(MMA);
        let rate = if i.has("tf32") { 1.0 } else { 2.0 } * self.gpu.tf32_products_per_cycle;
        let slots = products.div_ceil(MMA).max(1);
        let busy = f64::from(products) / rate / f64::from(slots);
        Cost(Class::Math, Pipe::Tensor, slots, busy, self.gpu.tensor_latency)
    }
}

/// Multiply-adds of a shape like `m16n8k8`.
fn products(modifier: &str) -> Option<u32> {
    let sides: Vec<u32> =
        modifier.strip_prefix('m')?.split(['n', 'k']).map(str::parse).collect::<Result<_, _>>().ok()?;
    (sides.len() == 3).then(|| sides.iter().product())
}

fn is_64_bits(i: &Instruction) -> bool {
    i.has("s64") || i.has("u64")
}

fn is_logic(opcode: &str) -> bool {
    matches!(opcode, "and" | "or" | "xor" | "not")
}

/// Whether it is a register that tells a thread who it is.
fn is_identity(operand: &Operand) -> bool {
    matches!(operand, Operand::Name(name) if name.starts_with("%tid") || name.starts_with("%ctaid"))
}

/// The space of an access; a generic address is taken for global.
fn space(i: &Instruction) -> Space {
    match () {
        () if i.has("shared") || i.has("shared::cta") => Space::Shared,
        () if i.has("local") => Space::Local,
        () => Space::Global,
    }
}

/// Bytes that a lane asks for.
pub(super) fn bytes_per_lane(i: &Instruction) -> u32 {
    if i.opcode == "cp" {
        return match i.operands.get(2) {
            Some(Operand::Integer(bytes)) => u32::try_from(*bytes).unwrap_or(4),
            _ => 4,
        };
    }
    let element = i.modifiers.iter().rev().find_map(|modifier| Type::from_name(modifier));
    let vector = [("v2", 2), ("v4", 4), ("v8", 8)].into_iter().find(|(modifier, _)| i.has(modifier));
    element.map_or(4, Type::size_bytes) * vector.map_or(1, |(_, length)| length)
}

/// What the remarks want to know of an instruction.
pub(super) fn traits(listing: &Listing<'_>, at: usize) -> super::Traits {
    let line = &listing.lines[at];
    let i = line.instruction;
    let is_loop = |from: usize, jump: &super::listing::Line<'_>| {
        jump.target.is_some_and(|to| (to..=from).contains(&at))
    };
    super::Traits {
        is_double: i.has("f64") && !matches!(i.opcode.as_str(), "ld" | "st" | "mov" | "selp"),
        is_division: matches!(i.opcode.as_str(), "div" | "rem")
            && !matches!(i.operands.get(2), Some(Operand::Integer(_)))
            && !i.has("approx"),
        skips_l1: ["cg", "volatile", "relaxed", "acquire", "cv"].iter().any(|modifier| i.has(modifier)),
        in_loop: listing.lines.iter().enumerate().skip(at).any(|(from, jump)| is_loop(from, jump)),
    }
}

/// Whether a register is a predicate.
pub(super) fn is_predicate(listing: &Listing<'_>, reg: u32) -> bool {
    listing.kinds.get(reg as usize) == Some(&Kind::Predicate)
}
