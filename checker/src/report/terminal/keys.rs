//! Keys, one at a time, where there is a terminal to press them on.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstream::println;
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal;
use owo_colors::OwoColorize;

use crate::workspace::Workspace;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Run,
    Hint,
    Next,
    Quit,
}

/// A terminal that keys come from.
pub(crate) struct Keys(());

impl Keys {
    /// `None` if standard input is no terminal. From now on, whoever ends this process from outside gets back a terminal
    /// that is not raw.
    pub(crate) fn of_this_terminal() -> Option<Keys> {
        if !io::stdin().is_terminal() {
            return None;
        }
        #[cfg(unix)]
        tidy_up_on_signals();
        Some(Keys(()))
    }

    /// Waits for a key, at most for `time`. Without a terminal it only waits.
    ///
    /// # Errors
    /// If the terminal fails.
    pub(crate) fn wait(keys: Option<&Keys>, time: Duration) -> io::Result<Option<Key>> {
        if keys.is_none() {
            std::thread::sleep(time);
            return Ok(None);
        }
        // Raw only while waiting: whatever is printed, or panics, finds the terminal as it was.
        let _raw = Raw::enter()?;
        if !event::poll(time)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind == KeyEventKind::Press => {
                key_of(key.code, key.modifiers.contains(KeyModifiers::CONTROL))
            }
            _ => None,
        })
    }
}

fn key_of(code: KeyCode, with_control: bool) -> Option<Key> {
    match (code, with_control) {
        (KeyCode::Char('c' | 'd'), true) => Some(Key::Quit),
        (KeyCode::Char('q') | KeyCode::Esc, false) => Some(Key::Quit),
        (KeyCode::Char('r') | KeyCode::Enter, false) => Some(Key::Run),
        (KeyCode::Char('h'), false) => Some(Key::Hint),
        (KeyCode::Char('n'), false) => Some(Key::Next),
        _ => None,
    }
}

/// Who changes the terminal's mode. A process about to end keeps it, so that nobody makes the terminal raw again.
static MODE: Mutex<()> = Mutex::new(());

/// Before the process ends by a signal, makes the terminal what it was.
#[cfg(unix)]
fn tidy_up_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // A system that has no signals to offer has none to send either.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _mode = MODE.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = terminal::disable_raw_mode();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Raw mode for as long as it lives.
struct Raw;

impl Raw {
    fn enter() -> io::Result<Raw> {
        let _mode = MODE.lock().unwrap_or_else(PoisonError::into_inner);
        terminal::enable_raw_mode()?;
        Ok(Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
    }
}

/// Clears the screen, if there is one.
pub(crate) fn clear() {
    if io::stdout().is_terminal() {
        // The screen and what was scrolled off it.
        print!("\x1b[2J\x1b[3J\x1b[H");
    }
}

/// Says what is watched, and what can be done meanwhile.
pub(crate) fn watching(kernel: &Path, has_keys: bool) {
    let keys = if has_keys {
        "r: run, h: hint, n: next exercise, q: quit"
    } else {
        "no terminal, so there are no keys; Ctrl-C ends"
    };
    println!("\n{}", format!("watching {} ({keys})", Workspace::shown(kernel)).dimmed());
}

/// Says that there is no next exercise.
pub(crate) fn was_last() {
    println!("that was the last exercise");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_c_quits_although_the_terminal_is_raw() {
        assert_eq!(key_of(KeyCode::Char('c'), true), Some(Key::Quit));
        assert_eq!(key_of(KeyCode::Char('c'), false), None);
        assert_eq!(key_of(KeyCode::Char('h'), false), Some(Key::Hint));
    }
}
