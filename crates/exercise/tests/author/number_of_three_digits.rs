include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { number: 100, ..VALID };
}

fn main() {}
