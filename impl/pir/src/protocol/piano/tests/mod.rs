mod failures;
mod state;

use ring::{Kernel, Seed};

use crate::core::database::{Database, Record};
use crate::core::protocol::{Client as _, Context, Messages, Server as _};
use crate::core::session::{ClientSession, ServerSession};
use crate::core::transcript::Link;
use crate::core::wire::Frame;
use crate::core::workload::{Shape, Workload};
use crate::protocol::tests_support::{
    ALL_SHAPES, conformance, context, grows_up_to_the_bounds, in_full, read, refuses_impossible_changes,
    retrieves_long_records,
};

use super::layout::Layout;
use super::prf::{LANES, Sets};
use super::window::Window;
use super::*;

type Parties = (ServerSession<Piano>, ClientSession<Piano>);

fn set(answer: &str, offsets: &str, backups: &str) -> Set {
    read::<Piano>(&format!(
        "protocol = \"piano\"\ntitle = \"test\"\nhint_failure_bits = 41\nanswer = \"{answer}\"\noffsets = \"{offsets}\"\n\
         backups = {{ {backups} }}\n[source]\nkind = \"own\"\n"
    ))
    .unwrap()
}

fn small() -> Set {
    set("sum", "packed", "failure_bits = 41")
}

/// So few hints that one entry in some thousands is in none.
fn few_hints() -> Set {
    Set { hint_failure_bits: 1.0, ..small() }
}

fn parties(params: &Set, database: &Database, context: &mut Context) -> Parties {
    let mut server = ServerSession::new(params, database, context).unwrap();
    let mut client = ClientSession::new(params, database.shape(), context).unwrap();
    client.connect(&mut server, &mut Link::new(Piano::NAME), context).unwrap();
    (server, client)
}

fn exchange(
    server: &mut ServerSession<Piano>,
    client: &mut ClientSession<Piano>,
    indices: &[u64],
    context: &mut Context,
) -> Result<Vec<Record>> {
    let request = client.query(indices, context)?;
    let answer = server.answer(&[request], context)?.remove(0);
    client.extract(&answer, context)
}

conformance!(sum: Piano, small(), ALL_SHAPES, 3, 4);
conformance!(sum_of_each_chunk: Piano, set("sum_of_each_chunk", "packed", "times = 3"), ALL_SHAPES, 2, 4);

#[test]
fn a_change_beyond_a_record_is_refused() {
    refuses_impossible_changes::<Piano>(&small(), Shape::new(1000, 13).unwrap(), &[u8::MAX; 2]);
}

/// A hint is as long as an entry, and few of them fit a test.
#[test]
fn records_of_100_kilobytes_survive() {
    retrieves_long_records::<Piano>(&few_hints());
}

#[test]
fn windows_follow_one_another_with_repeated_and_adversarial_indices() {
    let (shape, mut context) = (Shape::new(1 << 16, 64).unwrap(), context(Kernel::best(), 1));
    let mut database = Database::seeded([4; 16], shape);
    let layout = Layout::new(&small(), shape).unwrap();
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    let (turns, mut failures) = (if in_full() { 100_000 } else { 4 * layout.window }, 0);
    for turn in 0..turns {
        // The next window's hints are made while half of this one is left.
        if turn % layout.window == layout.window / 2 {
            client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
        }
        // One record again and again, neighbours, and what would be one place of every chunk without the permutation.
        let index = match turn % 3 {
            0 => 17,
            1 => turn % shape.records,
            _ => turn * layout.chunk as u64 % shape.records,
        };
        if turn % 500 == 7 {
            let record = turn.to_le_bytes().to_vec();
            database.change(index, record.clone()).unwrap();
            let messages = server.update(&[(index, record)], &mut context).unwrap();
            client.update(&messages, &mut context).unwrap();
        }
        match exchange(&mut server, &mut client, &[index], &mut context) {
            Ok(records) => assert_eq!(records, [database.record(index).unwrap()], "turn {turn}"),
            Err(error) => {
                failures += 1;
                assert!(error.to_string().contains("cannot be had"), "{error}");
            }
        }
    }
    assert!(failures <= 1, "{failures} of {turns}");
}

/// A server, a client that has received nothing, and the parts of the database.
fn unread(shape: Shape, database: &Database, context: &mut Context) -> (Parties, Vec<Messages>) {
    let server = ServerSession::<Piano>::new(&small(), database, context).unwrap();
    let client = ClientSession::<Piano>::new(&small(), shape, context).unwrap();
    let mut parts = Vec::new();
    while let Some((messages, _)) = server.server.stream(parts.len() as u64) {
        parts.push(messages);
    }
    ((server, client), parts)
}

