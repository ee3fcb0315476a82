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
mod order;
mod record;
mod roster;
mod secret;
mod terms;

pub(crate) use child::{Bench, Crowd, Stopped, judge};
pub(crate) use draw::draw;
pub(crate) use guard::{Guard, OPTION as GUARD_OPTION};
pub(crate) use handin::{Class, Handin, LeftOut, Trouble, find};
pub(crate) use interrupt::Interrupt;
pub(crate) use ledger::{Ledger, key};
pub(crate) use open::read;
pub(crate) use order::Order;
#[cfg(test)]
pub(crate) use record::Criterion;
use record::NOT_JUDGED;
pub(crate) use record::{MISSING, Record};
pub(crate) use roster::Roster;
pub(crate) use secret::Secret;
pub(crate) use terms::Terms;
