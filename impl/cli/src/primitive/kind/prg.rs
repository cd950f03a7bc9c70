//! `prg`: the generator that expands seeds, AES-128 in counter mode.

use std::hint::black_box;

use ring::Seed;
use serde::{Deserialize, Serialize};

use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Measured, Primitive, Session, timing};

/// The generator.
pub struct Generator;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    /// Bytes a call makes.
    bytes: usize,
}

const LARGEST: usize = 1 << 30;

fn own(settings: &Settings) -> Result<Own, Refusal> {
    let own: Own = settings.parse()?;
    if own.bytes == 0 || own.bytes > LARGEST {
        return Err(Refusal::new("bytes", format!("{} is not between 1 and {LARGEST}. Give 16384, say.", own.bytes)));
    }
    Ok(own)
}

impl Primitive for Generator {
    fn name(&self) -> &'static str {
        "prg"
    }

    fn summary(&self) -> &'static str {
        "the generator that expands seeds: seconds a call of so many bytes"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = own(settings)?;
        // A gigabyte a second is slow for it.
        let call = own.bytes as f64 * 1e-9;
        Ok(Described {
            settings: complete(&own)?,
            counts: [("bytes".to_string(), own.bytes as f64)].into(),
            predicted_seconds: call.max(2.0 * timing::SAMPLE.as_secs_f64()),
            peak_bytes: own.bytes as u64,
        })
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        Ok(Box::new(Running { seed: context.seed("prg")?, out: vec![0; own(settings)?.bytes], calls: None }))
    }
}

struct Running {
    seed: Seed,
    out: Vec<u8>,
    calls: Option<u64>,
}

impl Session for Running {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        let Self { seed, out: bytes, calls } = self;
        let prg = seed.prg();
        let mut call = || prg.fill_at(0, black_box(bytes.as_mut_slice()));
        let calls = *calls.get_or_insert_with(|| timing::calls_per_sample(&mut call));
        let seconds = timing::seconds(calls, call);
        out.time("fill", calls, seconds);
        // The stream from its middle on is the second half of the whole.
        let middle = bytes.len() / 2;
        let mut half = vec![0; bytes.len() - middle];
        prg.fill_at(middle as u64, &mut half);
        out.compared(1, u64::from(half == bytes[middle..]));
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Measured) -> Result<(), Failed> {
        Ok(())
    }
}
