//! Grading a class, apart from judging: what was handed in and by whom, how the work is dealt out, which of
//! several results counts, what it is worth, and the files that gradebooks take.
//!
//! ```text
//! Canvas, Gradescope, Moodle, folders --import--> Class --plan--> Plan --(judged elsewhere)--> results/*.jsonl
//! Class + Roster + Policy + merged results --mark--> Gradebook --> CSV, Canvas, Moodle, JUnit, JSON, pages
//! ```
//!
//! Nothing here runs or compiles anything. Everything that students wrote, names included, is taken for
//! hostile.

mod class;
mod course;
pub mod gradebook;
pub mod gradescope;
pub mod import;
mod job;
mod label;
mod ledger;
mod mark;
mod outcome;
pub mod page;
mod plan;
mod policy;
mod roster;
mod shard;
mod similarity;
mod state;
mod store;

pub use class::{Class, Handin, Person};
pub use course::{Course, Exercise};
pub use job::{Job, most_tasks};
pub use label::{clean, file_safe};
pub use ledger::{Merged, Writer, merge};
pub use mark::{Mark, Standing, mark};
pub use outcome::{Criterion, Outcome, Weight};
pub use plan::{Cell, Judge, Plan, PlanError, Secret, TaskSize};
pub use policy::{Policy, PolicyError};
pub use roster::{Kind, Roster, RosterError, Row};
pub use shard::{Environment, Shard};
pub use similarity::{Exported, export};
pub use state::{Count, PlanState};
pub use store::{StoreError, write_whole};
