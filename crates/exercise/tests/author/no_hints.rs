include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { hints: ["", "the idea", "nearly the code"], ..VALID };
}

fn main() {}
