//! Grading a class: finding what was handed in, judging each file in a process of its own, remembering the
//! results.
//!
//! What students hand in is hostile until proven otherwise. A file is opened without following links, read
//! once, and judged from that copy; whatever it does costs its own cell of the table and nothing else.

mod child;
mod draw;
mod guard;
mod handin;
mod interrupt;
mod ledger;
mod open;
mod record;

pub(crate) use child::{Bench, judge};
pub(crate) use draw::draw;
pub(crate) use guard::{Guard, OPTION as GUARD_OPTION};
pub(crate) use handin::{Class, Handin, find};
pub(crate) use interrupt::Interrupt;
pub(crate) use ledger::{Ledger, key};
pub(crate) use open::read;
#[cfg(test)]
pub(crate) use record::Criterion;
pub(crate) use record::{MISSING, Record};
