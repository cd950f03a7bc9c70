//! `prg`: the generator that expands seeds, AES-128 in counter mode.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::primitive::{About, Context, Described, Measured, Primitive, Read, Started};
use crate::settings::{Refusal, Settings, complete};
use crate::timing;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generator {
    /// Bytes a call makes.
    bytes: usize,
}

const LARGEST: usize = 1 << 30;

pub const ABOUT: About = ("prg", "the generator that expands seeds: seconds a call, by its bytes");

pub fn read(settings: &Settings) -> Read {
    let own: Generator = settings.parse()?;
    if own.bytes == 0 || own.bytes > LARGEST {
        let problem = format!("{} is not between 1 and {LARGEST}. Give 16384, say.", own.bytes);
        return Err(Refusal::new("bytes", problem));
    }
    Ok(Box::new(own))
}

impl Primitive for Generator {
    fn describe(&self) -> Result<Described, Refusal> {
        // A gigabyte a second is a safe lower bound of its rate.
        let call = self.bytes as f64 * 1e-9;
        Ok(Described {
            settings: complete(self)?,
            counts: [("bytes".to_string(), self.bytes as f64)].into(),
            predicted_seconds: call.max(2.0 * timing::SAMPLE.as_secs_f64()),
            peak_bytes: self.bytes as u64,
        })
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let (prg, mut bytes) = (context.seed("prg")?.prg(), vec![0; self.bytes]);
        Ok(Box::new(move |out: &mut Measured| {
            out.sample("fill", || prg.fill_at(0, black_box(bytes.as_mut_slice())));
            // The stream from its middle on is the second half of the whole.
            let middle = bytes.len() / 2;
            let mut half = vec![0; bytes.len() - middle];
            prg.fill_at(middle as u64, &mut half);
            out.compared(1, u64::from(half == bytes[middle..]));
            Ok(())
        }))
    }
}
