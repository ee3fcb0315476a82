//! Turns a scalar function into a warp-wide instruction.
//!
//! [`alu!`] takes a closure over scalars and makes two functions of it: a portable one, and one that the compiler
//! may vectorise with AVX2 and FMA. Which one runs is decided once, when a program is lowered.

use crate::registers::{Kind, Lane, Lanes, Operands, Registers};

/// A warp-wide register instruction. Unsafe to call only in that the CPU must have the features it was built for.
pub(crate) type AluFn = unsafe fn(&mut Registers, &Operands, u32);

/// What an instruction takes and gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) dst: [Option<Kind>; 2],
    pub(crate) src: [Option<Kind>; 4],
}

/// A register instruction in its variants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alu {
    pub(crate) signature: Signature,
    /// What [`Operands::imm`] has to be, unless an operand of the text goes there.
    pub(crate) imm: u32,
    /// Whether it is `fma.rn.f32`.
    pub(crate) is_multiply_add: bool,
    pub(crate) portable: AluFn,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: AluFn,
}

impl Alu {
    /// The fastest variant that this CPU has.
    pub(crate) fn select(&self) -> AluFn {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            return self.avx2;
        }
        self.portable
    }
}

/// Whether the AVX2 variants may be called.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// What a scalar function returns: one value, or two for instructions with two destinations.
pub(crate) trait Output: Copy {
    /// Kinds of the destinations.
    const KINDS: [Option<Kind>; 2];
    /// Room for all lanes.
    type Buffer;
    /// An empty buffer.
    fn buffer() -> Self::Buffer;
    /// Puts the result of a lane.
    fn put(buffer: &mut Self::Buffer, lane: usize, value: Self);
    /// Writes the lanes in `mask` to the destinations. `AVX2`: the caller is built for CPUs that have it.
    fn write<const AVX2: bool>(
        registers: &mut Registers,
        operands: &Operands,
        buffer: &Self::Buffer,
        mask: u32,
    );
}

impl<T: Lane> Output for T {
    const KINDS: [Option<Kind>; 2] = [Some(T::KIND), None];
    type Buffer = T::Buffer;

    #[inline(always)]
    fn buffer() -> T::Buffer {
        T::buffer()
    }

    #[inline(always)]
    fn put(buffer: &mut T::Buffer, lane: usize, value: T) {
        T::put(buffer, lane, value);
    }

    #[inline(always)]
    fn write<const AVX2: bool>(
        registers: &mut Registers,
        operands: &Operands,
        buffer: &T::Buffer,
        mask: u32,
    ) {
        T::write::<AVX2>(registers, operands.dst[0], buffer, mask);
    }
}

impl<T: Lane, U: Lane> Output for (T, U) {
    const KINDS: [Option<Kind>; 2] = [Some(T::KIND), Some(U::KIND)];
    type Buffer = (T::Buffer, U::Buffer);

    #[inline(always)]
    fn buffer() -> Self::Buffer {
        (T::buffer(), U::buffer())
    }

    #[inline(always)]
    fn put(buffer: &mut Self::Buffer, lane: usize, value: (T, U)) {
        T::put(&mut buffer.0, lane, value.0);
        U::put(&mut buffer.1, lane, value.1);
    }

    #[inline(always)]
    fn write<const AVX2: bool>(
        registers: &mut Registers,
        operands: &Operands,
        buffer: &Self::Buffer,
        mask: u32,
    ) {
        T::write::<AVX2>(registers, operands.dst[0], &buffer.0, mask);
        U::write::<AVX2>(registers, operands.dst[1], &buffer.1, mask);
    }
}

/// Whether what is called with it is built for CPUs with AVX2.
pub(crate) struct BuiltFor<const AVX2: bool>;

macro_rules! map {
    ($name:ident, $kinds:ident, $($arg:ident : $ty:ident = $slot:literal),+) => {
        /// Applies `f` to every lane.
        #[inline(always)]
        pub(crate) fn $name<const AVX2: bool, $($ty: Lane,)+ D: Output>(
            _: BuiltFor<AVX2>,
            registers: &mut Registers,
            operands: &Operands,
            mask: u32,
            f: impl Fn(u32, $($ty),+) -> D,
        ) {
            $(let $arg = $ty::read(registers, operands.src[$slot]);)+
            let mut out = D::buffer();
            for lane in 0..32 {
                D::put(&mut out, lane, f(operands.imm, $($arg[lane]),+));
            }
            D::write::<AVX2>(registers, operands, &out, mask);
        }

        /// The signature of such a function.
        #[allow(unused_assignments)]
        pub(crate) const fn $kinds<$($ty: Lane,)+ D: Output>(_: &impl Fn(u32, $($ty),+) -> D) -> Signature {
            let mut src = [None; 4];
            $(src[$slot] = Some($ty::KIND);)+
            Signature { dst: D::KINDS, src }
        }
    };
}
map!(map1, kinds1, a: A = 0);
map!(map2, kinds2, a: A = 0, b: B = 1);
map!(map3, kinds3, a: A = 0, b: B = 1, c: C = 2);
map!(map4, kinds4, a: A = 0, b: B = 1, c: C = 2, d: E = 3);

/// Applies `f` to whole predicates: a bit for each lane.
#[inline(always)]
pub(crate) fn whole(registers: &mut Registers, operands: &Operands, mask: u32, f: impl Fn(u32, u32) -> u32) {
    let bits = f(registers.pred(operands.src[0]), registers.pred(operands.src[1]));
    registers.set_pred(operands.dst[0], bits, mask);
}

