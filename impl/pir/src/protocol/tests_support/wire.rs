//! Messages that are truncated, corrupted, late, of another request or of another version.

use ring::Kernel;

use super::{context, parties};
use crate::core::database::Database;
use crate::core::protocol::{Context, Messages, Protocol, Request, Server};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::wire::{Frame, FrameBuilder};
use crate::core::workload::Shape;

/// Two requests are under way and the first answer is lost: the second is refused, not decrypted with the secrets of the first.
pub(super) fn refuses_answers_to_other_requests<S: Protocol>(params: &S::Set, shape: Shape) {
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

/// An answer from before an update, an update applied twice or skipped: refused, and the client still works.
pub(super) fn refuses_other_versions<S: Protocol>(params: &S::Set, shape: Shape) {
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

/// The hint of a server that starts again is of other public matrices than requests under way: refused as an update, and the client still works.
pub fn refuses_hints_of_other_seeds<S: Protocol>(params: &S::Set, shape: Shape) {
    let mut context = context(Kernel::best(), 1);
    let (server, mut client) = parties::<S>(params, shape, &mut context);
    let request = client.ask(&[0], &mut context).unwrap();
    let (other, _) = parties::<S>(params, shape, &mut context);
    let error = client.update(&other.server.publish(), &mut context).unwrap_err().to_string();
    assert!(error.contains("other seeds"), "{error}");
    client.update(&server.server.publish(), &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    let record = Database::seeded([9; 16], shape).record(0).unwrap();
    assert_eq!(client.extract(&answer, &context).unwrap(), [record]);
}

/// A change of record 0 that no two records differ by, `forged` in place of its first bytes: refused, and the client still works.
pub fn refuses_impossible_changes<S: Protocol>(params: &S::Set, shape: Shape, forged: &[u8]) {
    let mut context = context(Kernel::best(), 1);
    let (mut server, mut client) = parties::<S>(params, shape, &mut context);
    let record = vec![0; shape.record_bytes()];
    let honest = server.update(&[(0, record.clone())], &mut context).unwrap();
    let change = |(name, frame): &(&'static str, Frame)| {
        let mut builder = FrameBuilder::reopen(frame.clone());
        builder.payload_mut()[8..][..forged.len()].copy_from_slice(forged);
        (*name, builder.finish(S::NAME, name).at_epoch(frame.epoch()))
    };
    let error = client.update(&honest.iter().map(change).collect(), &mut context).unwrap_err().to_string();
    assert!(error.contains("record 0 is larger than an entry"), "{error}");
    client.update(&honest, &mut context).unwrap();
    let request = client.ask(&[0], &mut context).unwrap();
    let answer = server.answer(&[request], &mut context).unwrap().remove(0);
    assert_eq!(client.extract(&answer, &context).unwrap(), [record]);
}

pub(super) fn refuses_bad_messages<S: Protocol>(params: &S::Set, shape: Shape) {
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
