//! What the grader tells a judging process, through a pipe: nobody else can read it there, and nothing stays behind.

use std::io::{self, Read};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::submission::MOST_BYTES;

/// Longer than any order is in JSON, in bytes: a character takes six at most.
const MOST: u64 = 6 * MOST_BYTES + 4096;

/// What to judge, beside the exercise and the engine, which are no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The submission.
    pub(crate) text: String,
    /// Of the inputs.
    pub(crate) seed: u64,
    /// What the grader waits for at most: the simulator's own clock must not end a kernel before.
    pub(crate) wall_limit: Duration,
}

impl Order {
    /// As [`Order::receive`] reads it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Plain data can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the order on `from`, to its end.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn receive(from: impl Read) -> io::Result<Order> {
        let mut bytes = Vec::new();
        from.take(MOST).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        let text = "\u{1}\u{202e}\"\\\n".repeat(1 << 17);
        let order = Order { text, seed: u64::MAX, wall_limit: Duration::from_millis(1500) };
        assert_eq!(Order::receive(order.to_bytes().as_slice()).expect("an order"), order);
        assert!(Order::receive(&b"{"[..]).is_err());
    }
}
