//! Piano's layout, bytes, memory and operations.

use ring::{Kind, Work};
use serde_json::{Map, Value};

use super::hints::Entries;
use super::layout::Layout;
use super::set::{Answer, Set};
use crate::core::plan::{Plan, count, new_memory, numbers};
use crate::core::runner::PROGRAM_BYTES;
use crate::core::seed::SEED_BYTES;
use crate::core::{Direction, Error, MemoryMap, Result, Sizes, TableBytes, Workload};

/// Bytes that client and server note of a query beside its places and entries, in tables that double and in small blocks.
const QUERY_BYTES: u64 = 512;

numbers! {
    /// Piano's layout.
    pub struct Numbers(layout: &Layout) {
        records_per_entry: u64 = layout.records_per_entry,
        entry_bytes: usize = layout.entry_bytes(),
        entries: u64 = layout.entries,
        chunk: usize = layout.chunk,
        chunks: usize = layout.chunks,
        window: u64 = layout.window,
        hints: usize = layout.hints,
        backups: usize = layout.backups,
        replacements: usize = layout.replacements,
        offset_bits: u32 = layout.written_bits(),
        sums: usize = layout.answer().sums(layout.chunks),
    }
}

pub(super) fn describe(params: &Set, workload: &Workload) -> Result<Sizes> {
    let layout = Layout::new(params, workload.shape)?;
    let Workload { queries, updates, .. } = *workload;
    let entry = layout.entry_bytes() as u64;
    let stored = layout.positions() * entry;
    if queries > layout.window {
        let problem = format!("{queries} queries together are more than the {} of a window.", layout.window);
        return Err(Error::Workload(problem));
    }
    let mut sizes = Sizes::of(&Numbers::new(&layout));
    sizes.message("seed", Direction::Download, "offline", SEED_BYTES as u64, "16", None);
    sizes.message_in_parts("database", "S C e", (stored, layout.parts()), layout.window);
    let formula = match (layout.answer(), layout.written_bits()) {
        (Answer::Sum, u64::BITS) => "8 S k",
        (Answer::Sum, _) => "S log2(C) / 8 k",
        (Answer::SumOfEachChunk, u64::BITS) => "8 (S - 1) k",
        (Answer::SumOfEachChunk, _) => "(S - 1) log2(C) / 8 k",
    };
    let query = layout.query_bytes() as u64 * queries;
    sizes.message("query", Direction::Upload, "query", query, formula, Some(queries));
    let formula = if layout.answer() == Answer::Sum { "e k" } else { "S e k" };
    let answer = layout.answer_bytes() as u64 * queries;
    sizes.message("answer", Direction::Download, "answer", answer, formula, Some(queries));
    if updates > 0 {
        let delta = updates * (8 + workload.shape.record_bytes() as u64);
        sizes.message("hint_delta", Direction::Download, "update", delta, "u (8 + w / 8)", None);
    }
    let (hints, spares) = (layout.hints as u64, (layout.chunks * layout.backups) as u64);
    let replacements = (layout.chunks * layout.replacements) as u64;
    let mut client = vec![
        TableBytes::new("hints", hints * (entry + 8)),
        TableBytes::new("spare_hints", spares * entry + 4 * layout.chunks as u64),
        TableBytes::new("replacements", replacements * (entry + 4)),
    ];
    let kept: u64 = client.iter().map(|table| table.bytes).sum();
    // Hints of the next window grow while this one serves; entries of the window before serve answers that come late.
    client.push(TableBytes::new("next_window", kept));
    client.push(TableBytes::new("known_entries", 2 * Entries::bytes(layout.window, entry)));
    sizes.memory = MemoryMap {
        server: vec![TableBytes::new("database", stored)],
        client,
        // Beside the tables, a part of the database as a message and as words, and which of its entries are in a set. A run reads one window, and
        // every table is one block, of which the allocator keeps none. While a batch is answered, the client has the set of each query, its sum and
        // its replacement, and the server the places and the sums, which it copies into a message.
        peak_bytes: PROGRAM_BYTES
            + stored
            + kept
            + 2 * layout.part_bytes() as u64
            + 4 * layout.chunk as u64
            + query
            + queries * (8 * layout.chunks as u64 + 2 * entry + QUERY_BYTES)
            + 2 * answer,
    };
    sizes.operations = operations_of(&layout, workload);
    Ok(sizes)
}

fn operations_of(layout: &Layout, workload: &Workload) -> Map<String, Value> {
    let Workload { queries, updates, .. } = *workload;
    let (chunk, chunks, words) = (layout.chunk as u64, layout.chunks as u64, layout.entry_words as u64);
    let (tags, quads) = (layout.tags() as u64, layout.parts());
    let mut plan = Plan::default();
    plan.phase(
        "encode",
        [(Kind::BytesWritten, layout.positions() * layout.entry_bytes() as u64), (Kind::PrfBlocks, 8 * layout.entries)]
            .into(),
    );
    let sets = [(Kind::PrgBytes, count(&[16, tags, quads])), (Kind::HintWords64, count(&[tags, chunks, words]))];
    plan.phase("read_database", sets.into());
    // The first hint that holds an entry is the chunk-th or so; then its set is made.
    let search = [(Kind::PrfBlocks, count(&[queries, chunk + quads])), (Kind::WordsWritten, count(&[queries, chunks]))];
    plan.phase("query", search.into());
    let named = layout.answer().named(layout.chunks) as u64;
    let reads = [
        (Kind::RandomReads, count(&[queries, named, layout.answer().reads()])),
        (Kind::WordsRead, count(&[queries, named])),
        (Kind::WordsWritten, layout.answer_bytes() as u64 / 4 * queries),
        (Kind::AllocatedBytes, new_memory(layout.answer_bytes() as u64 * queries)),
    ];
    plan.phase("answer", reads.into());
    plan.phase("extract", Work::of(Kind::WordsRead, &[queries, layout.answer_bytes() as u64 / 4]));
    plan.phase("update_server", Work::of(Kind::RandomReads, &[updates]));
    plan.phase("update_client", Work::of(Kind::PrfBlocks, &[updates, tags]));
    plan.operations()
}
