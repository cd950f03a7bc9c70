//! Packing at toy size against a slow reference, and its properties.

mod oracle;
mod properties;
