//! How the tables of instructions are written: a [`Form`] is a pattern in the manual's spelling and a meaning.

use std::cmp::Ordering;

use crate::alu::Alu;

/// One line of an instruction table.
pub(crate) struct Form {
    /// Opcode and modifiers in the order of the PTX manual. `{a|b|}` stands for each of its alternatives, so
    /// `add{.rz|.rm|.rp}{.ftz|}.f32` is six instructions.
    pub(crate) pattern: &'static str,
    /// What all of them do. Where they differ, they tell each other apart by [`Mode`].
    pub(crate) alu: Alu,
}

impl Form {
    pub(crate) const fn new(pattern: &'static str, alu: Alu) -> Form {
        Form { pattern, alu }
    }

    /// Every instruction that the pattern stands for.
    #[cfg(test)]
    pub(crate) fn names(&self) -> Vec<String> {
        expand(self.pattern)
    }

    /// Their opcodes, and the pattern of their modifiers.
    pub(super) fn split(&self) -> (Vec<String>, &'static str) {
        let choices = if self.pattern.starts_with('{') {
            self.pattern.find('}').map_or(0, |close| close + 1)
        } else {
            0
        };
        let rest = &self.pattern[choices..];
        let end = choices + rest.find(['.', '{']).unwrap_or(rest.len());
        (expand(&self.pattern[..end]), &self.pattern[end..])
    }
}

/// Every choice of alternatives.
pub(super) fn expand(pattern: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let close = open + rest[open..].find('}').expect("a pattern closes its braces");
        let (literal, choices) = (&rest[..open], &rest[open + 1..close]);
        names = names
            .iter()
            .flat_map(|name| choices.split('|').map(move |choice| format!("{name}{literal}{choice}")))
            .collect();
        rest = &rest[close + 1..];
    }
    for name in &mut names {
        name.push_str(rest);
    }
    names
}

/// The modifiers in one order, whatever order they are written in, except that types keep theirs (`cvt.f32.s32`).
pub(super) fn key(modifiers: &[&str]) -> String {
    let mut sorted: Vec<&str> = modifiers.to_vec();
    // Stable: types are equal to each other, and come last.
    sorted.sort_by_key(|m| if is_type(m) { (true, "") } else { (false, *m) });
    let mut key = String::with_capacity(32);
    for modifier in sorted {
        key.push('.');
        key.push_str(modifier);
    }
    key
}

/// Whether a modifier is an operand type rather than a qualifier.
fn is_type(modifier: &str) -> bool {
    if matches!(
        modifier,
        "pred" | "tf32" | "bf16" | "bf16x2" | "f16x2" | "u16x2" | "s16x2" | "e4m3x2" | "e5m2x2"
    ) {
        return true;
    }
    matches!(modifier.as_bytes().first(), Some(b'b' | b'u' | b's' | b'f'))
        && matches!(&modifier[1..], "8" | "16" | "32" | "64" | "1" | "4")
}

