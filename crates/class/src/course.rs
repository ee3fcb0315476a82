//! The exercises that hand-ins are for.

/// An exercise, by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exercise {
    /// `5`.
    pub number: u8,
    /// `transpose_coalescing`.
    pub slug: String,
    /// What it is called in a text.
    pub title: String,
    /// The text that everybody starts from.
    pub stub: String,
}

impl Exercise {
    /// `05_transpose_coalescing`: what the exercise is called in every file.
    pub fn folder(&self) -> String {
        format!("{:02}_{}", self.number, self.slug)
    }
}

/// All exercises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// By number.
    pub exercises: Vec<Exercise>,
}

impl Course {
    /// The exercise that a name of a file or folder says it is for: by its number, `05`, `5-transpose`,
    /// `05_transpose_coalescing`, or by its whole short name. A part of a name is too little to grade by.
    pub fn named(&self, name: &str) -> Option<&Exercise> {
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        if digits.is_empty() {
            let slug = name.to_lowercase().replace(['-', ' '], "_");
            return self.exercises.iter().find(|exercise| exercise.slug == slug);
        }
        let is_whole = name[digits.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric());
        let number: u8 = digits.parse().ok().filter(|_| is_whole)?;
        self.exercises.iter().find(|exercise| exercise.number == number)
    }

    /// The exercise whose folder is `folder`.
    pub fn in_folder(&self, folder: &str) -> Option<&Exercise> {
        self.exercises.iter().find(|exercise| exercise.folder() == folder)
    }
}

#[cfg(test)]
pub(crate) fn sample() -> Course {
    let exercise = |number, slug: &str| Exercise {
        number,
        slug: slug.into(),
        title: slug.into(),
        stub: "// TODO\n".into(),
    };
    Course {
        exercises: vec![
            exercise(0, "vector_add"),
            exercise(5, "transpose_coalescing"),
            exercise(6, "bank_padding"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_exercise_is_meant_or_nothing() {
        let course = sample();
        for name in [
            "05",
            "5",
            "05_transpose_coalescing",
            "5-my-try",
            "05 (2)",
            "transpose-coalescing",
            "Transpose Coalescing",
        ] {
            assert_eq!(course.named(name).map(|exercise| exercise.number), Some(5), "{name}");
        }
        for name in ["", "transpose", "05x", "5th", "99", "kernel", "256", "00000000000005x"] {
            assert_eq!(course.named(name), None, "{name}");
        }
    }
}
