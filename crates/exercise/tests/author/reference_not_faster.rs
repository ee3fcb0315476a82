include!("common/valid.rs");

exercise::exercise! {
    pub const EXERCISE: Exercise = Exercise { speed: Some(Speed { h200_reference: Some(1.0), ..SPEED }), ..VALID };
}

fn main() {}
