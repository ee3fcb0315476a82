//! The way to the terminal: whatever strangers wrote, it steers nothing there, also where nobody thought of it.

macro_rules! shown_print {
    ($($argument:tt)*) => {
        anstream::print!("{}", trust::text::styled(&format!($($argument)*)))
    };
}

macro_rules! shown_println {
    () => {
        anstream::println!()
    };
    ($($argument:tt)*) => {
        anstream::println!("{}", trust::text::styled(&format!($($argument)*)))
    };
}

macro_rules! shown_eprintln {
    () => {
        anstream::eprintln!()
    };
    ($($argument:tt)*) => {
        anstream::eprintln!("{}", trust::text::styled(&format!($($argument)*)))
    };
}

pub(super) use shown_eprintln as eprintln;
pub(super) use shown_print as print;
pub(super) use shown_println as println;
