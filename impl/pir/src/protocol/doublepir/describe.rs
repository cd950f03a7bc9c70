//! DoublePIR's layout, bytes, memory, operations and LWE instances.

use lattice::lwe::{QUERY_CHUNK_ROWS, encrypt_zero_work};
use ring::matrix::packed::{CHUNK, matmul_work, matvec_work, queries_work};
use ring::{Kind, Work};

use super::Set;
use super::set::Layers;
use crate::core::plan::{Plan, count, new_memory, numbers};
use crate::core::runner::PROCESS_BYTES;
use crate::core::{Direction, MemoryMap, Result, Sizes, TableBytes, Workload};
use crate::parts::lwe_matrix::{LinearNumbers, hint_buffers_bytes};

numbers! {
    /// DoublePIR's layout.
    pub struct Numbers(layers: &Layers) {
        #[serde(flatten)]
        first: LinearNumbers = LinearNumbers::new(&layers.first),
        hint_copies: usize = layers.copies,
        groups: usize = layers.groups,
        second_queries: usize = layers.second_queries,
        digits: usize = layers.gadget.length(),
        second_rows: usize = layers.second_rows(),
        second_entry_bits: u32 = layers.second_width(),
        second_stored_bytes: u64 = layers.second_stored_bytes(),
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layers = params.layers(workload.shape)?;
    let first = layers.first;
    let (n, columns, groups) = (params.lwe.dimension as u64, first.columns as u64, layers.groups as u64);
    let queries = workload.queries;

    let mut sizes = Sizes::of(&Numbers::new(&layers));

    let hint = layers.hint_bytes() as u64;
    let up = count(&[4, layers.query_words() as u64, queries]);
    let down = count(&[4, layers.answer_words() as u64, queries]);
    sizes.message("hint", Direction::Download, "offline", hint, "4 digits X n^2 + 32", None);
    sizes.message("query", Direction::Upload, "query", up, "4 (columns + J G) k", Some(queries));
    let formula = "4 (digits X n + J digits X n + J digits X) k";
    sizes.message("answer", Direction::Download, "answer", down, formula, Some(queries));
    let delta = workload.updates * layers.change_bytes();
    if workload.updates > 0 && delta >= hint {
        sizes.message("hint", Direction::Download, "update", hint, "4 digits X n^2 + 32", None);
    } else if workload.updates > 0 {
        sizes.message("hint_delta", Direction::Download, "update", delta, "u (8 + ne n digits change_bits / 8)", None);
    }

    let (stored, second_stored, second_matrix) = (first.stored_bytes(), layers.second_stored_bytes(), 4 * groups * n);
    sizes.memory = MemoryMap {
        server: vec![
            TableBytes::new("database", stored),
            TableBytes::new("first hint digits", second_stored),
            TableBytes::new("second public matrix", second_matrix),
            TableBytes::new("hint", hint),
        ],
        client: vec![TableBytes::new("hint", hint)],
        peak_bytes: (PROCESS_BYTES + first.memory_bytes()).saturating_add(peak_beside_database(params, workload)?),
    };

    sizes.operations = operations_of(&layers, workload);
    sizes.instances = vec![
        params.lwe.instance("first_query", columns, "the column of the record asked for"),
        params.lwe.instance("second_query", groups, "the row of the record asked for"),
    ];
    Ok(sizes)
}

/// Work by phase and step.
fn operations_of(layers: &Layers, workload: &Workload) -> serde_json::Map<String, serde_json::Value> {
    let (first, queries) = (layers.first, workload.queries);
    let (n, rows, columns) = (layers.dimension as u64, first.rows as u64, first.columns as u64);
    let (groups, length) = (layers.groups as u64, layers.gadget.length() as u64);
    let (digit_rows, second_rows) = (layers.digit_rows() as u64, layers.second_rows() as u64);
    let [up, down] = [layers.query_words(), layers.answer_words()].map(|words| count(&[words as u64, queries]));
    let (wide, hint) = (first.code.entries_per_record(), layers.hint_bytes() as u64);
    let seconds = count(&[layers.second_queries as u64, queries]);
    let mut plan = Plan::default();
    plan.phase("encode", first.encode_work());
    let made = [
        (Kind::PrgBytes, 4 * n * (columns + 2 * groups)),
        (Kind::BalancedDigits, second_rows * groups),
        (Kind::AllocatedBytes, 4 * rows * n + hint),
    ];
    plan.phase("hint", matmul_work(rows, columns, n) + matmul_work(second_rows, groups, n) + made.into());
    let rest = [(Kind::AllocatedBytes, 4 * n * columns.min(QUERY_CHUNK_ROWS as u64)), (Kind::WordsWritten, up)];
    plan.phase("query", encrypt_zero_work(columns, n, queries) + encrypt_zero_work(groups, n, seconds) + rest.into());
    let messages = [
        (Kind::WordsRead, up),
        (Kind::WordsWritten, down),
        (Kind::AllocatedBytes, new_memory(count(&[4, down])) + new_memory(count(&[4, digit_rows, n, queries]))),
        (Kind::Queries, queries - 1),
    ];
    plan.phase("answer", messages.into());
    let product = matvec_work(rows, columns, first.stored_bytes(), queries) + queries_work(rows, columns, queries);
    plan.step("answer", "first_product", product);
    plan.step("answer", "digits", Work::of(Kind::BalancedDigits, &[digit_rows, groups, queries]));
    let products = count(&[digit_rows, groups, n + layers.second_queries as u64, queries]);
    plan.step("answer", "hint_product", [(Kind::MultiplyAddsU32, products), (Kind::BytesRead, 4 * groups * n)].into());
    let padded = groups.next_multiple_of(CHUNK as u64);
    let product = matvec_work(second_rows, padded, layers.second_stored_bytes(), seconds);
    plan.step("answer", "second_product", product + queries_work(second_rows, groups, seconds));
    let extracted = [
        (Kind::MultiplyAddsU32, count(&[wide, n + 1, length, n, queries])),
        (Kind::BytesRead, count(&[hint, seconds])),
        (Kind::WordsRead, down),
    ];
    plan.phase("extract", extracted.into());
    for phase in ["update_server", "update_client"] {
        plan.phase(phase, Work::of(Kind::MultiplyAddsU32, &[workload.updates, wide, n, n, length]));
    }
    plan.operations()
}

/// Most bytes of everything else that is alive at one time.
fn peak_beside_database(params: &Set, workload: &Workload) -> Result<u64> {
    let layers = params.layers(workload.shape)?;
    let (n, groups, queries) = (layers.dimension as u64, layers.groups as u64, workload.queries);
    let second = layers.second_memory_bytes();
    let hint = layers.hint_bytes() as u64;
    let matrix = 4 * groups * n;
    let first_hint = 4 * layers.first.rows as u64 * n;
    let buffers = |columns: usize| hint_buffers_bytes(columns, layers.dimension);
    let first_layer = first_hint + buffers(layers.first.columns);
    let digits = first_hint + second + 2 * 16 * layers.gadget.length() as u64 * groups;
    let second_layer = second + hint + buffers(layers.groups);
    // While a batch is answered: queries as words and prepared, first answers and their digits, answers twice, and the
    // logged errors, one a word of the answer, in a vector that grows. While it is requested: rows of a public matrix.
    let words = |copies: u64, words: usize| count(&[4, copies, words as u64, queries]);
    let online = words(3, layers.query_words())
        .saturating_add(words(4, layers.first.rows))
        .saturating_add(words(4, layers.answer_words()))
        .saturating_add(4 * n * QUERY_CHUNK_ROWS.min(layers.first.columns) as u64);
    let kept = second + matrix + hint;
    // After an update, client and server no longer share the hint's bytes.
    let own_hint = if workload.updates > 0 { hint } else { 0 };
    // An update builds a new hint while the client still holds the old one, with the message (at most twice) and one
    // record's changed digits twice.
    let message = workload.updates * layers.change_bytes();
    let wide = layers.first.code.entries_per_record();
    let digits_of_one = wide * n * (4 * layers.gadget.length() as u64 + 4);
    let message = if message < hint { 2 * message } else { 0 };
    let update = if workload.updates > 0 { kept + hint + message + digits_of_one } else { 0 };
    Ok([first_layer, digits, second_layer, kept.saturating_add(online).saturating_add(own_hint), update]
        .into_iter()
        .max()
        .unwrap_or(0))
}
