//! The common part of operations whose noise is measured in a ring, key by key.
//!
//! A repetition measures under one key; missing keys are measured at the end. Noise is collected over all of them.

use std::marker::PhantomData;
use std::sync::Arc;

use gadget::Family;
use lattice::RingGadget;
use ring::{Kernel, Ring, Seed, Word};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, Tally};
use crate::primitive::{Context, Described, Failed, Measured, Primitive, Read, Session, Started};
use crate::setting::{GadgetSetting, MOST_KEYS, Setting, bounded, number};
use crate::settings::{Refusal, Settings, complete};

/// The settings that operations in a ring share.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Shared {
    /// The ring, its secret and the errors under it.
    #[serde(flatten)]
    pub setting: Setting,
    /// Fresh secret keys.
    pub keys: u64,
    /// The gadget of an operation that decomposes.
    #[serde(flatten)]
    pub gadget: Option<GadgetSetting>,
}

#[derive(Deserialize)]
struct Keys {
    #[serde(default = "number::<20, _>")]
    keys: u64,
}

impl Shared {
    /// Takes these out of the settings; a gadget's only for an operation that decomposes.
    pub fn take(rest: &mut Settings, decomposes: bool) -> Result<Self, Refusal> {
        let (setting, Keys { keys }) = (rest.take::<Setting>(&Setting::KEYS)?, rest.take(&["keys"])?);
        let gadget = decomposes.then(|| rest.take(&GadgetSetting::KEYS)).transpose()?;
        setting.primes()?;
        setting.check()?;
        bounded(keys, "keys", 1..=MOST_KEYS)?;
        Ok(Self { setting, keys, gadget })
    }

    /// The number for each key that makes `all` over all keys.
    pub fn for_each_key(&self, all: u64) -> u64 {
        all.div_ceil(self.keys)
    }

    /// The family of the gadget.
    pub fn family(&self) -> Result<Family, Refusal> {
        self.gadget.map(|gadget| gadget.family).ok_or_else(|| Refusal::new("family", "it is missing."))
    }
}

/// The objects made of these settings.
pub struct Bench<W: Word> {
    pub shared: Shared,
    pub ring: Arc<Ring<W>>,
    /// The gadget of an operation that decomposes.
    pub gadget: Option<RingGadget<W>>,
}

impl<W: Word> Bench<W> {
    fn new(shared: &Shared, kernel: Kernel) -> Result<Self, Refusal> {
        let ring = shared.setting.ring(kernel)?;
        let gadget = shared.gadget.as_ref().map(|gadget| gadget.build(&ring, "base")).transpose()?;
        Ok(Self { shared: shared.clone(), ring, gadget })
    }

    /// The gadget, which an operation that decomposes has.
    pub fn gadget(&self) -> Result<&RingGadget<W>, Refusal> {
        self.gadget.as_ref().ok_or_else(|| Refusal::new("base", "it is missing: this operation needs it."))
    }

    /// Digits of the gadget.
    pub fn length(&self) -> usize {
        self.gadget.as_ref().map_or(0, RingGadget::length)
    }
}

/// The settings that an operation in a ring has beside those that it shares.
pub trait InRing: Serialize + Sized + 'static {
    /// Whether it has a gadget.
    fn decomposes(_: &Settings) -> Result<bool, Refusal> {
        Ok(true)
    }
    /// Reads them from the `rest` of the settings; refuses one that is unknown, missing or out of range.
    fn read(rest: &Settings, shared: &Shared) -> Result<Self, Refusal>;
    /// Adds the operation's counts, predicted seconds and memory.
    fn describe<W: Word>(&self, bench: &Bench<W>, described: &mut Described) -> Result<(), Refusal>;
    /// Measures under one key.
    fn run<W: Word>(&self, bench: &Bench<W>, lab: &mut Lab<W>) -> Result<Tally, Failed>;
}

/// An operation in a ring of words `W`, measured key by key.
#[derive(Serialize)]
struct Keyed<T, W> {
    #[serde(flatten)]
    shared: Shared,
    #[serde(flatten)]
    own: T,
    #[serde(skip)]
    words: PhantomData<W>,
}

