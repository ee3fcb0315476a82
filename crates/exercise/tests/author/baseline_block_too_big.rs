include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { speed: Some(Speed { baseline: Baseline { block: [64, 64, 1], ..SPEED.baseline }, ..SPEED }), ..VALID };
}

fn main() {}
