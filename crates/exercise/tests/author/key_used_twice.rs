include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { requirements: &[Requirement::COALESCED_LOADS, Requirement::COALESCED_LOADS], ..VALID };
}

fn main() {}
