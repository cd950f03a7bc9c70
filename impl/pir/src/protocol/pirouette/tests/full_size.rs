//! The set for 2^30 records as such: an index of six digits, a seed chosen for its rounding, keys of its size. The database is two
//! terabytes, and not touched.

use lattice::Workspace;
use lattice::functional::DigitLayout;

use super::*;
use crate::core::workload::Shape;
use crate::parts::folding::Responder;
use crate::protocol::tests_support::committed;
use keys::ServerKeys;

#[test]
fn an_index_of_six_digits_comes_apart() {
    let params = committed::<Pirouette>("pirouette/2^30");
    let shape = Shape::new(1 << 30, 2048).unwrap();
    let layout = params.layout(shape).unwrap();
    assert_eq!((set::index_bits(&layout), params.query.digits(30)), (30, 6));
    assert!(params.encryption().unwrap().chosen_bits > 0);
    let mut context = context(1);
    let mut client = ClientSession::<Pirouette>::new(&params, shape, &mut context).unwrap();
    let ring = params.ring(context.kernel).unwrap();
    let responder = Responder::new(params.response.params(), &ring).unwrap();
    let sent = client.client.upload(None, &mut context).unwrap();
    let keys = ServerKeys::receive(&params, &layout, (&ring, &responder), &sent, &context).unwrap();
    drop(sent);

    // The least and the greatest digit, and what lies between.
    let index = 0b00000_11111_10101_01010_00001_10000;
    let (_, messages) = client.client.query(&[index], &mut context).unwrap();
    let payload = messages[0].1.payload();
    assert_eq!(payload.len(), 36);
    let encryption = params.encryption().unwrap();
    let masks = encryption.masks(&payload[..32].try_into().unwrap(), 0, 1, params.rlwe.degree);
    let query = encryption.read(masks, &mut lattice::wire::Reader::of(&payload[32..])).remove(0);

    let digit_bits = params.query.digit_bits;
    let low = params.query.scale_log2(30).unwrap();
    let digits = DigitLayout::try_new(encryption.modulus_log2, low, digit_bits, 6).unwrap();
    let bootstrapper = keys.bootstrapper().unwrap();
    let mut workspace: Workspace<u32> = crate::parts::ring_matrix::workspace();
    let found = bootstrapper.digits(&digits, &query, &mut workspace).unwrap();
    let (large, small) = (&client.client.secrets.large, &client.client.secrets.small);
    let read = bootstrapper.digits_to_small(&digits, &found, &mut workspace).unwrap();
    let window = (2 * params.rlwe.degree as u64) >> digit_bits;
    for ((k, digit), read) in (0..).zip(&found).zip(&read) {
        let value = index >> (k * digit_bits) & ((1 << digit_bits) - 1);
        let error = query::centred_error(large, digit, value << (low + k * digit_bits)).unwrap();
        let unit = (1u64 << (low + k * digit_bits)) as f64;
        assert!(error.abs() < unit / 4.0, "digit {k}: {error} of {unit}");
        // What a rotation sees: six of nine standard deviations.
        let error = query::centred_error(small, read, value * window + window / 2).unwrap();
        assert!(error.abs() < digits.tolerance(params.rlwe.degree) * 2.0 / 3.0, "digit {k}: {error} of {window}");
    }
    let bits = bootstrapper.bits(&digits, &found, &mut workspace).unwrap().concat();
    assert_eq!(bits.len(), 30);
    let half = params.rlwe.modulus() / 2;
    for (i, bit) in bits.iter().enumerate() {
        let error = query::centred_error(large, bit, (index >> i & 1) * half).unwrap();
        assert!(error.abs() < half as f64 / 8.0, "bit {i}: {error}");
    }
}
