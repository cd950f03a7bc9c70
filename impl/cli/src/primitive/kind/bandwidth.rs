//! `bandwidth`: how fast one core reads a buffer, in caches or in memory.

use ring::bandwidth::{Probe, Reading};
use serde::{Deserialize, Serialize};

use crate::primitive::settings::{Refusal, Settings, complete};
use crate::primitive::{Context, Described, Failed, Measured, Primitive, Session};

/// Reading of a buffer.
pub struct Reader;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    /// Length of the buffer.
    bytes: usize,
}

const SMALLEST: usize = 8192;

fn own(settings: &Settings) -> Result<Own, Refusal> {
    let own: Own = settings.parse()?;
    if own.bytes < SMALLEST || !own.bytes.is_multiple_of(SMALLEST) {
        let problem =
            format!("{} is not a positive multiple of {SMALLEST}. Give 2147483648 to measure memory.", own.bytes);
        return Err(Refusal::new("bytes", problem));
    }
    Ok(own)
}

impl Primitive for Reader {
    fn name(&self) -> &'static str {
        "bandwidth"
    }

    fn summary(&self) -> &'static str {
        "one core reads a buffer: bytes a second"
    }

    fn describe(&self, settings: &Settings) -> Result<Described, Refusal> {
        let own = own(settings)?;
        Ok(Described {
            settings: complete(&own)?,
            // Ten gigabytes a second are common; the first pass tries twelve ways to read.
            predicted_seconds: own.bytes as f64 * 1e-10,
            peak_bytes: own.bytes as u64,
            ..Described::default()
        })
    }

    fn start(&self, settings: &Settings, context: &Context) -> Result<Box<dyn Session>, Failed> {
        let probe = Probe::new(context.kernel, own(settings)?.bytes).map_err(Failed::from)?;
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
