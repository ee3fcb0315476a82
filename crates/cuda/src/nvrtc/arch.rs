//! Compute capabilities.

use std::fmt;
use std::str::FromStr;

/// A real GPU architecture, such as `sm_80`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// Major compute capability.
    pub major: u32,
    /// Minor compute capability.
    pub minor: u32,
}

impl Arch {
    /// Compute capability 8.0: what the simulator emulates and the learner's PTX is compiled for.
    pub const SM_80: Self = Self { major: 8, minor: 0 };

    /// The architecture of compute capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Whether NVRTC of this version compiles for the architecture, as far as is known. 12.x covers compute
    /// capability 5.0 and later, 13.x dropped everything before 7.5.
    pub fn is_supported_by(self, nvrtc: (u32, u32)) -> bool {
        self >= if nvrtc.0 >= 13 { Self::new(7, 5) } else { Self::new(5, 0) }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}

/// What was given is no architecture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a GPU architecture; write it as sm_80, 80 or 8.0")]
pub struct ParseArchError(String);

impl FromStr for Arch {
    type Err = ParseArchError;

    /// Reads `sm_80`, `compute_80`, `80` or `8.0`.
    fn from_str(text: &str) -> Result<Self, ParseArchError> {
        let error = || ParseArchError(text.to_owned());
        let digits = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let (major, minor) = match digits.split_once('.') {
            Some(parts) => parts,
            // The last digit is the minor version: sm_120 is 12.0.
            None => digits.split_at_checked(digits.len().saturating_sub(1)).ok_or_else(error)?,
        };
        let number = |part: &str| {
            let plain = !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| part.parse::<u32>().ok()).flatten().ok_or_else(error)
        };
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_read() {
        for (text, arch) in [("sm_80", (8, 0)), ("90", (9, 0)), ("8.6", (8, 6)), ("compute_120", (12, 0))] {
            assert_eq!(text.parse::<Arch>(), Ok(Arch::new(arch.0, arch.1)), "{text}");
        }
        assert_eq!(Arch::new(12, 0).to_string(), "sm_120");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "8", "sm_", "sm_8x", "ampere", "-80", "8.", ".0", "8é", "99999"] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }
}
