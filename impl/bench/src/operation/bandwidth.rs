//! `bandwidth`: how fast one core reads a buffer, in caches or in memory.

use ring::bandwidth::{Probe, Reading};
use serde::{Deserialize, Serialize};

use crate::primitive::{Context, Described, Failed, Measured, Primitive, Session};
use crate::settings::{Refusal, Settings, complete};

/// Reading of a buffer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// Length of the buffer.
    bytes: usize,
}

const SMALLEST: usize = 8192;

impl Primitive for Reader {
    const NAME: &'static str = "bandwidth";
    const SUMMARY: &'static str = "one core reads a buffer: bytes a second";

    fn read(settings: &Settings) -> Result<Self, Refusal> {
        let own: Self = settings.parse()?;
        if own.bytes < SMALLEST || !own.bytes.is_multiple_of(SMALLEST) {
            let problem =
                format!("{} is not a positive multiple of {SMALLEST}. Give 2147483648 to measure memory.", own.bytes);
            return Err(Refusal::new("bytes", problem));
        }
        Ok(own)
    }

    fn describe(&self) -> Result<Described, Refusal> {
        Ok(Described {
            settings: complete(self)?,
            // Ten gigabytes a second are common; the first pass tries twelve ways to read.
            predicted_seconds: self.bytes as f64 * 1e-10,
            peak_bytes: self.bytes as u64,
            ..Described::default()
        })
    }

    fn start(self, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let probe = Probe::new(context.kernel, self.bytes)?;
        let Reading { streams, ahead, .. } = probe.best(1);
        Ok(Box::new(Running { probe, streams, ahead }))
    }
}

struct Running {
    probe: Probe,
    streams: usize,
    ahead: usize,
}

impl Session for Running {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        out.value("bytes_per_second", self.probe.once(self.streams, self.ahead));
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        out.count("streams", self.streams as f64);
        out.count("prefetched_bytes", self.ahead as f64);
        Ok(())
    }
}