macro_rules! rare {
    ($rare:ident, $($arg:ident : $ty:ident = $slot:literal),+) => {
        /// Applies `f` to every lane, in little code rather than little time: nothing but `f` is inlined or unrolled.
        #[inline(always)]
        pub(crate) fn $rare<$($ty: Lane,)+ D: Output>(
            registers: &mut Registers,
            operands: &Operands,
            mask: u32,
            f: impl Fn(u32, $($ty),+) -> D,
        ) {
            $(let $arg = read_all::<$ty>(registers, operands.src[$slot]);)+
            let mut out = D::buffer();
            for lane in 0..std::hint::black_box(32).min(32) {
                D::put(&mut out, lane, f(operands.imm, $($arg[lane]),+));
            }
            write_all::<D>(registers, operands, &out, mask);
        }
    };
}
rare!(rare1, a: A = 0);
rare!(rare2, a: A = 0, b: B = 1);
rare!(rare3, a: A = 0, b: B = 1, c: C = 2);

#[inline(never)]
fn read_all<T: Lane>(registers: &Registers, index: u16) -> Lanes<T> {
    T::read(registers, index)
}

#[inline(never)]
fn write_all<D: Output>(registers: &mut Registers, operands: &Operands, buffer: &D::Buffer, mask: u32) {
    D::write::<false>(registers, operands, buffer, mask);
}

/// Makes an [`Alu`] of a scalar function: `alu!(|a: u32, b: u32| a.wrapping_add(b))`. Two destinations: return a pair.
///
/// With `imm =>` in front, the closure's first argument is the immediate: `alu!(imm => |table, a: u32, ...| ...)`. With
/// `mode =>` it is the [`Mode`](crate::isa::Mode) in the immediate; such functions stand for many rare instructions
/// and are built once, not for each kind of CPU. With `whole =>` the arguments are predicates with their bits of all
/// lanes.
macro_rules! alu {
    (whole => |$a:ident| $body:expr) => {
        alu!(@whole [Some($crate::registers::Kind::Pred), None, None, None], |$a: u32, _b: u32| $body)
    };
    (whole => |$a:ident, $b:ident| $body:expr) => {
        alu!(
            @whole [Some($crate::registers::Kind::Pred), Some($crate::registers::Kind::Pred), None, None],
            |$a: u32, $b: u32| $body
        )
    };
    (@whole $src:expr, $f:expr) => {{
        unsafe fn portable(r: &mut $crate::registers::Registers, o: &$crate::registers::Operands, m: u32) {
            $crate::alu::whole(r, o, m, $f)
        }
        $crate::alu::Alu {
            signature: $crate::alu::Signature { dst: [Some($crate::registers::Kind::Pred), None], src: $src },
            imm: 0,
            is_multiply_add: false,
            portable,
            #[cfg(target_arch = "x86_64")]
            avx2: portable,
        }
    }};
    (|$a:ident: $ta:ty| $body:expr) => { alu!(@fast map1 kinds1, |_imm: u32, $a: $ta| $body) };
    (|$a:ident: $ta:ty, $b:ident: $tb:ty| $body:expr) => { alu!(@fast map2 kinds2, |_imm: u32, $a: $ta, $b: $tb| $body) };
    (|$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| $body:expr) => {
        alu!(@fast map3 kinds3, |_imm: u32, $a: $ta, $b: $tb, $c: $tc| $body)
    };
    (|$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ident: $td:ty| $body:expr) => {
        alu!(@fast map4 kinds4, |_imm: u32, $a: $ta, $b: $tb, $c: $tc, $d: $td| $body)
    };
    (imm => |$i:ident, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| $body:expr) => {
        alu!(@fast map3 kinds3, |$i: u32, $a: $ta, $b: $tb, $c: $tc| $body)
    };
    (imm => |$i:ident, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty, $d:ident: $td:ty| $body:expr) => {
        alu!(@fast map4 kinds4, |$i: u32, $a: $ta, $b: $tb, $c: $tc, $d: $td| $body)
    };
    (mode => |$m:ident, $a:ident: $ta:ty| $body:expr) => {
        alu!(@rare rare1 kinds1, |imm: u32, $a: $ta| { let $m = $crate::isa::Mode(imm); $body })
    };
    (mode => |$m:ident, $a:ident: $ta:ty, $b:ident: $tb:ty| $body:expr) => {
        alu!(@rare rare2 kinds2, |imm: u32, $a: $ta, $b: $tb| { let $m = $crate::isa::Mode(imm); $body })
    };
    (mode => |$m:ident, $a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| $body:expr) => {
        alu!(@rare rare3 kinds3, |imm: u32, $a: $ta, $b: $tb, $c: $tc| { let $m = $crate::isa::Mode(imm); $body })
    };
    (@rare $map:ident $kinds:ident, $f:expr) => {{
        unsafe fn portable(r: &mut $crate::registers::Registers, o: &$crate::registers::Operands, m: u32) {
            $crate::alu::$map(r, o, m, $f)
        }
        $crate::alu::Alu {
            signature: $crate::alu::$kinds(&$f),
            imm: 0,
            is_multiply_add: false,
            portable,
            #[cfg(target_arch = "x86_64")]
            avx2: portable,
        }
    }};
    (@fast $map:ident $kinds:ident, $f:expr) => {{
        unsafe fn portable(r: &mut $crate::registers::Registers, o: &$crate::registers::Operands, m: u32) {
            $crate::alu::$map($crate::alu::BuiltFor::<false>, r, o, m, $f)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn avx2(r: &mut $crate::registers::Registers, o: &$crate::registers::Operands, m: u32) {
            $crate::alu::$map($crate::alu::BuiltFor::<true>, r, o, m, $f)
        }
        $crate::alu::Alu {
            signature: $crate::alu::$kinds(&$f),
            imm: 0,
            is_multiply_add: false,
            portable,
            #[cfg(target_arch = "x86_64")]
            avx2,
        }
    }};
}
pub(crate) use alu;
