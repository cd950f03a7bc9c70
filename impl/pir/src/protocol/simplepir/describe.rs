//! SimplePIR's layout, bytes, memory, operations and LWE instance.

use lattice::lwe::{QUERY_CHUNK_ROWS, encrypt_zero_work};
use ring::matrix::packed::{matmul_work, matvec_work, queries_work};
use ring::{Kind, Work};

use super::Set;
use super::server::delta_bytes;
use crate::core::plan::{Plan, count, new_memory};
use crate::core::runner::PROCESS_BYTES;
use crate::core::seed::SEED_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::lwe_matrix::{Layout, hint_buffers_bytes};

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = params.layout(workload.shape)?;
    let (n, rows, columns) = (params.lwe.dimension as u64, layout.rows as u64, layout.columns as u64);
    let (queries, wide) = (workload.queries, layout.code.entries_per_record());
    let stored = layout.stored_bytes();
    let mut sizes = Sizes { layout: layout.describe(), ..Sizes::default() };

    let hint = SEED_BYTES as u64 + 4 * rows * n;
    sizes.message("hint", Direction::Download, "offline", hint, "4 rows n + 16", None);
    sizes.message("query", Direction::Upload, "query", 4 * columns * queries, "4 columns k", Some(queries));
    sizes.message("answer", Direction::Download, "answer", 4 * rows * queries, "4 rows k", Some(queries));
    let delta = delta_bytes(workload.updates, wide);
    if workload.updates > 0 && delta >= hint {
        sizes.message("hint", Direction::Download, "update", hint, "4 rows n + 16", None);
    } else if workload.updates > 0 {
        sizes.message("hint_delta", Direction::Download, "update", delta, "u (8 + 2 ne)", None);
    }

    // While a batch is answered: the queries as received, as words and prepared, and the answers twice. While it is requested: rows of
    // the public matrix.
    let online = queries * (12 * columns + 8 * rows) + 4 * n * columns.min(QUERY_CHUNK_ROWS as u64);
    // Changed rows of the hint: at the server and at the client, or at the server and in a new hint message.
    let changed_rows = (workload.updates * wide).min(rows) * n * 4;
    let update = changed_rows + if delta >= hint { hint } else { changed_rows };
    sizes.memory = MemoryMap {
        server: vec![TableBytes::new("database", stored), TableBytes::new("hint", hint)],
        client: vec![TableBytes::new("hint", hint)],
        // Server and client share the hint message in one process.
        peak_bytes: PROCESS_BYTES
            + layout.memory_bytes()
            + hint
            + hint_buffers_bytes(layout.columns, params.lwe.dimension)
                .max(online + if workload.updates > 0 { update } else { 0 }),
    };

    sizes.operations = operations_of(n, &layout, workload);
    sizes.instances = vec![params.lwe.instance("query", columns, "the column of the record asked for")];
    Ok(sizes)
}

/// Work by phase, in dimension n.
fn operations_of(n: u64, layout: &Layout, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let Workload { queries, updates, .. } = *workload;
    let (rows, columns, stored) = (layout.rows as u64, layout.columns as u64, layout.stored_bytes());
    let wide = layout.code.entries_per_record();
    let conversions = if layout.code.is_packed() { 0 } else { layout.entries() };
    let mut plan = Plan::default();
    plan.phase("encode", [(Kind::BytesWritten, stored), (Kind::DigitConversions, conversions)].into());
    let hint = [(Kind::PrgBytes, 4 * columns * n), (Kind::AllocatedBytes, 4 * rows * n)];
    plan.phase("hint", matmul_work(rows, columns, n) + hint.into());
    let rest =
        [(Kind::AllocatedBytes, 4 * n * columns.min(QUERY_CHUNK_ROWS as u64)), (Kind::WordsWritten, columns * queries)];
    plan.phase("query", encrypt_zero_work(columns, n, queries) + rest.into());
    let messages = [
        (Kind::WordsRead, columns * queries),
        (Kind::WordsWritten, rows * queries),
        (Kind::AllocatedBytes, new_memory(count(&[4, rows, queries]))),
        (Kind::Queries, queries - 1),
    ];
    let product = matvec_work(rows, columns, stored, queries) + queries_work(rows, columns, queries);
    plan.phase("answer", product + messages.into());
    let extracted = [(Kind::MultiplyAddsU32, count(&[wide, n, queries])), (Kind::WordsRead, rows * queries)];
    plan.phase("extract", extracted.into());
    for phase in ["update_server", "update_client"] {
        plan.phase(phase, Work::of(Kind::MultiplyAddsU32, &[updates, wide, n]));
    }
    plan.operations()
}
