//! Piano beside what bounds it: an answer beside its random reads, the pass over the database beside its AES blocks.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput};
use pir::core::progress::Silent;
use pir::core::session::{ClientSession, ServerSession};
use pir::core::transcript::Link;
use pir::core::{Context, Database, Protocol, Shape};
use pir::protocol::piano::{Answer, Backups, Offsets, Piano, Set};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use ring::bandwidth::Probe;
use ring::{Buffer, Kernel, Seed};

/// Records of eight bytes of the pass, whose time grows with their number.
const PASSED: u64 = 1 << 20;
/// Records of eight bytes of the answers: those of DEPIR's Table 4, and few where only a test runs.
const ANSWERED: u64 = if cfg!(debug_assertions) { 1 << 16 } else { 1 << 27 };
/// Bytes that are read before each answer: several times the last-level cache.
const EMPTYING_BYTES: usize = if cfg!(debug_assertions) { 1 << 20 } else { 1 << 30 };
/// Blocks that are made at a time, where they are measured alone.
const BLOCKS: usize = 1 << 12;

fn set(answer: Answer, offsets: Offsets) -> Set {
    let backups = Backups::FailureBits(41.0);
    Set { hint_failure_bits: 41.0, backups, chunk_factor: 2, answer, offsets }
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
    let params = set(Answer::Sum, Offsets::Packed);
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

/// Answers, and reads alone at as many random places of as large a table. Before each call all pages of the table are touched, as before a row's
/// repetitions; then all caches are emptied, and the message, or the places, are read: they have just arrived.
fn answer(c: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let (mut context, shape) = (context(), Shape::new(ANSWERED, 64)?);
    let database = Database::seeded([1; 16], shape);
    let probe = Probe::new(Kernel::best(), EMPTYING_BYTES)?;
    let way = probe.fastest();
    let empty = || probe.once(way.streams, way.ahead);
    let mut table = Buffer::<u64>::zeroed(ANSWERED as usize)?;
    table.iter_mut().zip(0..).for_each(|(entry, i)| *entry = i);
    let mut group = c.benchmark_group("piano answer");
    // As many calls as samples: emptying takes far longer than what is measured.
    group.sample_size(20).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(1));
    let variants = [
        ("published", set(Answer::Sum, Offsets::Words)),
        ("packed", set(Answer::Sum, Offsets::Packed)),
        ("conference", set(Answer::SumOfEachChunk, Offsets::Packed)),
    ];
    for (name, set) in variants {
        let mut server = ServerSession::<Piano>::new(&set, &database, &mut context)?;
        let mut client = ClientSession::<Piano>::new(&set, shape, &mut context)?;
        client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context)?;
        let plan = serde_json::to_value(Piano::describe(&set, &pir::core::Workload::new(shape, 1, 0)?)?.operations)?;
        let reads = plan["answer"]["random_reads"].as_u64().ok_or("no count of reads")?;
        let requests: Vec<_> =
            (0..50).map(|i| client.query(&[i * 31_337 % ANSWERED], &mut context)).collect::<Result<_, _>>()?;
        let mut requests = requests.chunks(1).cycle();
        group.bench_function(name, |b| {
            b.iter_custom(|calls| {
                let call = |_| {
                    let request = requests.next().unwrap_or_default();
                    server.touch();
                    empty();
                    let message = request.iter().flat_map(|request| &request.messages);
                    message.for_each(|(_, frame)| drop(black_box(frame.payload().to_vec())));
                    let start = Instant::now();
                    let answer = black_box(server.answer(request, &mut context));
                    let took = start.elapsed();
                    assert!(answer.is_ok());
                    took
                };
                (0..calls).map(call).sum()
            });
        });
        group.bench_function(format!("{name}: {reads} reads alone"), |b| {
            b.iter_custom(|calls| {
                let call = |_| {
                    table.touch();
                    empty();
                    let places: Vec<u32> = (0..reads).map(|_| context.rng.next_u32() % ANSWERED as u32).collect();
                    let start = Instant::now();
                    black_box(places.iter().fold(0, |sum, &place| sum ^ table[place as usize]));
                    start.elapsed()
                };
                (0..calls).map(call).sum()
            });
        });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    pass(&mut criterion)?;
    answer(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
