//! The common part of the descriptions of protocols over rings whose clients' state follows from a public seed.

use lattice::pack::Method;
use serde_json::{Map, Value, json};

use super::{Gadget, Rlwe, Switch};
use crate::core::plan::{count, operations};
use crate::core::runner::PROCESS_BYTES;
use crate::core::seed::SEED_BYTES;
use crate::core::{Direction, MemoryMap, Sizes, TableBytes};

/// The part of a layout that states the ring, how answers are packed and switched, the number of packing tables, and how many of these
/// an update rebuilds.
pub(crate) fn ring_numbers(
    rlwe: &Rlwe,
    (method, gadget): (Method, Gadget),
    switch: Switch,
    [tables, rebuilt]: [u64; 2],
) -> Map<String, Value> {
    operations(json!({
        "tables": tables,
        "tables_rebuilt": rebuilt,
        "packing": method.to_string(),
        "packing_gadget": gadget.describe(rlwe.modulus()),
        "mask_modulus": switch.mask_modulus,
        "body_modulus": switch.body_modulus,
        "ring_degree": rlwe.degree,
        "ring_modulus": rlwe.modulus(),
    }))
}

/// The messages of clients that fetch a seed: those of a query, by name, bytes a query and formula (those of zero bytes are not sent), and
/// the answer.
pub(crate) fn seed_messages(
    sizes: &mut Sizes,
    queries: u64,
    asked: &[(&str, u64, &str)],
    (answer, formula): (u64, &str),
) {
    sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
    for (name, bytes, formula) in asked.iter().filter(|(_, bytes, _)| *bytes > 0) {
        sizes.message(name, Direction::Upload, "query", count(&[*bytes, queries]), formula, Some(queries));
    }
    sizes.message("answer", Direction::Download, "answer", count(&[answer, queries]), formula, Some(queries));
}

/// Memory of a server and a client in one process: the server's tables, the masks of packing keys, which the client has too, and at most
/// `working` bytes beside them.
pub(crate) fn seed_memory(server: Vec<TableBytes>, key_masks: u64, working: u64) -> MemoryMap {
    let kept = server.iter().fold(0u64, |sum, table| sum.saturating_add(table.bytes));
    MemoryMap {
        server,
        client: vec![TableBytes::new("seed", SEED_BYTES as u64), TableBytes::new("packing key masks", key_masks)],
        peak_bytes: kept.saturating_add(working).saturating_add(key_masks + PROCESS_BYTES),
    }
}