/// Reads and checks the settings of an operation in a ring.
pub fn read<T: InRing>(settings: &Settings) -> Read {
    let mut rest = settings.clone();
    // This comes first, because an unknown operation has no settings that could be missing.
    let decomposes = T::decomposes(settings)?;
    let shared = Shared::take(&mut rest, decomposes)?;
    let own = T::read(&rest, &shared)?;
    Ok(if shared.setting.narrow()? {
        Box::new(Keyed { shared, own, words: PhantomData::<u32> })
    } else {
        Box::new(Keyed { shared, own, words: PhantomData::<u64> })
    })
}

impl<T: InRing, W: Word> Primitive for Keyed<T, W> {
    fn describe(&self) -> Result<Described, Refusal> {
        let bench = Bench::<W>::new(&self.shared, Kernel::best())?;
        let mut described = Described { settings: complete(self)?, ..Described::default() };
        described.ring(&bench.ring);
        if let Some(gadget) = &bench.gadget {
            described.digits(gadget.length(), gadget.error_bound(), &gadget.moments());
        }
        self.own.describe(&bench, &mut described)?;
        Ok(described)
    }

    fn start(self: Box<Self>, context: &Context) -> Started {
        let Self { shared, own, .. } = *self;
        let bench = Bench::<W>::new(&shared, context.kernel)?;
        by_keys(shared.keys, context, move |seed| own.run(&bench, &mut Lab::new(&bench.ring, &shared.setting, seed)?))
    }
}

/// A third of a nanosecond for two butterflies where they are vectorised, a nanosecond and a half where not, and as much again for what is
/// not a transform: of the machine that the committed unit costs are of. A plan takes them by as much longer as its machine is slower.
pub fn seconds_per_polynomial<W: Word>(ring: &Ring<W>) -> f64 {
    let each = if Kernel::best() == Kernel::Scalar { 0.4e-9 } else { 0.08e-9 };
    (ring.n() * ring.primes().len()) as f64 * f64::from(ring.n().ilog2()) * each
}

/// Bytes of a number of polynomials with words of either width.
pub fn polynomial_bytes<W: Word>(ring: &Ring<W>, polynomials: usize) -> u64 {
    (polynomials * ring.n() * ring.primes().len() * 8) as u64
}

impl Described {
    /// Adds the ring's dimension and modulus.
    pub fn ring<W: Word>(&mut self, ring: &Ring<W>) {
        let modulus: u128 = ring.primes().iter().map(|&p| u128::from(p)).product();
        self.settings.insert("primes".into(), json!(ring.primes()));
        self.settings.insert("modulus".into(), json!(modulus.to_string()));
        self.settings.insert("word_bits".into(), json!(8 * size_of::<W>()));
    }
}

/// A session that measures key by key.
struct KeySession<F> {
    wanted: u64,
    seed: Seed,
    measure: F,
    done: Vec<Tally>,
}

/// Measures under `wanted` keys, each from its own seed.
pub fn by_keys<F: FnMut(Seed) -> Result<Tally, Failed> + 'static>(
    wanted: u64,
    context: &Context,
    measure: F,
) -> Started {
    Ok(Box::new(KeySession { wanted, seed: context.seed("noise")?, measure, done: Vec::new() }))
}

impl<F: FnMut(Seed) -> Result<Tally, Failed>> Session for KeySession<F> {
    fn repetition(&mut self, out: &mut Measured) -> Result<(), Failed> {
        if (self.done.len() as u64) < self.wanted {
            let seed = self.seed.derive(&format!("key {}", self.done.len()));
            let tally = (self.measure)(seed)?;
            tally.write_time(out);
            self.done.push(tally);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Measured) -> Result<(), Failed> {
        while (self.done.len() as u64) < self.wanted {
            self.repetition(out)?;
        }
        Tally::write(&self.done, out);
        Ok(())
    }
}
