//! Layout, bytes, memory, operations and LWE instance.

use lattice::lwe::{QUERY_CHUNK_ROWS, encrypt_zero_work};
use ring::matrix::packed::{matmul_work, matvec_work, queries_work};
use ring::{Kind, Work};

use super::Set;
use super::server::delta_bytes;
use crate::core::plan::{Plan, count, new_memory};
use crate::core::runner::PROGRAM_BYTES;
use crate::core::seed::SEED_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::lwe_matrix::{Layout, LinearNumbers, hint_buffers_bytes};

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = params.layout(workload.shape)?;
    let (n, rows, columns) = (params.lwe.dimension as u64, layout.rows as u64, layout.columns as u64);
    let (queries, wide) = (workload.queries, layout.code.entries_per_record());
    let stored = layout.stored_bytes();
    let mut sizes = Sizes::of(&LinearNumbers::new(&layout));

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
    // the public matrix. Of a query made ahead: its secret, its body, which becomes the query, and its products with the hint.
    let [ahead, beside] = match params.shards {
        Some(_) => [columns + rows + n, rows + n].map(|words| 4 * queries * words),
        None => [0, 0],
    };
    let online = queries * (12 * columns + 8 * rows) + 4 * n * columns.min(QUERY_CHUNK_ROWS as u64) + beside;
    // Changed rows of the hint: at the server and at the client, or at the server and in a new hint message.
    let changed_rows = (workload.updates * wide).min(rows) * n * 4;
    let update = changed_rows + if delta >= hint { hint } else { changed_rows };
    sizes.memory = MemoryMap {
        server: vec![TableBytes::new("database", stored), TableBytes::new("hint", hint)],
        client: if ahead > 0 {
            vec![TableBytes::new("hint", hint), TableBytes::new("ahead", ahead)]
        } else {
            vec![TableBytes::new("hint", hint)]
        },
        // Server and client share the hint message in one process.
        peak_bytes: PROGRAM_BYTES
            + layout.memory_bytes()
            + hint
            + hint_buffers_bytes(layout.columns, params.lwe.dimension)
                .max(online + if workload.updates > 0 { update } else { 0 }),
    };

    sizes.operations = operations_of(params, &layout, workload);
    sizes.instances = vec![params.lwe.instance("query", columns, "the column of the record asked for")];
    Ok(sizes)
}

/// Work by phase.
fn operations_of(params: &Set, layout: &Layout, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let n = params.lwe.dimension as u64;
    let Workload { queries, updates, .. } = *workload;
    let (rows, columns, stored) = (layout.rows as u64, layout.columns as u64, layout.stored_bytes());
    let wide = layout.code.entries_per_record();
    let mut plan = Plan::default();
    plan.phase("encode", layout.encode_work());
    let hint = [(Kind::PrgBytes, 4 * columns * n), (Kind::AllocatedBytes, 4 * rows * n)];
    plan.phase("hint", matmul_work(rows, columns, n) + hint.into());
    let chunk = Work::of(Kind::AllocatedBytes, &[4, n, columns.min(QUERY_CHUNK_ROWS as u64)]);
    let encrypted = encrypt_zero_work(columns, n, queries) + chunk;
    let written = Work::of(Kind::WordsWritten, &[columns, queries]);
    if params.shards.is_some() {
        plan.phase("precompute", encrypted + Work::of(Kind::MultiplyAddsU32, &[rows, n, queries]));
        plan.phase("query", written);
    } else {
        plan.phase("query", encrypted + written);
    }
    let messages = [
        (Kind::WordsRead, columns * queries),
        (Kind::WordsWritten, rows * queries),
        (Kind::AllocatedBytes, new_memory(count(&[4, rows, queries]))),
        (Kind::Queries, queries - 1),
    ];
    let product = matvec_work(rows, columns, stored, queries) + queries_work(rows, columns, queries);
    plan.phase("answer", product + messages.into());
    let masks = if params.shards.is_some() { 0 } else { count(&[wide, n, queries]) };
    plan.phase("extract", [(Kind::MultiplyAddsU32, masks), (Kind::WordsRead, rows * queries)].into());
    for phase in ["update_server", "update_client"] {
        plan.phase(phase, Work::of(Kind::MultiplyAddsU32, &[updates, wide, n]));
    }
    plan.operations()
}
