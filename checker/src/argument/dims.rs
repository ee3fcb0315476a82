//! `X[,Y[,Z]]`: the dimensions of a grid or a block.

use std::str::FromStr;

/// Well-formed dimensions; whether a device takes them is another matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dims([u64; 3]);

impl FromStr for Dims {
    type Err = String;

    fn from_str(text: &str) -> Result<Dims, String> {
        let mut dims = [1; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} dimensions were given; expected X, X,Y or X,Y,Z", parts.len()));
        }
        for (dim, part) in dims.iter_mut().zip(parts) {
            *dim = part
                .trim()
                .parse()
                .map_err(|_| format!("`{part}` is not a whole number; expected X[,Y[,Z]]"))?;
        }
        Ok(Dims(dims))
    }
}

impl Dims {
    /// As a launch takes them.
    ///
    /// # Errors
    /// The dimension that no device could take.
    pub(crate) fn to_launch(self, what: &str) -> Result<[u32; 3], String> {
        let mut dims = [0; 3];
        for (small, large) in dims.iter_mut().zip(self.0) {
            *small = u32::try_from(large).map_err(|_| {
                format!("the {what} has a dimension of {large}: at most 2147483647 is possible")
            })?;
        }
        Ok(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_dimensions_are_one() {
        assert_eq!("4".parse::<Dims>().and_then(|d| d.to_launch("grid")), Ok([4, 1, 1]));
        assert_eq!("4,5".parse::<Dims>().and_then(|d| d.to_launch("grid")), Ok([4, 5, 1]));
        assert_eq!("4,5,0".parse::<Dims>().and_then(|d| d.to_launch("grid")), Ok([4, 5, 0]));
    }

    #[test]
    fn what_cannot_be_parsed_is_refused_and_what_is_too_large_is_not() {
        for text in ["", "x", "4,", "1,2,3,4", "-1", "1.5", "4x4"] {
            assert!(text.parse::<Dims>().is_err(), "{text}");
        }
        let large = "10000000000".parse::<Dims>().expect("well formed");
        assert!(large.to_launch("grid").expect_err("too large").contains("10000000000"));
    }
}
