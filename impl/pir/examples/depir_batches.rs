//! DEPIR's full batches: every slot of a query asks for a record, all records occur, in random order; each is compared with the database.
//! Prints the seconds of each step, the memory of the process beside what is described, and of each reply the errors of all coefficients.
//!
//! `cargo run --release -p pirlab-pir --example depir_batches -- PARAMS RECORDS BITS [REPLIES] [THREADS] [KEY=VALUE ...]`; with the word `value`
//! at the end also the errors before the switch, which takes another evaluation for each reply.

use std::error::Error;
use std::time::Instant;

use pir::core::noise::NoiseLog;
use pir::core::progress::Silent;
use pir::core::session::{ClientSession, ServerSession};
use pir::core::set_file::{ParameterFile, With};
use pir::core::transcript::Link;
use pir::core::{Context, Database, Protocol, Shape, Workload};
use pir::protocol::depir::Depir;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use ring::Kernel;

/// A line of /proc/self/status in GiB.
fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    let kib = line.trim_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().unwrap_or(f64::NAN);
    kib / f64::from(1 << 20)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (settings, words): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word.contains('='));
    let value = words.last().is_some_and(|word| word == "value");
    let number = |at: usize, default: Option<u64>| match words.get(at).filter(|word| *word != "value") {
        Some(word) => Ok(word.parse::<u64>()?),
        None => default.ok_or_else(|| Box::<dyn Error>::from("give PARAMS RECORDS BITS [REPLIES] [THREADS]")),
    };
    let shape = Shape::new(number(1, None)?, number(2, None)?)?;
    let (replies, threads) = (number(3, Some(1))?, number(4, Some(1))? as usize);
    let with = settings.iter().filter_map(|setting| setting.split_once('='));
    let with: With =
        with.map(|(key, value)| (key.into(), serde_json::from_str(value).unwrap_or(value.into()))).collect();
    let set = ParameterFile::read(words[0].as_ref())?.with(&with)?.parse()?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut context = Context {
        kernel: Kernel::best(),
        threads,
        streamed: false,
        rng: ChaCha20Rng::from_os_rng(),
        clock: Default::default(),
        noise: NoiseLog::default(),
        progress: &Silent,
    };
    let database = Database::seeded([9; 16], shape);
    let sizes = Depir::describe(&set, &Workload::new(shape, set.slots() as u64, 0)?)?;
    let start = Instant::now();
    let mut server = ServerSession::<Depir>::new(&set, &database, &mut context)?;
    println!("{}, {} records: tables in {:.1} s", words[0], shape.records, start.elapsed().as_secs_f64());
    let mut order = ChaCha20Rng::seed_from_u64(5);
    for reply in 0..replies {
        let mut client = ClientSession::<Depir>::new(&set, shape, &mut context)?;
        client.connect(&mut server, &mut Link::new(Depir::NAME), &mut context)?;
        let mut indices: Vec<u64> = (0..set.slots() as u64).map(|slot| slot % shape.records).collect();
        indices.shuffle(&mut order);
        let request = client.query(&indices, &mut context)?;
        let start = Instant::now();
        let answer = server.answer(std::slice::from_ref(&request), &mut context)?.remove(0);
        let seconds = start.elapsed().as_secs_f64();
        let records = client.extract(&answer, &context)?;
        let mut wrong = 0;
        for (index, record) in indices.iter().zip(&records) {
            wrong += u64::from(database.record(*index)? != *record);
        }
        context.noise = NoiseLog::default();
        client.log_errors(&server, (&request, &answer), &mut context)?;
        if value {
            client.diagnose(&server, &request, &mut context)?;
        }
        let (right, asked) = (records.len() as u64 - wrong, indices.len());
        print!(
            "reply {reply}: answer {seconds:.2} s, {right} of {asked} records right; log2 of stddev and largest error:"
        );
        for stage in context.noise.summary() {
            print!(" {} {:.3} {:.3}", stage.stage, stage.stddev.log2(), stage.max.log2());
        }
        println!();
        if wrong > 0 {
            return Err(format!("{wrong} records are wrong").into());
        }
    }
    let described = sizes.memory.peak_bytes as f64 / f64::from(1 << 30);
    println!("memory {:.3} GiB, of it mapped {:.3}; described {described:.3}", memory("VmHWM:"), memory("RssFile:"));
    Ok(())
}