#[test]
fn parts_that_are_late_doubled_missing_or_altered_are_refused() {
    let (shape, mut context) = (Shape::new(1 << 14, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let ((mut server, mut client), parts) = unread(shape, &database, &mut context);
    let mut refusal = |messages: &Messages, context: &mut Context| {
        client.client.receive(messages.clone(), context).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refusal(&parts[0], &mut context).contains("fetched before a query"), "the seed comes first");
    assert_eq!(refusal(&server.server.publish(), &mut context), "");
    assert!(parts.len() > 2);
    for next in 0..=parts.len() {
        // The first part begins a window at any time.
        for other in (1..parts.len()).filter(|&other| other != next) {
            let error = refusal(&parts[other], &mut context);
            assert!(error.contains(&format!("part {other} came out of its order")), "{error}");
        }
        let Some(part) = parts.get(next) else { break };
        let (name, frame) = &part[0];
        let of = |payload: &[u8]| vec![(*name, Frame::of(Piano::NAME, name, payload).numbered(next as u16))];
        let payload = frame.payload();
        for (bad, problem) in [
            (of(&payload[8..]), "bytes, expected"),
            (of(&[payload, payload].concat()), "bytes, expected"),
            (vec![(*name, frame.clone().at_epoch(1))], "version 1"),
            ([&part[..], &part[..]].concat(), "one message"),
            (Messages::new(), "one message"),
        ] {
            let error = refusal(&bad, &mut context);
            assert!(error.contains(problem), "{error}");
        }
        assert_eq!(refusal(part, &mut context), "");
    }
    // What was refused left no trace: the records are right.
    let link = &mut Link::new(Piano::NAME);
    let mut client = ClientSession::<Piano>::resume(client.client, &mut server, link, &mut context).unwrap();
    let indices = [0, 17, shape.records - 1];
    let records = exchange(&mut server, &mut client, &indices, &mut context).unwrap();
    assert_eq!(records, indices.map(|index| database.record(index).unwrap()));
}

#[test]
fn a_window_that_is_used_up_says_so() {
    let (shape, mut context) = (Shape::new(50, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let window = Layout::new(&small(), shape).unwrap().window;
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    for turn in 0..window {
        assert_eq!(
            exchange(&mut server, &mut client, &[turn % 50], &mut context).unwrap(),
            [database.record(turn % 50).unwrap()]
        );
    }
    let refused = exchange(&mut server, &mut client, &[0], &mut context).unwrap_err().to_string();
    assert!(refused.contains("read the database again"), "{refused}");
    client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    assert_eq!(exchange(&mut server, &mut client, &[0], &mut context).unwrap(), [database.record(0).unwrap()]);
}

#[test]
fn sets_under_way_hold_the_entries_of_others_as_often_as_any() {
    let (shape, mut context) = (Shape::new(50, 64).unwrap(), context(Kernel::best(), 1));
    let layout = Layout::new(&small(), shape).unwrap();
    let data = vec![1; LANES * layout.chunk];
    let (trials, mut hits) = (8000, 0);
    for _ in 0..trials {
        let mut window = Window::new(&layout, &mut context.rng);
        window.read(&layout, &data, &mut context).unwrap();
        let [first, second] = [layout.join(0, 3), layout.join(1, 5)];
        window.take(&layout, first).unwrap();
        hits += u32::from(window.take(&layout, second).unwrap().set[0] == 3);
    }
    // The variance is a little less than the mean.
    let mean = f64::from(trials) / layout.chunk as f64;
    assert!((f64::from(hits) - mean).abs() < 5.0 * mean.sqrt(), "{hits} of {trials}, expected {mean}");
}

#[test]
fn hints_serve_again_before_their_answers_are_read() {
    for answer in ["sum", "sum_of_each_chunk"] {
        let params = set(answer, "packed", "failure_bits = 41");
        let (shape, mut context) = (Shape::new(50, 64).unwrap(), context(Kernel::best(), 1));
        let mut database = Database::seeded([4; 16], shape);
        let (mut server, mut client) = parties(&params, &database, &mut context);
        let halves = [(0..25).collect::<Vec<_>>(), (25..50).collect()];
        let requests = halves.each_ref().map(|indices| client.query(indices, &mut context).unwrap());
        assert!(client.client.under_way.values().filter(|request| request.taken.lacks.is_some()).count() > 5);
        let changes: Vec<_> = (0..50).step_by(3).map(|index| (index, vec![index as u8; 8])).collect();
        changes.iter().for_each(|(index, record)| database.change(*index, record.clone()).unwrap());
        let messages = server.update(&changes, &mut context).unwrap();
        client.update(&messages, &mut context).unwrap();
        for (request, indices) in requests.into_iter().zip(&halves) {
            let answer = server.answer(&[request], &mut context).unwrap().remove(0);
            let expected: Vec<Record> = indices.iter().map(|&index| database.record(index).unwrap()).collect();
            assert_eq!(client.extract(&answer, &context).unwrap(), expected);
        }
        // The hints are whole again: another entry would be wrong if one were not.
        let window = client.client.window.as_ref().unwrap();
        assert!(window.lacking.is_empty());
        let entries: Vec<u64> = (0..50).map(|index| word(&database.record(index).unwrap())).collect();
        let public = client.client.public.as_ref().unwrap();
        let layout = client.client.layout;
        let places: Vec<u32> = (0..50).map(|index| public.permutation.apply(0, index) as u32).collect();
        for (hint, &tag) in window.tags.iter().enumerate() {
            let mut set = window.sets.set(tag, layout.chunks);
            if window.programmed[hint] != super::window::NONE {
                let (chunk, place) = layout.split(window.programmed[hint]);
                set[chunk] = place;
            }
            let held = |position: u32| set[layout.split(position).0] == layout.split(position).1;
            let sum = (0..50).filter(|&index| held(places[index])).fold(0, |sum, index| sum ^ entries[index]);
            assert_eq!(window.sums.get(hint), [sum], "hint {hint}");
        }
    }
}

/// A client that reads the database while a request is open can still have every record, and its hints are new ones.
#[test]
fn reading_again_with_an_open_request_gives_up_its_window() {
    let (shape, mut context) = (Shape::new(50, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let (mut server, mut client) = parties(&small(), &database, &mut context);
    let most = client.client.layout.window;
    client.query(&(0..25).collect::<Vec<_>>(), &mut context).unwrap();
    let key = client.client.window.as_ref().unwrap().key.0;
    client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    // The entries that were asked for, and others, for which hints of the old window lack those.
    for index in 0..50 {
        let records = exchange(&mut server, &mut client, &[index], &mut context).unwrap();
        assert_eq!(records, [database.record(index).unwrap()]);
    }
    assert_eq!(client.queries_left(), most - 50);
    assert_ne!(client.client.window.as_ref().unwrap().key.0, key);
    // Every entry is known now, so that a request sends a random set. Its window is given up too: the server must not see which sets are random.
    client.query(&[0], &mut context).unwrap();
    assert!(client.client.under_way.is_empty());
    let kept = Client::of_state(&small(), shape, &client.client.state().unwrap(), &mut context).unwrap();
    assert!(kept.window.is_none());
    client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
    assert_eq!(client.queries_left(), most);
}

/// The word of a record of eight bytes.
fn word(record: &[u8]) -> u64 {
    u64::from_le_bytes(record.try_into().unwrap())
}

#[test]
fn requests_under_way_follow_updates_and_share_entries() {
    for (answer, offsets) in ["sum", "sum_of_each_chunk"].into_iter().flat_map(|a| [(a, "packed"), (a, "words")]) {
        let params = set(answer, offsets, "failure_bits = 41");
        let (shape, mut context) = (Shape::new(2000, 16).unwrap(), context(Kernel::best(), 1));
        let mut database = Database::seeded([4; 16], shape);
        let (mut server, mut client) = parties(&params, &database, &mut context);
        // Records 40 and 41 share an entry with 42 and 43; the second request asks for what is under way.
        let requests = [&[40, 900, 41][..], &[42, 1999]].map(|indices| client.query(indices, &mut context).unwrap());
        let changes = vec![(43, vec![1, 2]), (40, vec![3, 4]), (1, vec![9, 9])];
        for (index, record) in &changes {
            database.change(*index, record.clone()).unwrap();
        }
        let messages = server.update(&changes, &mut context).unwrap();
        client.update(&messages, &mut context).unwrap();
        for (request, indices) in requests.into_iter().zip([&[40, 900, 41][..], &[42, 1999]]) {
            let answer = server.answer(&[request], &mut context).unwrap().remove(0);
            let expected: Vec<Record> = indices.iter().map(|&index| database.record(index).unwrap()).collect();
            assert_eq!(client.extract(&answer, &context).unwrap(), expected);
        }
    }
}

/// Most bits of these queries are zeros, so that the common tests, which compare the bits of requests, are not for them.
#[test]
fn words_name_entries_or_places_below_a_chunk() {
    for answer in ["sum", "sum_of_each_chunk"] {
        let params = set(answer, "words", "times = 3");
        let (shape, mut context) = (Shape::new(1000, 100).unwrap(), context(Kernel::best(), 1));
        let database = Database::seeded([4; 16], shape);
        let (mut server, mut client) = parties(&params, &database, &mut context);
        let layout = client.client.layout;
        let mut request = client.query(&[7], &mut context).unwrap();
        let places = super::client::words(request.messages[0].1.payload());
        for (chunk, &place) in (0..).zip(&places) {
            let first = if answer == "sum" { u64::from(layout.join(chunk, 0)) } else { 0 };
            assert!((first..first + layout.chunk as u64).contains(&place), "{place} of chunk {chunk}");
        }
        let wrong: Vec<u8> =
            [layout.chunk as u64].iter().chain(&places[1..]).flat_map(|word| word.to_le_bytes()).collect();
        request.messages = vec![("query", Frame::of(Piano::NAME, "query", &wrong))];
        let error = server.answer(&[request], &mut context).unwrap_err().to_string();
        assert!(error.contains("in the place of an entry of chunk 0"), "{error}");
        // The request that was refused stays open; reading again closes it.
        client.connect(&mut server, &mut Link::new(Piano::NAME), &mut context).unwrap();
        let indices = [7, 999, 7, 0];
        let records = exchange(&mut server, &mut client, &indices, &mut context).unwrap();
        assert_eq!(records, indices.map(|index| database.record(index).unwrap()));
    }
}

#[test]
fn sets_are_the_same_however_they_are_read() {
    let sets = Sets::new(&Seed([7; 16]), 64);
    let tags = [5u32, 900, 0, 77];
    for (i, &tag) in tags.iter().enumerate() {
        let places = sets.set(tag, 12);
        assert!(places.iter().all(|&place| place < 64));
        for quad in 0..12 / LANES {
            // From the stream, one by one, and a range that is longer than what is made together.
            for tags in [tag..tag + 1, 0..1000] {
                sets.of_tags(tags.clone(), quad, |at, lanes| {
                    let is_it = tags.start + at as u32 == tag;
                    assert!(!is_it || lanes[..] == places[quad * LANES..(quad + 1) * LANES]);
                });
            }
        }
        sets.places(&tags, 6, |at, place| assert!(at != i || place == places[6]));
        let found = sets.find(&tags, 9, |at, place| at >= i && place == places[9]);
        assert_eq!(found, Some(i));
    }
}

#[test]
fn counts_and_bytes_of_the_paper() {
    // The reference implementation's constants at 8 bytes an entry: chunk, chunks, window, hints, spare hints of a chunk.
    let params = set("sum", "words", "times = 3");
    for (log2_records, chunk, chunks, window, hints, backups) in [
        (20, 2048, 512, 14_195, 77_824, 81),
        (24, 8192, 2048, 68_139, 327_680, 99),
        (27, 32_768, 4096, 216_817, 1_343_488, 156),
        (28, 32_768, 8192, 317_982, 1_376_256, 114),
    ] {
        let layout = Layout::new(&params, Shape::new(1 << log2_records, 64).unwrap()).unwrap();
        let found = (layout.chunk, layout.chunks, layout.window, layout.hints, layout.backups);
        assert_eq!(found, (chunk, chunks, window, hints, backups));
    }
    // 32 KiB up, 32 down and the database over the queries of a window: 68.84 KiB, or 68.83 without the first offset, which is 0.
    let older = set("sum_of_each_chunk", "words", "times = 3");
    let workload = Workload::new(Shape::new(1 << 27, 64).unwrap(), 1, 0).unwrap();
    let sizes = Piano::describe(&older, &workload).unwrap();
    let [query, answer, database] = ["query", "answer", "database"].map(|name| sizes.payload_bytes(name) as f64);
    assert_eq!((query, answer, database), (8.0 * 4095.0, 8.0 * 4096.0, f64::from(1 << 30)));
    assert_eq!(((query + answer + database / 216_817.0) / 1024.0 * 100.0).round(), 6883.0);
}

#[test]
fn sizes_do_not_wrap_around() {
    grows_up_to_the_bounds::<Piano>(&small());
}

/// A client that has read the whole database refuses one part more, as it does any other that is out of its turn.
#[test]
fn a_part_after_the_last_is_refused() {
    let (shape, mut context) = (Shape::new(1000, 64).unwrap(), context(Kernel::best(), 1));
    let ((server, mut client), parts) = unread(shape, &Database::seeded([4; 16], shape), &mut context);
    client.client.receive(server.server.publish(), &mut context).unwrap();
    for part in &parts {
        client.client.receive(part.clone(), &mut context).unwrap();
    }
    let (name, frame) = parts[0][0].clone();
    let more = vec![(name, frame.numbered(parts.len() as u16))];
    let error = client.client.receive(more, &mut context).unwrap_err().to_string();
    assert!(error.contains("came out of its order"), "{error}");
}
