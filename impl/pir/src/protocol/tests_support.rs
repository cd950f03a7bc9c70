//! What every protocol's tests do: fill a server, ask, compare, update, corrupt.

mod bad_messages;

use std::borrow::Cow;
use std::sync::Arc;

pub use bad_messages::withstands;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use ring::Kernel;

use crate::core::database::{Database, Record};
use crate::core::description::{MemoryMap, Sizes};
use crate::core::error::Result;
use crate::core::progress::Silent;
use crate::core::protocol::{Change, Context, Messages, Protocol, Request};
use crate::core::runner::{Options, Run, Session};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::set_file::ParameterFile;
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{Shape, Workload};

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

/// The conformance of a protocol, one line in its tests: three tests in a module of that name. `make check` runs the first alone.
macro_rules! conformance {
    ($name:ident: $protocol:ty, $set:expr, $shapes:expr, $queries:expr, $updates:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn conforms_at_two_shapes() {
                $crate::protocol::tests_support::conforms_at_two::<$protocol>(&$set, $shapes, $queries, $updates);
            }

            #[test]
            fn conforms_at_every_shape() {
                $crate::protocol::tests_support::conforms_at_others::<$protocol>(&$set, $shapes, $queries, $updates);
            }

            #[test]
            fn withstands_bad_messages() {
                $crate::protocol::tests_support::withstands::<$protocol>(&$set, $shapes[$shapes.len() / 2]);
            }
        }
    };
}
pub(crate) use conformance;

/// The two shapes that are run with all contents on both kernel paths: the middle one of a list and the last, where records are long.
fn two_of(shapes: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut two = vec![shapes[shapes.len() / 2], shapes[shapes.len() - 1]];
    two.dedup();
    two
}

pub fn conforms_at_two<S: Protocol>(params: &S::Set, shapes: &[(u64, u64)], queries: u64, updates: u64) {
    for shape in two_of(shapes) {
        check_in::<S>(params, shape, queries, updates, &all_setups());
    }
}

pub fn conforms_at_others<S: Protocol>(params: &S::Set, shapes: &[(u64, u64)], queries: u64, updates: u64) {
    for &(records, bits) in shapes.iter().filter(|shape| !two_of(shapes).contains(shape)) {
        check_everywhere::<S>(params, records, bits, queries, updates);
    }
}

