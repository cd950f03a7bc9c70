//! What a client, a server and a set refuse.

use super::*;
use crate::core::wire::FrameBuilder;

/// A block masks one index: numbers go up, and a client whose last is used asks no more.
#[test]
fn no_block_serves_twice() {
    let shape = Shape::new(300, 100).unwrap();
    let mut context = context(1);
    let (_, mut client) = parties(&changed(&[]), shape, &mut context);
    let number = |client: &mut ClientSession<TRespire>, indices: &[u64], context: &mut Context| {
        let request = client.query(indices, context).map(|request| request.messages[0].1.payload().to_vec());
        request.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    };
    assert_eq!(number(&mut client, &[1, 2, 3], &mut context).unwrap(), 0);
    assert_eq!(number(&mut client, &[1], &mut context).unwrap(), 3);
    client.client.asker.used = (1 << 32) - 2;
    let refused = number(&mut client, &[1, 2, 3], &mut context).unwrap_err().to_string();
    assert!(refused.contains("set up a new client"), "{refused}");
    assert_eq!(number(&mut client, &[1, 2], &mut context).unwrap(), u32::MAX - 1);
    assert!(number(&mut client, &[1], &mut context).is_err());
}

/// Keys of the cipher that are missing, cut, or with numbers out of range.
#[test]
fn bad_keys_of_the_cipher_are_refused() {
    let shape = Shape::new(50, 100).unwrap();
    let mut context = context(1);
    let (mut server, mut client) = parties(&changed(&[]), shape, &mut context);
    let keys = client.client.upload(None, &mut context).unwrap();
    for name in [OF_FIRST, OF_OTHERS] {
        let place = keys.iter().position(|(key, _)| *key == name).unwrap();
        let mut missing = keys.clone();
        missing.remove(place);
        let with = |bytes: &[u8]| {
            let mut changed = keys.clone();
            let mut frame = FrameBuilder::new(bytes.len());
            frame.payload_mut().copy_from_slice(bytes);
            changed[place].1 = frame.finish(TRespire::NAME, name);
            changed
        };
        let payload = keys[place].1.payload();
        let (cut, large) = (with(&payload[1..]), with(&vec![0xff; payload.len()]));
        for bad in [missing, cut, large] {
            let error = server.server.receive(&bad, &mut context).unwrap_err().to_string();
            assert!(error.contains(name), "{name}: {error}");
        }
    }
    assert!(server.server.receive(&keys, &mut context).is_ok());
}

#[test]
fn sets_out_of_range_are_refused_by_key() {
    for (from, to, key) in [
        ("degree = 256", "degree = 128", "rlwe.degree"),
        ("base_log2 = 8\ndropped = 5", "base_log2 = 8\ndropped = 50", "query.rounds"),
        ("base_log2 = 8\ndropped = 5", "base_log2 = 8\ndropped = 5\nspacing = 129", "query.rounds.spacing"),
        ("modulus_log2 = 18", "modulus_log2 = 8", "query.key_switching.modulus_log2"),
    ] {
        let error = try_set::<Cipher>(CIPHER, &[&FAST[..], &[(from, to)]].concat()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`")), "{to}: {error}");
    }
}

/// Four bytes of a keystream mask 32 bits.
#[test]
fn longer_indices_are_refused() {
    let params = changed(&[("first_bits = 3", "first_bits = 16")]);
    let described = |records: u64| {
        TRespire::describe(&params, &Workload::new(Shape::new(records, 256).unwrap(), 1, 0).unwrap()).map(|_| ())
    };
    assert!(described(1 << 32).is_ok());
    let refused = described(1 << 33).unwrap_err().to_string();
    assert!(refused.contains("an index of 33 bits"), "{refused}");
}
