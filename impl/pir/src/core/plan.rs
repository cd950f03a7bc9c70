//! The operations of a description: phases, their steps, and the work of each.

use ring::Work;
pub(crate) use ring::work::count;
use serde_json::{Map, Value};

use crate::core::description::MAPPED_BYTES;

/// Work by phase, in the order of first mention. A phase has counts of its own, steps that follow one another, or both.
#[derive(Default)]
pub(crate) struct Plan(Vec<(&'static str, Map<String, Value>)>);

impl Plan {
    /// Adds work to a phase itself, not to one of its steps.
    pub fn phase(&mut self, phase: &'static str, work: Work) {
        self.entries(phase).extend(counts(&work));
    }

    /// Adds the work of a phase whose result is kept. If it is streamed, each answer does this work again outside the clock, which is the
    /// phase `streaming`.
    pub fn kept(&mut self, phase: &'static str, streamed: bool, work: Work) {
        self.phase(if streamed { "streaming" } else { phase }, work);
    }

    /// Adds work to a step of a phase.
    pub fn step(&mut self, phase: &'static str, step: &str, work: Work) {
        self.entries(phase).insert(step.into(), counts(&work).collect());
    }

    fn entries(&mut self, phase: &'static str) -> &mut Map<String, Value> {
        let place = self.0.iter().position(|(name, _)| *name == phase).unwrap_or(self.0.len());
        if place == self.0.len() {
            self.0.push((phase, Map::new()));
        }
        &mut self.0[place].1
    }

    /// The JSON form of [`Description::operations`](crate::core::description::Description::operations).
    pub fn operations(self) -> Map<String, Value> {
        self.0.into_iter().map(|(phase, entries)| (phase.into(), entries.into())).collect()
    }
}

fn counts(work: &Work) -> impl Iterator<Item = (String, Value)> {
    work.counts().map(|(kind, number)| (kind, number.into()))
}

/// Bytes of new memory that a message takes in each exchange: all its bytes, or none where the allocator keeps its pages.
pub(crate) fn new_memory(message_bytes: u64) -> u64 {
    if message_bytes >= MAPPED_BYTES { message_bytes } else { 0 }
}

/// A struct of what a layout says, made by its function `new`: each key is there once, with its type and its value.
macro_rules! numbers {
    ($(#[$meta:meta])* pub struct $name:ident $(<$generic:ident: $bound:path>)? ($($given:ident: $of:ty),*) {
        $($(#[$attribute:meta])* $key:ident: $type:ty = $value:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(serde::Serialize, schemars::JsonSchema)]
        pub struct $name {
            $($(#[$attribute])* $key: $type,)*
        }

        impl $name {
            pub(crate) fn new$(<$generic: $bound>)?($($given: $of),*) -> Self {
                Self { $($key: $value,)* }
            }
        }
    };
}
pub(crate) use numbers;
