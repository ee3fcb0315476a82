include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { speed: Some(Speed { goal: Goal::Within(1.0), ..SPEED }), ..VALID };
}

fn main() {}
