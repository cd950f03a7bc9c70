//! Packing at toy size against a slow reference, and its properties.

mod known;
mod noise;
mod oracle;
mod properties;