/// Contents of a database, kernel path and threads of a run.
type Setup = (&'static str, Kernel, usize);

/// Seeded, all-zero and all-one databases, each on the fastest path and on the portable one.
fn all_setups() -> Vec<Setup> {
    let paths = [(Kernel::best(), 1), (Kernel::Scalar, 2)];
    let contents = ["seeded:07", "constant:00", "constant:ff"];
    contents.into_iter().flat_map(|source| paths.map(|(kernel, threads)| (source, kernel, threads))).collect()
}

/// What a protocol does at a shape, on the fastest path with random contents; in all setups where tests run in full.
pub fn check_everywhere<S: Protocol>(params: &S::Set, records: u64, bits: u64, queries: u64, updates: u64) {
    let setups = all_setups();
    let chosen = if in_full() { &setups[..] } else { &setups[..1] };
    check_in::<S>(params, (records, bits), queries, updates, chosen);
}

/// Runs the whole protocol through the runner in these setups; describes the same bytes as travelled; refuses truncated and corrupted
/// messages.
fn check_in<S: Protocol>(params: &S::Set, (records, bits): (u64, u64), queries: u64, updates: u64, setups: &[Setup]) {
    let shape = Shape::new(records, bits).unwrap();
    let workload = Workload::new(shape, queries, updates.min(records)).unwrap();
    let sizes = S::describe(params, &workload).unwrap();
    for &(source, kernel, threads) in setups {
        let database = Database::open(source, shape).unwrap();
        let options = Options { kernel, threads, repetitions: 2, seed: Some([5; 32]), noise_seconds: Some(0.2) };
        let mut run = Box::new(Run::<S>::new(Cow::Borrowed(params), database, workload, &options, &Silent).unwrap());
        run.prepare().unwrap();
        run.repetition().unwrap();
        run.repetition().unwrap();
        // Where a client has one key, each exchange needs a new client: one test a protocol does that.
        if kernel == Kernel::best() && source == "seeded:07" && !S::ONE_KEY {
            run.measure_noise().unwrap();
        }
        run.update().unwrap();
        let measured = run.finish();
        assert_eq!(measured.correct.right, measured.correct.compared, "{records} x {bits} {source} {kernel}");
        assert!(measured.correct.compared >= 2 * queries);
        assert_eq!(measured.held, sizes.memory.server, "{records} x {bits}");
        for entry in &measured.transcript {
            let described = sizes.messages.iter().find(|m| m.name == entry.name && m.phase == entry.phase);
            let described = described.unwrap_or_else(|| panic!("{} is not described", entry.name));
            assert_eq!(described.payload_bytes, entry.payload_bytes, "{} of {records} x {bits}", entry.name);
            assert_eq!(described.frame_bytes, entry.frame_bytes);
            assert_eq!(described.queries_served, entry.queries_served);
        }
        assert_eq!(measured.transcript.len(), sizes.messages.len());
    }
    if S::STREAMS {
        answers_alike_when_streamed::<S>(params, shape);
    }
    refuses_bad_messages::<S>(params, shape);
    refuses_other_versions::<S>(params, shape);
    secrets_serve_once::<S>(params, shape);
    measures_errors_of_known_messages::<S>(params, shape);
    refuses_answers_to_other_requests::<S>(params, shape);
}

/// An answer is the same to the bit whether the preprocessed database is kept or made with it, on one thread or several.
fn answers_alike_when_streamed<S: Protocol>(params: &S::Set, shape: Shape) {
    let answer = |threads: usize, streamed: bool| {
        let mut context = context(Kernel::best(), threads);
        context.streamed = streamed;
        let (server, mut client) = parties::<S>(params, shape, &mut context);
        let request = client.ask(&[0, shape.records - 1], &mut context).unwrap();
        let response = server.answer(&[request], &mut context).unwrap().swap_remove(0);
        response.into_iter().map(|(_, frame)| frame.payload().to_vec()).collect::<Vec<_>>()
    };
    let kept = answer(1, false);
    for threads in [1, 3] {
        assert_eq!(answer(threads, true), kept, "{threads} threads, streamed");
    }
}

/// Two requests are under way and the first answer is lost: the second is refused, not decrypted with the secrets of the first.
fn refuses_answers_to_other_requests<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties::<S>(params, shape, &mut context);
    let indices = [0, shape.records - 1];
    let requests = indices.map(|index| client.ask(&[index], &mut context).unwrap());
    let answers = server.answer(&requests, &mut context).unwrap();
    let error = client.extract(&answers[1], &context).unwrap_err().to_string();
    assert!(error.contains("answers request 1") && error.contains("fresh client"), "{error}");
    let database = Database::seeded([9; 16], shape);
    for (answer, index) in answers.iter().zip(indices) {
        assert_eq!(client.extract(answer, &context).unwrap(), [database.record(index).unwrap()]);
    }
    assert!(client.extract(&answers[1], &context).is_err(), "a request serves once");
}

/// Masks are public, so two queries under the same masks and secret tell the difference of their errors: their bodies agree in all but
/// low bits. Asks for one record again and again, twice in each request. Bits of fresh bodies agree by chance, one in two, except those that
/// are always zero, at most a quarter (numbers modulo q of 53 to 56 bits in eight bytes); bits of others nearly always, 5 in 6 where bodies
/// have 9 bits and the error three. At least [`COMPARED`] bits are compared in each way: of the three quarters that are random, 6 in 10
/// agree by chance with probability below exp(-2 * 1536 / 100) = 2^-44 (Hoeffding).
fn secrets_serve_once<S: Protocol>(params: &S::Set, shape: Shape) {
    const COMPARED: usize = 2048;
    let mut context = context(Kernel::best(), 1);
    let (_, mut client) = parties::<S>(params, shape, &mut context);
    let sizes = [8, 16].map(|queries| S::describe(params, &Workload::new(shape, queries, 0).unwrap()).unwrap());
    let mut ask = || client.ask(&[0, 0], &mut context).unwrap().messages;
    let first = ask();
    // A message is a part that all its queries share, then a body of `bits` bits for each.
    let parts = first.iter().map(|(name, message)| {
        let [eight, sixteen] = [&sizes[0], &sizes[1]].map(|sizes| sizes.payload_bytes(name) as usize);
        let bits = sixteen - eight;
        (8 * (message.payload().len() - (2 * bits).div_ceil(8)), bits)
    });
    let parts: Vec<(usize, usize)> = parts.collect();
    let fewest = parts.iter().flat_map(|&(shared, bits)| [shared, bits]).filter(|&bits| bits > 0).min().unwrap();
    let mut requests = vec![first];
    requests.resize_with(1 + COMPARED.div_ceil(fewest), &mut ask);
    for (number, (shared, bits)) in parts.into_iter().enumerate() {
        let (name, payload) = (requests[0][number].0, |request: usize| requests[request][number].1.payload());
        let agreeing = |(one, from): (&[u8], usize), (other, to): (&[u8], usize), count: usize| {
            let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
            (0..count).filter(|i| bit(one, from + i) == bit(other, to + i)).count()
        };
        let pairs = requests.len() - 1;
        let next = |start: usize, count: usize| -> usize {
            (0..pairs).map(|i| agreeing((payload(i), start), (payload(i + 1), start), count)).sum()
        };
        let within = (0..pairs).map(|i| agreeing((payload(i), shared), (payload(i), shared + bits), bits)).sum();
        for (equal, compared, which) in [
            (next(0, shared), pairs * shared, "shared parts of requests"),
            (next(shared, bits), pairs * bits, "bodies of requests"),
            (within, pairs * bits, "bodies of one request"),
        ] {
            assert!(10 * equal <= 7 * compared, "{name}: {equal} of {compared} bits agree in {which}");
        }
    }
}

