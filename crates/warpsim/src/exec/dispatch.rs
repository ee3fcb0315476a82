//! Building what works on all lanes twice: for any CPU, and for those with AVX2.

/// Makes methods that call, where their parameter `AVX2` says so, a copy of the third one's method that is built for
/// CPUs with AVX2; it vectorises there. The copies are functions of their own, so that the interpreter's loop stays
/// small enough for the compiler to keep its variables in registers.
macro_rules! per_cpu {
    ($(
        $(#[$doc:meta])*
        $vis:vis fn $name:ident, $avx2:ident, $any:ident ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;
    )*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<const AVX2: bool>(&mut self, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            if AVX2 {
                // SAFETY: the parameter is set where the CPU was asked.
                return unsafe { self.$avx2($($arg),*) };
            }
            self.$any($($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
        #[inline(never)]
        #[allow(clippy::too_many_arguments)]
        fn $avx2(&mut self, $($arg: $ty),*) $(-> $ret)? {
            self.$any($($arg),*)
        }
    )*};
}
pub(crate) use per_cpu;
