//! What a client of the InsPIRe family holds while it makes a query is a small multiple of the query, whatever the database. An allocator
//! that counts is a whole program's, so that this test has one of its own.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pir::core::progress::Silent;
use pir::core::protocol::{Client, Context, Protocol};
use pir::core::set_file::ParameterFile;
use pir::core::wire::FrameBuilder;
use pir::core::workload::Shape;
use pir::protocol::inspire::Inspire;
use pir::protocol::inspire2::Inspire2;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

/// Counts what is allocated, and its peak.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all; counting touches none of its memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes at most that a client allocates, from its making to its query, and the payload bytes of that query.
fn query<P: Protocol>(set: &str, with: &[(&str, u64)], records: u64, record_bits: u64) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../params/{}/{set}.toml", P::NAME));
    let with = with.iter().map(|&(key, value)| (key.into(), value.into())).collect();
    let params: P::Set = ParameterFile::read(&path).unwrap().with(&with).unwrap().parse().unwrap();
    let shape = Shape::new(records, record_bits).unwrap();
    let mut context = Context {
        kernel: Kernel::best(),
        threads: 1,
        streamed: false,
        rng: ChaCha20Rng::seed_from_u64(1),
        clock: Arc::default(),
        noise: Default::default(),
        progress: &Silent,
    };
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut client = P::Client::new(&params, shape, &mut context).unwrap();
    let seed = FrameBuilder::new(16).finish(P::NAME, "seed");
    client.receive(vec![("seed", seed)], &mut context).unwrap();
    let (_, messages) = client.query(&[records / 2], &mut context).unwrap();
    let peak = PEAK.load(Ordering::Relaxed) - before;
    (peak, messages.iter().map(|(_, message)| message.payload().len()).sum())
}

/// Rings, gadgets and the keys of a query, whatever its length.
const CONSTANT: usize = 1 << 20;

#[test]
fn a_client_needs_memory_as_its_query_is_long() {
    // N/t from 2^12 to 2^16 of 1 GB, and 2^20 of 32 GB: written once, where it is sent from.
    for (rows, points, records) in [(1 << 12, 32, 1 << 24), (1 << 16, 4, 1 << 24), (1 << 20, 8, 1 << 29)] {
        let with = [("folding.rows", rows), ("folding.points", points)];
        let (peak, payload) = query::<Inspire>("repaired", &with, records, 512);
        assert!(peak < payload + CONSTANT, "{rows} rows: {peak} bytes for {payload}");
    }
    // Residues of four bytes modulo both primes before they are packed to 53 bits.
    for (factor, records) in [(1, 1 << 23), (8, 1 << 23), (8, 1 << 28)] {
        let (peak, payload) = query::<Inspire2>("published", &[("rows_factor", factor)], records, 1024);
        assert!(peak < 4 * payload + CONSTANT, "f = {factor}: {peak} bytes for {payload}");
    }
}