/// Errors are those of the known message: the answer of a server that has other records than one knows, all bits ones for zeros, has errors
/// beyond the threshold at every stage, and to that server itself none.
fn measures_errors_of_known_messages<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    // Where no instance of a lattice problem is sent, answers have no errors.
    let is_exact = S::describe(params, &Workload::new(shape, 1, 0).unwrap()).unwrap().instances.is_empty();
    // The same public seed, which is the first number that a server draws.
    let [mut server, other] = ["constant:ff", "constant:00"].map(|source| {
        context.rng = ChaCha20Rng::seed_from_u64(1);
        ServerSession::<S>::new(params, &Database::open(source, shape).unwrap(), &mut context).unwrap()
    });
    let mut client = ClientSession::<S>::new(params, shape, &mut context).unwrap();
    client.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
    let request = client.ask(&[shape.records - 1], &mut context).unwrap();
    let response = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
    client.extract(&response, &context).unwrap();
    for (server, is_known) in [(&server, true), (&other, false)] {
        context.noise = Default::default();
        client.log_errors(server, (&request, &response), &mut context).unwrap();
        let stages = context.noise.summary();
        assert_eq!(stages.is_empty(), is_exact);
        for stage in stages {
            assert_eq!(stage.max < stage.threshold, is_known, "{stage:?}");
        }
    }
}

/// An answer from before an update, an update applied twice or skipped: refused, and the client still works.
fn refuses_other_versions<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    let (mut server, mut client) = parties::<S>(params, shape, &mut context);
    let mut database = Database::seeded([9; 16], shape);
    let change = |database: &mut Database, server: &mut ServerSession<S>, context: &mut Context| {
        let mut record = database.record(0).unwrap();
        record[0] ^= 1;
        database.change(0, record.clone()).unwrap();
        server.update(&[(0, record)], context).unwrap()
    };
    let request = client.ask(&[0], &mut context).unwrap();
    let early = server.answer(std::slice::from_ref(&request), &mut context).unwrap().remove(0);
    let first = change(&mut database, &mut server, &mut context);
    let second = change(&mut database, &mut server, &mut context);
    let third = change(&mut database, &mut server, &mut context);
    if first.is_empty() {
        return answers_versions_without_messages::<S>((client, server), &request, &early, &database, &mut context);
    }
    let deltas = first.iter().all(|(name, _)| *name == "hint_delta");
    if deltas {
        assert!(client.update(&second, &mut context).is_err(), "an update was skipped");
    }
    for messages in [&first, &second] {
        client.update(messages, &mut context).unwrap();
    }
    if deltas {
        assert!(client.update(&second, &mut context).is_err(), "an update was applied twice");
    }
    let error = client.extract(&early, &context).unwrap_err().to_string();
    assert!(error.contains("version"), "{error}");
    client.update(&third, &mut context).unwrap();
    let late = server.answer(&[request], &mut context).unwrap().remove(0);
    assert_eq!(client.extract(&late, &context).unwrap(), [database.record(0).unwrap()]);
}

