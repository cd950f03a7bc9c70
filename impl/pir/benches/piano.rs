//! Piano beside what bounds it: an answer beside its random reads, the pass over the database beside its AES blocks.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use pir::core::progress::Silent;
use pir::core::session::{ClientSession, ServerSession};
use pir::core::transcript::Link;
use pir::core::{Context, Database, Protocol, Shape};
use pir::protocol::piano::{Answer, Backups, Offsets, Piano, Set};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use ring::{Buffer, Kernel, Seed};

/// Records of eight bytes of the pass, whose time grows with their number.
const PASSED: u64 = 1 << 20;
/// Records of eight bytes of the answers: more than a cache holds.
const ANSWERED: u64 = 1 << 24;
/// Blocks that are made at a time, where they are measured alone.
const BLOCKS: usize = 1 << 12;

fn set(answer: Answer) -> Set {
    let backups = Backups::FailureBits(41.0);
    Set { hint_failure_bits: 41.0, backups, chunk_factor: 2, answer, offsets: Offsets::Packed }
}

fn context() -> Context<'static> {
    Context {
        kernel: Kernel::best(),
        threads: 1,
        streamed: false,
        rng: ChaCha20Rng::seed_from_u64(1),
        clock: Arc::default(),
        noise: Default::default(),
        progress: &Silent,
    }
}

fn pass(c: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let (mut context, shape) = (context(), Shape::new(PASSED, 64)?);
    let params = set(Answer::Sum);
    let mut server = ServerSession::<Piano>::new(&params, &Database::seeded([1; 16], shape), &mut context)?;
    let mut group = c.benchmark_group("piano pass");
    let (prg, mut stream) = (Seed([1; 16]).prg(), vec![0u32; 4 * BLOCKS]);
    group.sample_size(10).throughput(Throughput::Elements(BLOCKS as u64));
    group.bench_function("blocks alone", |b| b.iter(|| prg.fill_u32_at(0, black_box(&mut stream))));
    let layout = serde_json::to_value(Piano::describe(&params, &pir::core::Workload::new(shape, 1, 0)?)?.operations)?;
    let bytes = layout["read_database"]["prg_bytes"].as_u64().ok_or("no count of blocks")?;
    group.throughput(Throughput::Elements(bytes / 16));
    group.bench_function("database", |b| {
        b.iter(|| {
            let mut client = ClientSession::<Piano>::new(&params, shape, &mut context)?;
            client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context)
        });
    });
    Ok(())
}

fn answer(c: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let (mut context, shape) = (context(), Shape::new(ANSWERED, 64)?);
    let database = Database::seeded([1; 16], shape);
    let mut group = c.benchmark_group("piano answer");
    let mut table = Buffer::<u64>::zeroed(ANSWERED as usize)?;
    table.iter_mut().zip(0..).for_each(|(entry, i)| *entry = i);
    for (name, answer) in [("sum", Answer::Sum), ("sum of each chunk", Answer::SumOfEachChunk)] {
        let mut server = ServerSession::<Piano>::new(&set(answer), &database, &mut context)?;
        let mut client = ClientSession::<Piano>::new(&set(answer), shape, &mut context)?;
        client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context)?;
        // Requests in turn, so that no answer finds its entries in a cache.
        let requests: Vec<_> =
            (0..500).map(|i| client.query(&[i * 31_337 % ANSWERED], &mut context)).collect::<Result<_, _>>()?;
        let mut turns = (0..requests.len()).cycle();
        group.bench_function(name, |b| {
            b.iter(|| server.answer(&requests[turns.next().unwrap_or(0)..][..1], &mut context));
        });
    }
    let reads = 2048;
    let places: Vec<usize> = (0..500 * reads).map(|_| (context.rng.next_u64() % ANSWERED) as usize).collect();
    let mut turns = places.chunks(reads).cycle();
    group.bench_function(format!("{reads} reads alone"), |b| {
        b.iter(|| turns.next().map(|places| places.iter().fold(0, |sum, &place| sum ^ table[place])));
    });
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    pass(&mut criterion)?;
    answer(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