/// How a value that does not fit is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: to the nearest, ties to even.
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rna`: to the nearest, ties away from zero.
    NearestAway,
}

/// What the modifiers of an instruction say, packed into the immediate of its operands. The forms that stand for
/// many instructions at once read it; the frequent instructions have forms of their own and ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) u32);

impl Mode {
    const ROUNDING: u32 = 7;
    const FTZ: u32 = 1 << 3;
    const SAT: u32 = 1 << 4;
    const RELU: u32 = 1 << 5;
    const NAN: u32 = 1 << 6;
    const XORSIGN: u32 = 1 << 7;
    const INTEGRAL: u32 = 1 << 8;
    const SATFINITE: u32 = 1 << 9;
    const CLAMP: u32 = 1 << 10;
    const NEGATE_C: u32 = 1 << 11;
    const COMPARISON_SHIFT: u32 = 12;
    const BOOLEAN_SHIFT: u32 = 17;

    /// Of an instruction with these modifiers.
    pub(crate) fn of(modifiers: &[&str]) -> Mode {
        let boolean = |number: u32| number << Mode::BOOLEAN_SHIFT;
        Mode(modifiers.iter().fold(0, |bits, &modifier| {
            bits | match modifier {
                "rz" => Rounding::Zero as u32,
                "rm" => Rounding::Down as u32,
                "rp" => Rounding::Up as u32,
                "rna" => Rounding::NearestAway as u32,
                "rni" => Mode::INTEGRAL,
                "rzi" => Mode::INTEGRAL | Rounding::Zero as u32,
                "rmi" => Mode::INTEGRAL | Rounding::Down as u32,
                "rpi" => Mode::INTEGRAL | Rounding::Up as u32,
                "ftz" => Mode::FTZ,
                "sat" => Mode::SAT,
                "satfinite" => Mode::SATFINITE,
                "relu" => Mode::RELU,
                "NaN" => Mode::NAN,
                "xorsign" => Mode::XORSIGN,
                "clamp" => Mode::CLAMP,
                "and" => boolean(1),
                "or" => boolean(2),
                "xor" => boolean(3),
                super::NEGATED_C => Mode::NEGATE_C,
                other => Comparison::of(other).map_or(0, |c| (c as u32) << Mode::COMPARISON_SHIFT),
            }
        }))
    }

    #[inline(always)]
    pub(crate) fn rounding(self) -> Rounding {
        match self.0 & Mode::ROUNDING {
            1 => Rounding::Zero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            4 => Rounding::NearestAway,
            _ => Rounding::Nearest,
        }
    }

    /// `.ftz`: subnormal inputs and results count as zero.
    #[inline(always)]
    pub(crate) fn ftz(self) -> bool {
        self.0 & Mode::FTZ != 0
    }

    /// `.sat`: floating-point results are clamped to 0...1, integers to the range of their type.
    #[inline(always)]
    pub(crate) fn sat(self) -> bool {
        self.0 & Mode::SAT != 0
    }

    /// `.satfinite`: what overflows becomes the largest finite value.
    #[inline(always)]
    pub(crate) fn satfinite(self) -> bool {
        self.0 & Mode::SATFINITE != 0
    }

    /// `.relu`: negative results become 0.
    #[inline(always)]
    pub(crate) fn relu(self) -> bool {
        self.0 & Mode::RELU != 0
    }

    /// `.NaN`: one NaN makes the result NaN.
    #[inline(always)]
    pub(crate) fn nan(self) -> bool {
        self.0 & Mode::NAN != 0
    }

    /// `.xorsign.abs`: of the magnitudes, with the exclusive or of the signs.
    #[inline(always)]
    pub(crate) fn xorsign(self) -> bool {
        self.0 & Mode::XORSIGN != 0
    }

    /// `.rni`, `.rzi`, `.rmi`, `.rpi`: to an integral value.
    #[inline(always)]
    pub(crate) fn integral(self) -> bool {
        self.0 & Mode::INTEGRAL != 0
    }

    /// `.clamp` rather than `.wrap`.
    #[inline(always)]
    pub(crate) fn clamp(self) -> bool {
        self.0 & Mode::CLAMP != 0
    }

    /// The comparison of `set` and `setp`.
    #[inline(always)]
    pub(crate) fn comparison(self) -> Comparison {
        Comparison::ALL[((self.0 >> Mode::COMPARISON_SHIFT & 31) as usize).min(Comparison::ALL.len() - 1)]
    }

    /// A comparison's result combined with the predicate `c`, as `.and`, `.or` or `.xor` say.
    #[inline(always)]
    pub(crate) fn combine(self, result: bool, c: bool) -> bool {
        let c = c ^ (self.0 & Mode::NEGATE_C != 0);
        match self.0 >> Mode::BOOLEAN_SHIFT & 3 {
            1 => result & c,
            2 => result | c,
            3 => result ^ c,
            _ => result,
        }
    }
}

macro_rules! comparisons {
    ($($name:literal $variant:ident $less:literal $equal:literal $greater:literal $unordered:literal)*) => {
        /// A comparison of `set` and `setp`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Comparison { $(#[doc = $name] $variant),* }

        impl Comparison {
            pub(crate) const ALL: &[Comparison] = &[$(Comparison::$variant),*];

            fn of(modifier: &str) -> Option<Comparison> {
                match modifier {
                    $($name => Some(Comparison::$variant),)*
                    _ => None,
                }
            }

            /// Whether it holds between two values in this order; `None`: one of them is NaN.
            #[inline(always)]
            pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
                let [less, equal, greater, unordered] = match self {
                    $(Comparison::$variant => [$less != 0, $equal != 0, $greater != 0, $unordered != 0],)*
                };
                match order {
                    Some(Ordering::Less) => less,
                    Some(Ordering::Equal) => equal,
                    Some(Ordering::Greater) => greater,
                    None => unordered,
                }
            }
        }
    };
}
// Name, and whether it holds when a is less than, equal to, greater than, unordered with b.
comparisons! {
    "eq" Eq 0 1 0 0
    "ne" Ne 1 0 1 0
    "lt" Lt 1 0 0 0
    "le" Le 1 1 0 0
    "gt" Gt 0 0 1 0
    "ge" Ge 0 1 1 0
    "lo" Lo 1 0 0 0
    "ls" Ls 1 1 0 0
    "hi" Hi 0 0 1 0
    "hs" Hs 0 1 1 0
    "equ" Equ 0 1 0 1
    "neu" Neu 1 0 1 1
    "ltu" Ltu 1 0 0 1
    "leu" Leu 1 1 0 1
    "gtu" Gtu 0 0 1 1
    "geu" Geu 0 1 1 1
    "num" Num 1 1 1 0
    "nan" Nan 0 0 0 1
}