/// Clients that hold nothing of the database need no messages: an early answer holds the early record (the last but two changes
/// each turned the first bit), a late answer to the same request the late one.
fn answers_versions_without_messages<S: Protocol>(
    (mut client, server): (ClientSession<S>, ServerSession<S>),
    request: &Request,
    early: &Messages,
    database: &Database,
    context: &mut Context,
) {
    let now = database.record(0).unwrap();
    let mut before = now.clone();
    before[0] ^= 1;
    assert_eq!(client.extract(early, context).unwrap(), [before]);
    // A request serves once: its secrets are gone.
    let late = server.answer(std::slice::from_ref(request), context).unwrap().remove(0);
    assert!(client.extract(&late, context).is_err());
    let request = client.ask(&[0], context).unwrap();
    let late = server.answer(&[request], context).unwrap().remove(0);
    assert_eq!(client.extract(&late, context).unwrap(), [now]);
}

/// Sizes and counts at the bounds of what is accepted do not wrap around: larger workloads never have smaller ones.
pub fn grows_up_to_the_bounds<S: Protocol>(params: &S::Set) {
    let describe = |records: u64, bits: u64, queries: u64, updates: u64| {
        let workload = Workload::new(Shape::new(records, bits).unwrap(), queries, updates).unwrap();
        S::describe(params, &workload).ok()
    };
    let mut described = 0;
    for (records, bits) in [(1 << 21, 1u64 << 27), (1 << 30, 1 << 18), (1, 1 << 27), (1 << 48, 1), (1 << 38, 1 << 10)] {
        let small = describe(records, bits, 1, 0);
        let large = describe(records, bits, 1 << 12, (1 << 16).min(records));
        let (Some(small), Some(large)) = (small, large) else { continue };
        described += 1;
        assert!(large.memory.peak_bytes > small.memory.peak_bytes);
        assert!(small.memory.peak_bytes > small.memory.server_bytes());
        for (phase, counts) in &small.operations {
            grows(counts, &large.operations[phase], &format!("{phase} of {records} x {bits}"));
        }
    }
    assert!(described > 0);
}

/// Every count of `small` is at most that of `large`, also in steps. Products that several queries share are counted under a name of their own.
fn grows(small: &serde_json::Value, large: &serde_json::Value, place: &str) {
    for (name, count) in small.as_object().unwrap() {
        let larger = large.get(name).or_else(|| large.get(format!("batch_{name}"))).unwrap();
        if count.is_object() {
            grows(count, larger, &format!("{name}, {place}"));
        } else {
            assert!(larger.as_u64().unwrap() >= count.as_u64().unwrap(), "{name}, {place}");
        }
    }
}

fn parties<S: Protocol>(params: &S::Set, shape: Shape, context: &mut Context) -> (ServerSession<S>, ClientSession<S>) {
    parties_of::<S>(params, &Database::seeded([9; 16], shape), context)
}

fn parties_of<S: Protocol>(
    params: &S::Set,
    database: &Database,
    context: &mut Context,
) -> (ServerSession<S>, ClientSession<S>) {
    let mut server = ServerSession::<S>::new(params, database, context).unwrap();
    let mut client = ClientSession::<S>::new(params, database.shape(), context).unwrap();
    client.connect(&mut server, &mut Link::new(S::NAME), context).unwrap();
    (server, client)
}

