//! What sets for use promise.

use super::*;
use crate::params::ParameterSet;
use crate::protocol::pirouette::query::{Bits, Index};
use crate::workload::Shape;

/// The set that was found for databases of so many records of 256 bytes, its database in memory and streamed.
fn check<F: Selecting>(log2_records: u32) {
    let path = format!("{}/../../params/{}/2^{log2_records}.toml", env!("CARGO_MANIFEST_DIR"), F::NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    let params = Params::<F>::try_new(toml::from_str(&text).unwrap()).unwrap();
    let shape = Shape::new(1 << log2_records, 2048).unwrap();
    for streamed in [false, true] {
        let workload = Workload::new(shape, 1, 0).unwrap().streamed(streamed).unwrap();
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
        assert!(answering <= keys / 2, "{path}, streamed {streamed}: {answering} bytes beside {keys} of keys");
    }
}

/// Memory while answering is at most the database, in full or the block of it that is streamed, and one and a half times the
/// expanded keys.
#[test]
fn answers_take_half_the_memory_of_keys() {
    for log2_records in [20, 22, 25, 30] {
        check::<Index>(log2_records);
        check::<Bits>(log2_records);
    }
}
