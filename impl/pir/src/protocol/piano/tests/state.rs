//! The state of a client as bytes and as a file, and what is left of its keys in memory.

use super::*;
use crate::protocol::tests_support::{left_by, left_of};

#[test]
fn a_client_that_restarts_asks_as_if_it_had_not() {
    let (shape, mut context) = (Shape::new(1000, 40).unwrap(), context(Kernel::best(), 1));
    let mut database = Database::seeded([4; 16], shape);
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client.state");
    // Half a window, with an update in it and the next window's hints; then everything again from the file.
    for index in (0..500).chain([3, 3]) {
        exchange(&mut server, &mut client, &[index], &mut context).unwrap();
    }
    let change = vec![(7, vec![1, 2, 3, 4, 5])];
    database.change(7, change[0].1.clone()).unwrap();
    let messages = server.update(&change, &mut context).unwrap();
    client.update(&messages, &mut context).unwrap();
    client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    client.client.save(&path).unwrap();
    let kept = Client::load(&small(), shape, &path, &mut context).unwrap();
    assert_eq!(kept.state().unwrap(), client.client.state().unwrap());
    let mut kept = ClientSession::resume(kept, &mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    let left = kept.queries_left();
    assert_eq!(left, client.queries_left());
    for index in (0..left).map(|turn| turn * 7 % 1000) {
        let random = context.rng.clone();
        let sent = [&mut client, &mut kept].map(|client| {
            context.rng = random.clone();
            client.query(&[index], &mut context).unwrap()
        });
        assert_eq!(sent[0].messages[0].1.payload(), sent[1].messages[0].1.payload());
        for (request, client) in sent.into_iter().zip([&mut client, &mut kept]) {
            let answer = server.answer(&[request], &mut context).unwrap().remove(0);
            assert_eq!(client.extract(&answer, &context).unwrap(), [database.record(index).unwrap()]);
        }
    }
}

#[test]
fn a_state_that_is_not_whole_or_of_another_database_is_refused() {
    let (shape, mut context) = (Shape::new(300, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    exchange(&mut server, &mut client, &[5], &mut context).unwrap();
    let state = client.client.state().unwrap();
    let mut says = |set: &Set, shape: Shape, state: &[u8]| match Client::of_state(set, shape, state, &mut context) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    for length in [0, 10, 100, state.len() / 2, state.len() - 1] {
        let said = says(&small(), shape, &state[..length]);
        assert!(said.contains("truncated") || said.contains("no state"), "{length}: {said}");
    }
    let mut changed = state.clone();
    changed[state.len() / 2] ^= 1;
    assert!(says(&small(), shape, &changed).contains("was changed"));
    for (set, shape) in [(small(), Shape::new(301, 64).unwrap()), (set("sum", "words", "failure_bits = 41"), shape)] {
        assert!(says(&set, shape, &state).contains("another parameter set or of a database of another shape"));
    }
    // A database of the same shape, and one that was updated since: its records are never taken for those of the hints.
    let elsewhere = || {
        let mut context = super::context(Kernel::best(), 1);
        context.rng.set_stream(7);
        context
    };
    let mut resume = |server: &mut ServerSession<Piano>| {
        let client = Client::of_state(&small(), shape, &state, &mut context).unwrap();
        let resumed = ClientSession::<Piano>::resume(client, server, &mut Link::new(Piano::NAME), &mut context);
        resumed.and_then(|mut client| exchange(server, &mut client, &[5], &mut context))
    };
    assert_eq!(resume(&mut server).unwrap(), [database.record(5).unwrap()]);
    server.update(&[(9, vec![0; 8])], &mut elsewhere()).unwrap();
    assert!(resume(&mut server).unwrap_err().to_string().contains("must be read"));
    let mut other = ServerSession::new(&small(), &Database::seeded([5; 16], shape), &mut elsewhere()).unwrap();
    assert!(resume(&mut other).unwrap_err().to_string().contains("another database"));
}

#[test]
fn a_state_saved_while_a_request_is_under_way_gives_up_its_window() {
    let (shape, mut context) = (Shape::new(300, 64).unwrap(), context(Kernel::best(), 1));
    let (mut server, mut client) = parties(&small(), &Database::seeded([4; 16], shape), &mut context);
    client.query(&[5], &mut context).unwrap();
    let kept = Client::of_state(&small(), shape, &client.client.state().unwrap(), &mut context).unwrap();
    let kept = ClientSession::<Piano>::resume(kept, &mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    assert_eq!(kept.queries_left(), 0);
}

#[cfg(unix)]
#[test]
fn a_state_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (shape, mut context) = (Shape::new(300, 64).unwrap(), context(Kernel::best(), 1));
    let (_, client) = parties(&small(), &Database::seeded([4; 16], shape), &mut context);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client.state");
    for _ in 0..2 {
        client.client.save(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn keys_are_wiped() {
    let (shape, mut context) = (Shape::new(1000, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    exchange(&mut server, &mut client, &[17], &mut context).unwrap();
    client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    let [now, next] = [&client.client.window, &client.client.next].map(|window| window.as_ref().unwrap().key.0);
    assert_ne!(now, next);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client.state");
    // The file has both; no copy of its bytes is left.
    client.client.save(&path).unwrap();
    let file = std::fs::read(&path).unwrap();
    for key in [now, next] {
        assert_eq!(left_of(key, file.clone()), 1);
        assert_eq!(left_by(key, || client.client.save(&path).unwrap()), 0);
        assert_eq!(left_by(key, || client.client.state().unwrap()), 0);
        assert_eq!(left_by(key, || Client::load(&small(), shape, &path, &mut context).unwrap()), 0);
    }
    assert_eq!(left_of(now, Box::new(client)), 0);
    let window = Window::of_key(&Layout::new(&small(), shape).unwrap(), Seed(next));
    assert_eq!(left_of(next, Box::new(window)), 0);
}