/// Records of a database, asked for in one message.
fn retrieve<S: Protocol>(params: &S::Set, database: &Database, indices: &[u64]) -> Vec<Record> {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties_of::<S>(params, database, &mut context);
    let request = client.ask(indices, &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    client.extract(&answer, &context).unwrap()
}

/// Every record of a database, as retrieved.
pub fn retrieves_all<S: Protocol>(params: &S::Set, database: &Database) -> Vec<Record> {
    retrieve::<S>(params, database, &(0..database.shape().records).collect::<Vec<_>>())
}

/// 300 records of 100 KB: the first and the last.
pub fn retrieves_long_records<S: Protocol>(params: &S::Set) {
    let database = Database::seeded([9; 16], Shape::new(300, 819_200).unwrap());
    let indices = [0, 299];
    let records = retrieve::<S>(params, &database, &indices);
    for (index, record) in indices.into_iter().zip(records) {
        assert!(record == database.record(index).unwrap(), "record {index}");
    }
}

fn refuses_bad_messages<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties::<S>(params, shape, &mut context);
    assert!(client.ask(&[shape.records], &mut context).is_err());
    let request = client.ask(&[0], &mut context).unwrap();
    let (name, frame) = &request.messages[0];
    let mut corrupt = frame.bytes().to_vec();
    let last = corrupt.len() - 1;
    corrupt[last] ^= 1;
    assert!(Frame::parse(&corrupt, S::NAME, name).is_err());
    assert!(Frame::parse(&corrupt[..last], S::NAME, name).is_err());
    let none = Request { messages: Vec::new(), queries: 1, session: 0 };
    assert!(server.answer(&[none], &mut context).is_err());
    for queries in [0, 2, 1 << 62] {
        let other = Request { messages: request.messages.clone(), queries, ..request };
        assert!(server.answer(&[other], &mut context).is_err());
    }
    // Two clients' requests in one call; the answers come in order.
    let mut other = ClientSession::<S>::new(params, shape, &mut context).unwrap();
    let mut server = server;
    let record = vec![0; shape.record_bytes()];
    let changes = [(0, record.clone()), (shape.records, record)];
    assert!(server.update(&changes, &mut context).is_err(), "and none of the changes is made");
    other.connect(&mut server, &mut Link::new(S::NAME), &mut context).unwrap();
    let index = shape.records / 2;
    let second = other.ask(&[index], &mut context).unwrap();
    let responses = server.answer(&[request, second], &mut context).unwrap();
    let empty = Messages::new();
    assert!(client.extract(&empty, &context).is_err());
    let database = Database::seeded([9; 16], shape);
    for (client, response, index) in [(&mut client, &responses[0], 0), (&mut other, &responses[1], index)] {
        assert_eq!(client.extract(response, &context).unwrap(), [database.record(index).unwrap()]);
    }
}

/// A server whose records were changed by one update answers to the bit as one made of the changed database: its hints are the same, and
/// the tables made of them.
pub fn updates_like_fresh<S: Protocol>(params: &S::Set, shape: Shape, changed: &[u64]) {
    let mut database = Database::seeded([9; 16], shape);
    // Its public seed is the first number that a server draws.
    let fresh_context = || context(Kernel::best(), 1);
    let mut context = fresh_context();
    let (mut server, mut client) = parties_of::<S>(params, &database, &mut context);
    let other = Database::seeded([3; 16], shape);
    let changes: Vec<Change> = changed.iter().map(|&index| (index, other.record(index).unwrap())).collect();
    for (index, record) in &changes {
        database.change(*index, record.clone()).unwrap();
    }
    assert!(server.update(&changes, &mut context).unwrap().is_empty(), "no message");
    // A selection has changed records in its bit string.
    let fresh = ServerSession::<S>::new(params, &database.selected(shape, Some), &mut fresh_context()).unwrap();
    let indices = [changed[0], changed[changed.len() - 1], shape.records - 1];
    let request = client.ask(&indices, &mut context).unwrap();
    let [updated, fresh] = [&server, &fresh]
        .map(|server| server.answer(std::slice::from_ref(&request), &mut context).unwrap().swap_remove(0));
    let payload = |response: &Messages| response[0].1.payload().to_vec();
    assert!(payload(&updated) == payload(&fresh), "{} changes", changed.len());
    let records = client.extract(&updated, &context).unwrap();
    assert_eq!(records, indices.map(|index| database.record(index).unwrap()));
}

/// Measured variance about zero at a stage over several keys.
pub fn noise_variance<S: Protocol>(params: &S::Set, shape: Shape, keys: usize, stage: &str) -> f64 {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties::<S>(params, shape, &mut context);
    for key in 0..keys {
        let request = client.ask(&[key as u64 % shape.records], &mut context).unwrap();
        let response = &server.answer(std::slice::from_ref(&request), &mut context).unwrap()[0];
        client.extract(response, &context).unwrap();
        client.log_errors(&server, (&request, response), &mut context).unwrap();
    }
    let summary = context.noise.summary();
    let stage = summary.iter().find(|found| found.stage == stage).unwrap();
    assert!(stage.keys >= 20 && stage.samples >= 1 << 14, "{} samples of {} keys", stage.samples, stage.keys);
    assert!(stage.max < stage.threshold);
    stage.stddev.powi(2)
}
