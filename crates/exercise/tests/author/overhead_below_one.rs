include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { requirements: &[Requirement { bound: Bound::AtMost(0.9), ..Requirement::COALESCED_STORES }], ..VALID };
}

fn main() {}
