//! Entries that no hint holds, and spare hints that are used up.

use super::super::hints::Entries;
use super::*;

#[test]
fn a_failure_is_an_error_and_a_set_like_any_other() {
    // A spare hint a chunk: the second entry of a chunk finds none left.
    let params = set("sum", "packed", "times = 1");
    let (shape, mut context) = (Shape::new(1 << 14, 64).unwrap(), context(Kernel::best(), 1));
    let database = Database::seeded([4; 16], shape);
    let (server, mut client) = parties(&params, &database, &mut context);
    let layout = Layout::new(&params, shape).unwrap();
    // Of requests that are served and of those that fail: how many, and how many bits of their sets are ones.
    let [mut served, mut failed] = [(0u64, 0u64); 2];
    for index in 0..layout.window {
        let request = client.query(&[index], &mut context).unwrap();
        let set = request.messages[0].1.payload().to_vec();
        assert_eq!(set.len(), layout.query_bytes());
        let answer = server.answer(&[request], &mut context).unwrap().remove(0);
        let kind = match client.extract(&answer, &context) {
            Ok(records) => {
                assert_eq!(records, [database.record(index).unwrap()]);
                &mut served
            }
            Err(error) => {
                assert!(error.to_string().contains("cannot be had"), "{error}");
                &mut failed
            }
        };
        kind.0 += 1;
        kind.1 += set.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    }
    assert!(failed.0 > 10 && served.0 > 50, "{} failed, {} served", failed.0, served.0);
    for (requests, ones) in [served, failed] {
        let bits = (requests * 8 * layout.query_bytes() as u64) as f64;
        assert!((ones as f64 - bits / 2.0).abs() < 2.5 * bits.sqrt(), "{ones} ones of {bits} bits");
    }
}

/// The client keeps an entry that no hint holds: a request for it sends a random set and needs no answer. A second one is covered by a query for
/// another entry.
#[test]
fn an_entry_that_no_hint_holds_is_kept() {
    let params = few_hints();
    let (shape, mut context) = (Shape::new(1 << 16, 64).unwrap(), context(Kernel::best(), 1));
    let mut database = Database::seeded([4; 16], shape);
    let (mut server, mut client) = parties(&params, &database, &mut context);
    let layout = client.client.layout;
    let (public, window) = (client.client.public.as_ref().unwrap(), client.client.next.as_ref().unwrap());
    let is_kept = |&index: &u64| window.unhit.has(public.permutation.apply(0, index) as u32);
    let kept: Vec<u64> = (0..shape.records).filter(is_kept).collect();
    assert!(kept.len() == window.unhit.len() && kept.len() > 1, "{} entries", window.unhit.len());
    // What is kept follows updates.
    let changes = vec![(kept[0], vec![9; 8])];
    database.change(kept[0], changes[0].1.clone()).unwrap();
    let messages = server.update(&changes, &mut context).unwrap();
    client.update(&messages, &mut context).unwrap();
    // Without the entry, no record is returned.
    let none = Entries::new(layout.entry_words);
    let unhit = std::mem::replace(&mut client.client.next.as_mut().unwrap().unhit, none);
    let error = exchange(&mut server, &mut client, &[kept[0]], &mut context).unwrap_err().to_string();
    assert!(error.contains(&format!("record {} cannot be had: no hint holds the entry", kept[0])), "{error}");
    client.client.window.as_mut().unwrap().unhit = unhit;
    let mut ones = 0;
    for &index in &kept {
        for under_way in [0, 1] {
            let request = client.query(&[index], &mut context).unwrap();
            assert_eq!(client.client.under_way.len(), under_way, "record {index}");
            let set = request.messages[0].1.payload();
            assert_eq!(set.len(), layout.query_bytes());
            ones += set.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
            let answer = server.answer(&[request], &mut context).unwrap().remove(0);
            assert_eq!(client.extract(&answer, &context).unwrap(), [database.record(index).unwrap()]);
        }
    }
    let bits = (2 * kept.len() * 8 * layout.query_bytes()) as f64;
    assert!((ones as f64 - bits / 2.0).abs() < 2.5 * bits.sqrt(), "{ones} ones of {bits} bits");
}
