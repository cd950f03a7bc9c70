//! Parameters of BFV encryption, as protocols share them: the ring, the moduli of slots, the digits of keys, and answers.

mod answer;
mod family;
mod keyed;
mod keys;
mod query;
mod secret;
mod slots;
mod table;

pub use answer::{
    AnswerKey, AnswerOpener, Switch, answer_bytes, for_each_answer, half_bytes, write_ciphertext, write_coefficients,
    write_half, write_work,
};
pub use family::{FamilyRing, Plaintext};
pub use keyed::KeyedRing;
pub use keys::{ServerKeys, write_keys};
pub use query::{Asked, query_bytes, read_queries, write_query};
pub use secret::BfvSecret;
pub use slots::BfvRing;
pub use table::{MAX_PRIME_BITS, RingTable, party_bytes};
