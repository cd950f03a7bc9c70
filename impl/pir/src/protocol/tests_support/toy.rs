//! Toy and committed sets, shapes, and two parties that are connected.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use crate::core::database::Database;
use crate::core::description::{MemoryMap, Sizes};
use crate::core::error::Result;
use crate::core::progress::Silent;
use crate::core::protocol::{Context, Protocol, Request};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::set_file::ParameterFile;
use crate::core::transcript::Link;
use crate::core::workload::Shape;

impl Sizes {
    /// Payload bytes of the message `name`; zero without one.
    pub fn payload_bytes(&self, name: &str) -> u64 {
        self.messages.iter().find(|message| message.name == name).map_or(0, |message| message.payload_bytes)
    }
}

impl MemoryMap {
    /// Bytes the server keeps.
    pub fn server_bytes(&self) -> u64 {
        self.server.iter().map(|table| table.bytes).sum()
    }
}

/// Records of 1 bit to more than a block, one record to many, powers of two and not.
pub const ALL_SHAPES: &[(u64, u64)] = &[
    (1, 1),
    (1, 5000),
    (1000, 1),
    (70_000, 1),
    (777, 7),
    (1000, 13),
    (300, 9),
    (64, 10),
    (5, 20_000),
    (100, 2048),
    (37, 2049),
];

/// The shapes whose records have at most this number of bits, and some more.
pub fn up_to(bits: u64, more: &[(u64, u64)]) -> Vec<(u64, u64)> {
    ALL_SHAPES.iter().filter(|shape| shape.1 <= bits).chain(more).copied().collect()
}

pub fn set_text(protocol: &str, extra: &str, moduli: &str) -> String {
    format!(
        "protocol = \"{protocol}\"\ntitle = \"test\"\n{extra}[source]\nkind = \"repaired\"\n[lwe]\ndimension = 64\n\
         modulus = \"2^32\"\nsecret = {{ kind = \"uniform\" }}\nerror = {{ stddev = 6.4 }}\n{moduli}"
    )
}

/// The set of a file that holds this text.
pub fn read<S: Protocol>(text: &str) -> Result<S::Set> {
    crate::registry::read::<S>(&ParameterFile::of("params/test/test.toml".as_ref(), text)?)
}

/// Asserts that a set whose text has `to` for `from` is refused with the name of the key.
pub fn refuses<S: Protocol>(text: &str, from: &str, to: &str, key: &str) {
    assert!(text.contains(from), "{from}");
    let error = read::<S>(&text.replace(from, to)).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains(&format!("`{key}`")), "{to}: {error}");
}

/// The committed set of that name.
pub fn committed<S: Protocol>(name: &str) -> S::Set {
    let path = format!("{}/../../params/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    crate::registry::read::<S>(&ParameterFile::read(path.as_ref()).unwrap()).unwrap()
}

/// A set at LWE dimension 64: right in every respect but security.
pub fn small_set<S: Protocol>(extra: &str, moduli: &str) -> S::Set {
    read::<S>(&set_text(S::NAME, extra, moduli)).unwrap()
}

pub fn context(kernel: Kernel, threads: usize) -> Context<'static> {
    Context {
        kernel,
        threads,
        streamed: false,
        rng: ChaCha20Rng::seed_from_u64(1),
        clock: Arc::default(),
        noise: Default::default(),
        progress: &Silent,
    }
}

impl<P: Protocol> ClientSession<P> {
    /// A request, after what it needs ahead has been made.
    pub fn ask(&mut self, indices: &[u64], context: &mut Context) -> Result<Request> {
        self.precompute(indices.len() as u64, context)?;
        self.query(indices, context)
    }
}

/// Whether tests run in full, as `make verify` does; `make test` runs them pairwise.
pub fn in_full() -> bool {
    std::env::var_os("PIRLAB_VERIFY").is_some()
}

pub(super) fn parties<S: Protocol>(
    params: &S::Set,
    shape: Shape,
    context: &mut Context,
) -> (ServerSession<S>, ClientSession<S>) {
    parties_of::<S>(params, &Database::seeded([9; 16], shape), context)
}

/// A server of a database, and a client that is connected to it.
pub fn parties_of<S: Protocol>(
    params: &S::Set,
    database: &Database,
    context: &mut Context,
) -> (ServerSession<S>, ClientSession<S>) {
    let mut server = ServerSession::<S>::new(params, database, context).unwrap();
    let mut client = ClientSession::<S>::new(params, database.shape(), context).unwrap();
    client.connect(&mut server, &mut Link::new(S::NAME), context).unwrap();
    (server, client)
}
