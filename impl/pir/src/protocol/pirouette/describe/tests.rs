//! What sets for use promise.

use super::*;
use crate::params::ParameterSet;
use crate::protocol::pirouette::query::{Bits, Index};
use crate::workload::Shape;

/// The sets that were found for databases of 2^20 to 2^30 records of 256 bytes.
fn check<F: Selecting>(log2_records: u32) {
    let path = format!("{}/../../params/{}/2^{log2_records}.toml", env!("CARGO_MANIFEST_DIR"), F::NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    let params = Params::<F>::try_new(toml::from_str(&text).unwrap()).unwrap();
    let shape = Shape::new(1 << log2_records, 2048).unwrap();
    // What does not fit in memory is streamed.
    let workload = Workload::new(shape, 1, 0).unwrap().streamed(log2_records > 22).unwrap();
    let ring = params.ring(Kernel::Scalar).unwrap();
    let layout = params.layout(shape).unwrap();
    let described = Described {
        params: &params,
        layout,
        workload: &workload,
        responder: Responder::new(params.response, &ring).unwrap(),
        ring,
        bits: index_bits(&layout).into(),
    };
    let keys: u64 = described.key_tables().unwrap().iter().map(|table| table.bytes).sum();
    let answering = described.answering();
    println!("{path}: {answering} bytes beside {keys} of keys");
    // A streamed answer holds a block of the database, which is less than all of it, and its vector may take that room.
    let spare = if workload.streamed { described.stored_bytes() } else { 0 };
    assert!(answering <= spare.saturating_add(keys / 2), "{path}: {answering} bytes beside {keys} of keys");
    // Sizes up to 2^25 keep it without that room.
    assert!(log2_records > 25 || answering <= keys / 2, "{path}: {answering} bytes beside {keys} of keys");
}

/// Memory while answering is at most the preprocessed database and one and a half times the expanded keys.
#[test]
fn answers_take_half_the_memory_of_keys() {
    for log2_records in [20, 22, 25, 30] {
        check::<Index>(log2_records);
        check::<Bits>(log2_records);
    }
}
