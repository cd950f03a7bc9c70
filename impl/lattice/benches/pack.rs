//! Ring packing at N = 2048 and the modulus of InsPIRe, beside the time in which one core reads the table.
//!
//! Criterion measures packing of one output by table, for each kernel, for one client and for eight; at the end each is timed
//! interleaved with reads of a buffer of its own, and the offline part runs a few times.

use criterion::{BenchmarkId, Criterion};
use gadget::{Coins, Family};
use lattice::{Method, Packing, PackingKeys, PackingMasks, PackingTable, RingGadget, RlweKey, Secret, Workspace};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::bandwidth::Probe;
use ring::{Coefficient, DiscreteGaussian, Kernel, Ntt, Poly, Ring, Seed, StdDev};
use std::hint::black_box;
use std::time::{Duration, Instant};

const N: usize = 2048;
const PRIMES: [u64; 2] = [268_369_921, 249_561_089];

type Failure = Box<dyn std::error::Error>;

/// A packing with masks, keys and inputs.
struct Setup {
    name: String,
    packing: Packing,
    masks: PackingMasks,
    keys: PackingKeys,
    ring_masks: Vec<Poly<u32, Ntt>>,
    bodies: Poly<u32, Coefficient>,
}

impl Setup {
    fn new(kernel: Kernel, method: Method, gamma: usize, family: Family, dropped: usize) -> Result<Self, Failure> {
        let ring = Ring::new(N, &PRIMES, kernel)?;
        let gadget = RingGadget::new(&ring, family, 1 << 19, dropped)?;
        let packing = Packing::new(method, &gadget, gamma)?;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let key = RlweKey::sample(&ring, &Secret::FixedWeight { plus: 256, minus: 256 }, &mut rng)?;
        let masks = packing.masks(Seed([1; 16]));
        let keys = packing.keys(&key, &masks, &DiscreteGaussian::new(StdDev(6.4))?, &mut rng)?;
        Ok(Self {
            name: format!("{method}-{gamma}-{family}-{}", gadget.length()),
            masks,
            keys,
            ring_masks: (0..gamma).map(|_| ring.uniform(&mut rng)).collect(),
            bodies: ring.uniform(&mut rng),
            packing,
        })
    }

    fn table(&self) -> Result<PackingTable, Failure> {
        Ok(self.packing.preprocess(&self.masks, &self.ring_masks, &mut workspace())?)
    }

    /// Packs without a table.
    fn unprepared(&self) {
        let mut workspace = workspace();
        let packed =
            self.packing.pack(&self.masks, &self.keys, black_box(&self.ring_masks), &self.bodies, &mut workspace);
        assert!(packed.is_ok());
    }

    fn batch(&self, table: &PackingTable, clients: usize) {
        let batch = vec![(&self.keys, black_box(&self.bodies)); clients];
        assert!(table.pack_batch(&batch).is_ok());
    }
}

fn workspace() -> Workspace<u32> {
    Workspace::new(Coins::from_seed(Seed([2; 16])))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn seconds(call: impl FnOnce()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64()
}

/// Online: times packing interleaved with reading as many bytes as the table has.
fn online(kernel: Kernel, setups: &[Setup], probe: &Probe, bytes: usize) -> Result<(), Failure> {
    const ROUNDS: usize = 31;
    let reading = probe.fastest();
    println!(
        "\none core reads {:.1} GB/s at best; medians of {ROUNDS} interleaved rounds, {kernel}",
        reading.bytes_per_second / 1e9
    );
    println!(
        "{:<30} {:>8} {:>10} {:>12} {:>12} {:>7}",
        "online", "clients", "table MiB", "measured ms", "reading ms", "ratio"
    );
    for setup in setups {
        let table = setup.table()?;
        for clients in [1, 2, 4, 8] {
            let scale = table.bytes() as f64 / bytes as f64;
            let rounds: Vec<(f64, f64)> = (0..ROUNDS)
                .map(|_| {
                    let read = bytes as f64 / probe.once(reading.streams, reading.ahead);
                    (seconds(|| setup.batch(&table, clients)), read * scale)
                })
                .collect();
            println!(
                "{:<30} {clients:>8} {:>10.2} {:>12.3} {:>12.3} {:>7.2}",
                setup.name,
                table.bytes() as f64 / f64::from(1 << 20),
                median(rounds.iter().map(|r| r.0).collect()) * 1e3,
                median(rounds.iter().map(|r| r.1).collect()) * 1e3,
                median(rounds.iter().map(|r| r.0 / r.1).collect()),
            );
        }
    }
    Ok(())
}

/// Offline, and packing without a table.
fn offline(kernel: Kernel, setups: &[Setup]) {
    const ROUNDS: usize = 5;
    println!("\nmedians of {ROUNDS}, {kernel}");
    println!("{:<30} {:>12} {:>20}", "offline", "table ms", "without table ms");
    for setup in setups {
        let table = (0..ROUNDS).map(|_| seconds(|| assert!(setup.table().is_ok()))).collect();
        let unprepared = (0..ROUNDS).map(|_| seconds(|| setup.unprepared())).collect();
        println!("{:<30} {:>12.2} {:>20.2}", setup.name, median(table) * 1e3, median(unprepared) * 1e3);
    }
}

fn main() -> Result<(), Failure> {
    // Cargo also builds benches as tests, with this flag: then each runs once, and there is nothing to sum up.
    let testing = std::env::args().any(|argument| argument == "--test");
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
        .sample_size(20)
        .configure_from_args();
    for kernel in Kernel::available() {
        let setups = [
            Setup::new(kernel, Method::Inspiring, N, Family::Unsigned, 0)?,
            Setup::new(kernel, Method::Inspiring, N, Family::Balanced, 1)?,
            Setup::new(kernel, Method::Inspiring, N / 2, Family::Unsigned, 0)?,
            Setup::new(kernel, Method::Inspiring, 64, Family::Unsigned, 0)?,
            Setup::new(kernel, Method::Inspiring, 16, Family::Unsigned, 0)?,
            Setup::new(kernel, Method::Cdks, N, Family::Unsigned, 0)?,
        ];
        let (full, small) = (&setups[0], &setups[4]);
        let table = full.table()?;
        for clients in [1, 8] {
            let id = BenchmarkId::new(format!("pack/{}", full.name), format!("{clients}/{kernel}"));
            criterion.bench_with_input(id, &(), |b, ()| b.iter(|| full.batch(&table, clients)));
        }
        let id = BenchmarkId::new(format!("pack/without-table/{}", small.name), kernel);
        criterion.bench_with_input(id, &(), |b, ()| b.iter(|| small.unprepared()));
        drop(table);
        if !testing {
            let bytes = 96 << 20;
            online(kernel, &setups, &Probe::new(kernel, bytes)?, bytes)?;
            offline(kernel, &setups);
        }
    }
    criterion.final_summary();
    Ok(())
}
