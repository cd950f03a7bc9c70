//! What a server, a client and a set refuse.

use rand_chacha::rand_core::RngCore;

use super::*;
use crate::core::database::Database;
use crate::core::protocol::Context;
use crate::core::workload::Shape;

/// Everything that a client of that set sends.
fn messages<F: Selecting>(params: &Set<F>, shape: Shape, context: &mut Context) -> Vec<(&'static str, Frame)> {
    let database = Database::seeded([3; 16], shape);
    let mut client = parties(params, shape, context).1.client;
    client.upload(params.database.encrypted.then_some(&database), context).unwrap()
}

/// Keys, and an encrypted database, that are missing, cut, of another set, or with numbers out of range are refused with the message's
/// name.
#[test]
fn bad_keys_are_refused() {
    for changes in [&[][..], &[("moduli = 1", "moduli = 1\nencrypted = true")]] {
        refuses_bad_keys::<Index>(INDEX, changes);
        refuses_bad_keys::<Bits>(BITS, changes);
    }
}

fn refuses_bad_keys<F: Selecting>(query: &str, changes: &[(&str, &str)]) {
    let shape = Shape::new(50, 100).unwrap();
    let mut context = context(1);
    let changed = |more: &[(&str, &str)]| set::<F>(query, &[changes, more].concat());
    let params = changed(&[]);
    let (mut server, _) = parties(&params, shape, &mut context);
    let keys = messages(&params, shape, &mut context);
    assert_eq!(keys.iter().any(|(name, _)| *name == encrypted::DATABASE), params.database.encrypted);
    let other = changed(&[("dimension = 40", "dimension = 38"), ("base_log2 = 4", "base_log2 = 5")]);
    let foreign = messages(&other, shape, &mut context);
    let with = |name: &str, bytes: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<(&'static str, Frame)> {
        let change = |(key, frame): &(&'static str, Frame)| {
            let payload = if *key == name { bytes(frame.payload()) } else { frame.payload().to_vec() };
            let mut builder = FrameBuilder::new(payload.len());
            builder.payload_mut().copy_from_slice(&payload);
            (*key, builder.finish(F::NAME, key))
        };
        keys.iter().map(change).collect()
    };
    for (i, (name, _)) in keys.iter().enumerate() {
        let mut missing = keys.clone();
        missing.remove(i);
        let cut = with(name, &|bytes| bytes[1..].to_vec());
        // Above every modulus that is not a power of two; for these, all values are in range.
        let large = with(name, &|bytes| vec![0xff; bytes.len()]);
        for bad in [missing, cut] {
            let error = server.server.receive(&bad, &mut context).unwrap_err().to_string();
            assert!(error.contains(name), "{name}: {error}");
        }
        let error = server.server.receive(&large, &mut context).err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(|e| e.contains(name)) || *name == keys::SWITCHING, "{name}: {error:?}");
    }
    // Gadgets of as many digits elsewhere: keys of the same lengths, which would answer with noise.
    let twin = changed(&[("base_log2 = 7", "base_log2 = 7\ndropped = 1"), ("dropped = 7", "dropped = 6")]);
    let twins = messages(&twin, shape, &mut context);
    for bad in [twins, foreign] {
        let error = server.server.receive(&bad, &mut context).unwrap_err().to_string();
        assert!(error.contains("other parameters"), "{error}");
    }
    if params.database.encrypted {
        // Good keys, but a database of smaller digits: in more polynomials.
        let digits = changed(&[("plain_modulus = 16", "plain_modulus = 2")]);
        let mut mixed = keys.clone();
        mixed.pop();
        mixed.extend(messages(&digits, shape, &mut context).pop());
        let error = server.server.receive(&mixed, &mut context).unwrap_err().to_string();
        assert!(error.contains(encrypted::DATABASE), "{error}");
    }
    assert!(server.server.receive(&keys, &mut context).is_ok());
}

/// Requests of sessions the server does not know, cut, or with another message.
#[test]
fn bad_queries_are_refused() {
    let shape = Shape::new(50, 100).unwrap();
    let mut context = context(1);
    let (server, mut client) = parties(&set::<Index>(INDEX, &[]), shape, &mut context);
    assert!(client.query(&[50], &mut context).unwrap_err().to_string().contains("out of range"));
    let good = client.query(&[49], &mut context).unwrap();
    for session in [0, 2, u64::MAX] {
        let error = server.answer(&[Request { session, ..good.clone() }], &mut context).unwrap_err().to_string();
        assert!(error.contains("no keys"), "{error}");
    }
    let short = FrameBuilder::new(35).finish(Pirouette::NAME, "query");
    let foreign = FrameBuilder::new(36).finish(PirouetteH::NAME, "query");
    for frame in [short, foreign] {
        let bad = Request { messages: vec![("query", frame)], ..good.clone() };
        assert!(server.answer(&[bad], &mut context).is_err());
    }
    // Any 36 bytes are a query of some index: the answer is noise, not a panic.
    for _ in 0..4 {
        let mut random = FrameBuilder::new(36);
        context.rng.fill_bytes(random.payload_mut());
        let messages = vec![("query", random.finish(Pirouette::NAME, "query"))];
        assert!(server.answer(&[Request { messages, ..good.clone() }], &mut context).is_ok());
    }
    let mut early = ClientSession::<Pirouette>::new(&set(INDEX, &[]), shape, &mut context).unwrap();
    assert!(early.query(&[0], &mut context).unwrap_err().to_string().contains("offline exchange"));
}

#[test]
fn sets_out_of_range_are_refused_by_key() {
    let cases = [
        ("modulus_log2 = 44", "modulus_log2 = 62", "query.modulus_log2"),
        ("body_bits = 32", "body_bits = 33", "query.body_bits"),
        ("digit_bits = 3", "digit_bits = 9", "query.digit_bits"),
        ("modulus_log2 = 18", "modulus_log2 = 8", "query.key_switching.modulus_log2"),
        ("plain_modulus = 16", "plain_modulus = 15", "database.plain_modulus"),
        ("first_bits = 3", "first_bits = 17", "database.first_bits"),
        ("moduli = 1", "moduli = 3", "database.moduli"),
        ("bits_per_step = 2", "bits_per_step = 3", "blind_rotation.bits_per_step"),
        ("base_log2 = 8", "base_log2 = 28", "blind_rotation.base_log2"),
        ("dropped = 7", "dropped = 70", "rgsw"),
        ("dropped = 7", "dropped = 7\nspacing = 37", "rgsw.spacing"),
        ("dropped = 7", "dropped = 7\nspacing = 38", "rgsw.spacing"),
        ("kind = \"binary\"", "kind = \"uniform\"", "lwe.secret"),
        ("dimension = 40", "dimension = 0", "lwe.dimension"),
        ("degree = 64", "degree = 512", "response.degree"),
        ("mask_modulus = 16760833", "mask_modulus = 16760832", "response.mask_modulus"),
        ("body_modulus = 256", "body_modulus = 16", "response.body_modulus"),
        ("protocol = \"pirouette\"", "protocol = \"respire\"", "protocol"),
    ];
    for (from, to, key) in cases {
        let error = try_set::<Index>(INDEX, &[(from, to)]).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}")), "{to}: {error}");
    }
    // An index that leaves no room for the rounded body.
    let params = set::<Index>(INDEX, &[("body_bits = 32", "body_bits = 12")]);
    let error = Pirouette::describe(&params, &Workload::new(Shape::new(1 << 20, 256).unwrap(), 1, 0).unwrap());
    assert!(error.unwrap_err().to_string().contains("does not fit a query"));
}
