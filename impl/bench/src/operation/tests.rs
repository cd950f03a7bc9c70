use ring::Kernel;
use serde_json::{Map, Value, json};

use crate::primitive::{Context, Described, Measured, Started};
use crate::registry;
use crate::settings::{Refusal, Settings};

fn describe(name: &str, settings: &Settings) -> Result<Described, Refusal> {
    (registry::find(name).unwrap().read)(settings)?.describe()
}

fn start(name: &str, settings: &Settings, context: &Context) -> Started {
    (registry::find(name).unwrap().read)(settings)?.start(context)
}

const N: f64 = 256.0;
const SIGMA: f64 = 6.4;

/// Settings of an operation at toy size, with `more` merged in.
fn settings(operation: &str, more: Value) -> Settings {
    let mut map = Map::new();
    let mut add = |value: Value| map.extend(value.as_object().cloned().unwrap_or_default());
    add(json!({"operation": operation, "keys": 8, "samples": 8192, "stddev": SIGMA}));
    if operation != "lwe-key-switch" {
        add(json!({"n": 256, "prime_bits": [28, 28]}));
    }
    add(more);
    Settings::new(map)
}

fn measure(settings: &Settings) -> Measured {
    let context = Context { kernel: Kernel::best(), seed: Some([7; 32]) };
    let mut session = start("noise", settings, &context).unwrap();
    let mut out = Measured::default();
    session.repetition(&mut out).unwrap();
    session.finish(&mut out).unwrap();
    out
}

/// Asserts the mean square of a stage to within a fifth.
fn assert_noise(out: &Measured, stage: &str, expected: f64) {
    let noise = &out.noise[stage];
    assert!(noise.samples >= 8192 && noise.keys == 8, "{stage}: {noise:?}");
    assert!((noise.variance / expected - 1.0).abs() < 0.2, "{stage}: {} where {expected} is due", noise.variance);
    assert_eq!(out.values[&format!("{stage}.key_mean_square")].len(), 8);
}

#[test]
fn linear_operations_have_their_noise() {
    let fresh = SIGMA * SIGMA;
    let cases = [
        ("fresh", json!({}), fresh),
        ("add", json!({"terms": 3}), 3.0 * fresh),
        ("plaintext-product", json!({"plain_modulus": 16, "plain_digits": "balanced"}), N * fresh * 21.5),
        ("plaintext-product", json!({"plain_modulus": 16, "plain_digits": "unsigned"}), N * fresh * 77.5),
        ("monomial-product", json!({"exponent": 300}), fresh),
        ("sample-extraction", json!({}), fresh),
        ("sample-extraction", json!({"secret": "gaussian", "secret_stddev": 3.2}), fresh),
    ];
    for (operation, more, expected) in cases {
        assert_noise(&measure(&settings(operation, more)), "output", expected);
    }
}

#[test]
fn switched_moduli_round() {
    let ternary = 2.0 / 3.0;
    let out = measure(&settings("modulus-switch", json!({"to_modulus": "1048576"})));
    assert_noise(&out, "added", (1.0 + N * ternary) / 12.0);
    assert_noise(&out, "output", (1.0 + N * ternary) / 12.0);
    let more =
        json!({"to_modulus_a": "268369921", "to_modulus_b": "1048576", "secret": "fixed-weight", "secret_weight": 64});
    let ratio = 1_048_576.0f64 / 268_369_921.0;
    assert_noise(&measure(&settings("split-modulus-switch", more)), "added", (1.0 + ratio * ratio * 64.0) / 12.0);
}

#[test]
fn products_and_switches_have_their_noise() {
    // Balanced digits in base 2^8: E x^2 = (b^2 + 2) / 12, the top digit less.
    let gadget = |more: Value| {
        let mut all = json!({"family": "balanced", "base": 256});
        all.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        all
    };
    let squares = |described: &Described| -> f64 {
        described.settings["digit_mean_squares"].as_array().unwrap().iter().filter_map(Value::as_f64).sum()
    };
    let cases = [
        ("gadget-product", json!({"message": "ternary"}), "added", 1.0),
        ("external-product", json!({"message": "one"}), "added", 2.0),
        ("external-product", json!({"message": "zero", "family": "jlp24"}), "added", 2.0),
        ("cmux", json!({}), "added", 2.0),
        ("cmux", json!({"bit": 1, "family": "zy22"}), "added", 2.0),
        ("rlwe-key-switch", json!({"secret": "binary"}), "added", 1.0),
        ("automorphism", json!({"exponent": 5}), "added", 1.0),
        ("ring-switch", json!({"n_to": 64}), "added", 1.0),
        ("trace", json!({"subring": 64}), "added", 3.0),
        ("trace", json!({"subring": 64}), "added-kept", 5.0),
        ("expansion", json!({"depth": 3}), "added", 7.0),
        ("expansion", json!({"depth": 3}), "added-kept", 21.0),
    ];
    for (operation, more, stage, factor) in cases {
        let settings = settings(operation, gadget(more));
        let described = describe("noise", &settings).unwrap();
        assert!(described.predicted_seconds > 0.0 && described.peak_bytes > 0);
        let out = measure(&settings);
        assert_noise(&out, stage, factor * N * SIGMA * SIGMA * squares(&described));
        assert!(out.noise.contains_key("output") || operation == "gadget-product");
    }
}

#[test]
fn lwe_key_switch_has_its_noise() {
    let settings = settings(
        "lwe-key-switch",
        json!({"dimension_from": 128, "dimension_to": 80, "modulus": "4294967296", "input_stddev": 3.2,
            "family": "balanced", "base": 16}),
    );
    let described = describe("noise", &settings).unwrap();
    let squares: f64 =
        described.settings["digit_mean_squares"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
    let added = 128.0 * SIGMA * SIGMA * squares;
    let out = measure(&settings);
    assert_noise(&out, "added", added);
    assert_noise(&out, "output", added + 3.2 * 3.2);
}

#[test]
fn compensated_switches_meet_keys_less_a_half() {
    let own = |more: Value| {
        let mut map = json!({"operation": "compensated-modulus-switch", "keys": 8, "samples": 8192, "stddev": 300.0,
            "secret": "binary", "dimension": 240, "modulus": "1048576", "to_modulus": "4096"});
        map.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        Settings::new(map.as_object().cloned().unwrap())
    };
    let described = describe("noise", &own(json!({}))).unwrap();
    assert!(described.predicted_seconds > 0.0 && described.peak_bytes > 0);
    let out = measure(&own(json!({})));
    let added = (1.0 + 240.0 / 4.0) / 12.0;
    assert_noise(&out, "added", added);
    assert_noise(&out, "output", added + (300.0f64 / 256.0).powi(2));
    let refused = |more: Value| describe("noise", &own(more)).unwrap_err().key;
    assert_eq!(refused(json!({"secret": "ternary"})), "secret");
    assert_eq!(refused(json!({"to_modulus": "2097152"})), "to_modulus");
    assert_eq!(refused(json!({"dimension": 0})), "dimension");
    assert_eq!(refused(json!({"n": 256})), "n");
}

#[test]
fn ring_switches_have_their_noise() {
    let own = |more: Value| {
        let mut map = json!({"n": 256, "prime_bits": [28], "stddev": 3.2, "n_to": 64, "to_modulus_a": "12289",
            "to_modulus_b": "4096", "switch_stddev": 0.5, "switch_base": 2, "keys": 8, "ciphertexts": 160});
        map.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        Settings::new(map.as_object().cloned().unwrap())
    };
    let run = |settings: &Settings| {
        let context = Context { kernel: Kernel::best(), seed: Some([11; 32]) };
        let session = start("ring-switch", settings, &context).unwrap();
        let mut out = Measured::default();
        session.finish(&mut out).unwrap();
        out
    };
    for (more, input) in [(json!({}), 3.2), (json!({"stddev": 16000.0, "small_secret": "binary"}), 16000.0)] {
        let settings = own(more);
        let described = describe("ring-switch", &settings).unwrap();
        assert_eq!(described.counts["output_bytes"], f64::from((64 * 14 + 64 * 12) / 8));
        assert!(described.predicted_seconds > 0.0 && described.peak_bytes > 0);
        let squares: f64 =
            described.settings["digit_mean_squares"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        let ratio = 4096.0f64 / 12289.0;
        // E[e^2] of a discrete Gaussian of 1/2 is 1/4 but for a hundredth.
        let before = (1.0 + N * 2.0 / 3.0) / 12.0 + N * 0.25 * squares;
        let added = 1.0 / 12.0 + ratio * ratio * before;
        let out = run(&settings);
        assert_noise(&out, "added", added);
        assert_noise(&out, "output", added + (input * 4096.0 / f64::from(1 << 28)).powi(2));
        assert!(out.times["operation"].samples.iter().all(|seconds| *seconds > 0.0));
    }
    let refused = |more: Value| describe("ring-switch", &own(more)).unwrap_err().key;
    assert_eq!(refused(json!({"n_to": 256})), "n_to");
    assert_eq!(refused(json!({"prime_bits": [50]})), "prime_bits");
    assert_eq!(refused(json!({"to_modulus_a": "4096"})), "to_modulus_a");
    assert_eq!(refused(json!({"to_modulus_b": "3"})), "to_modulus_b");
    assert_eq!(refused(json!({"switch_base": 1})), "switch_base");
    assert_eq!(refused(json!({"small_secret": "fixed-weight"})), "small_secret");
    assert_eq!(refused(json!({"small_secret": "gaussian"})), "small_secret_stddev");
    assert_eq!(refused(json!({"secret_stddev": 3.0})), "secret_stddev");
}

#[test]
fn wide_moduli_take_wide_words() {
    let settings = settings(
        "external-product",
        json!({"prime_bits": [50, 50], "message": "one", "family": "balanced", "base": 1024}),
    );
    let described = describe("noise", &settings).unwrap();
    assert_eq!(described.settings["word_bits"], json!(64));
    let squares: f64 =
        described.settings["digit_mean_squares"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
    assert_noise(&measure(&settings), "added", 2.0 * N * SIGMA * SIGMA * squares);
}

#[test]
fn useless_and_missing_settings_are_named() {
    let refused = |operation: &str, more: Value| describe("noise", &settings(operation, more)).unwrap_err().key;
    assert_eq!(refused("fresh", json!({"base": 4})), "base");
    assert_eq!(refused("fresh", json!({"secret_stddev": 4.0})), "secret_stddev");
    assert_eq!(refused("fresh", json!({"n": 100})), "n");
    assert_eq!(refused("fresh", json!({"prime_bits": [9, 9, 9]})), "prime_bits");
    assert_eq!(refused("fresh", json!({"stddev": 0.0})), "stddev");
    assert_eq!(refused("automorphism", json!({"family": "balanced", "base": 4, "exponent": 4})), "exponent");
    assert_eq!(refused("automorphism", json!({"family": "best", "base": 4, "exponent": 5})), "family");
    assert_eq!(refused("automorphism", json!({"family": "balanced", "base": 1, "exponent": 5})), "base");
    assert_eq!(refused("cmux", json!({"family": "balanced", "base": 4, "bit": 2})), "bit");
    assert_eq!(refused("modulus-switch", json!({"to_modulus": "ten"})), "to_modulus");
    assert_eq!(refused("external-product", json!({"family": "balanced", "base": 4})), "message");
}

#[test]
fn families_are_called_in_settings_as_they_are_shown() {
    for family in gadget::Family::ALL {
        assert_eq!(json!(family), family.to_string());
    }
}

#[test]
fn shared_settings_are_listed_where_one_is_unknown() {
    let own = json!({"n": 256, "prime_bits": [28], "stddev": 3.2, "family": "balanced", "base": 4, "lengths": [1],
        "input": "rotate", "selectors": "one", "lenghts": [2]});
    let refusal = describe("cmux-chain", &Settings::new(own.as_object().cloned().unwrap())).unwrap_err();
    assert_eq!(refusal.key, "lenghts");
    assert!(["`lengths`", "`prime_bits`", "`dropped`"].iter().all(|key| refusal.problem.contains(key)), "{refusal}");
}

#[test]
fn rotations_refuse_a_ring_of_dimension_zero_before_its_digits() {
    let own = json!({"operation": "floor", "n": 0, "prime_bits": [28], "stddev": 3.2, "family": "balanced", "base": 4,
        "dimension": 4, "form": "joint", "ciphertexts": 1, "log_modulus": 18, "low": 12, "digit_bits": 2, "digits": 3,
        "switch_modulus": "1048576", "switch_base": 16, "switch_stddev": 3.2});
    assert_eq!(describe("rotation", &Settings::new(own.as_object().cloned().unwrap())).unwrap_err().key, "n");
}

/// Noise of a chain after each length.
fn chain(more: Value) -> Measured {
    let mut map =
        json!({"n": 256, "prime_bits": [28, 28], "keys": 4, "stddev": SIGMA, "base": 256, "lengths": [1, 4, 16]});
    map.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let settings = Settings::new(map.as_object().cloned().unwrap());
    assert!(describe("cmux-chain", &settings).unwrap().predicted_seconds > 0.0);
    let context = Context { kernel: Kernel::best(), seed: Some([8; 32]) };
    let session = start("cmux-chain", &settings, &context).unwrap();
    let mut out = Measured::default();
    session.finish(&mut out).unwrap();
    out
}

#[test]
fn chains_add_noise_and_fixed_inputs_add_it_coherently() {
    let ratio = |out: &Measured| out.noise["after-16"].variance / out.noise["after-1"].variance;
    let rotating = chain(json!({"family": "balanced", "input": "rotate", "selectors": "fresh"}));
    assert!((ratio(&rotating) / 16.0 - 1.0).abs() < 0.35, "{}", ratio(&rotating));
    // The same digits meet the same errors at every step.
    let fixed = json!({"family": "balanced", "input": "constant", "selectors": "one"});
    assert!((ratio(&chain(fixed)) / 256.0 - 1.0).abs() < 1e-9);
    // Fresh coins do not.
    let dithered = ratio(&chain(json!({"family": "dither-q", "input": "constant", "selectors": "one"})));
    assert!(dithered < 64.0, "{dithered}");
}

/// Settings of a failure experiment at toy size, with `more` merged in.
fn failing(decision: &str, more: Value) -> Settings {
    let mut map = json!({"decision": decision, "trials": 96, "batch": 8, "n": 256, "prime_bits": [28, 28], "stddev": 3.2,
        "dimension": 20, "form": "joint", "family": "balanced", "rotation_base": 1 << 14});
    let own = if decision == "rgsw" {
        json!({"base": 16, "dropped": 10, "trace_base": 256, "squaring_base": 256, "spacing": 16,
            "input_modulus": "65536", "input_stddev": 600.0})
    } else {
        json!({"low": 12, "digit_bits": 2, "digits": if decision == "bits" { 1 } else { 3 }, "switch_modulus": "1048576",
            "switch_base": 16, "switch_stddev": 3.2, "input_stddev": 1400.0})
    };
    let map = map.as_object_mut().unwrap();
    [own, more].iter().for_each(|more| map.extend(more.as_object().cloned().unwrap()));
    Settings::new(map.clone())
}

fn failures(settings: &Settings) -> Measured {
    let described = describe("failure", settings).unwrap();
    assert!(
        described.predicted_seconds > 0.0 && described.peak_bytes > 0 && described.counts["trial_rotations"] >= 1.0
    );
    let context = Context { kernel: Kernel::best(), seed: Some([9; 32]) };
    let mut session = start("failure", settings, &context).unwrap();
    let mut out = Measured::default();
    session.repetition(&mut out).unwrap();
    session.repetition(&mut out).unwrap();
    session.finish(&mut out).unwrap();
    out
}

#[test]
fn decisions_fail_where_their_errors_are_large_and_nowhere_else() {
    for (decision, small) in [("rgsw", 40.0), ("bits", 3.2), ("floor", 3.2), ("digit", 3.2)] {
        let judged = if matches!(decision, "rgsw" | "bits") { 192 } else { 0 };
        let seldom = failures(&failing(decision, json!({"input_stddev": small})));
        let counted = seldom.failures["decision"];
        assert_eq!((counted.trials, counted.failures), (192, 0), "{decision}");
        let often = failures(&failing(decision, json!({})));
        let counted = often.failures["decision"];
        // At margins of 1.6 or less deviations, a tenth and more of all.
        assert!(counted.trials == 192 && (10..120).contains(&counted.failures), "{decision}: {counted:?}");
        assert_eq!(often.noise["input"].keys, 2);
        for out in [seldom, often] {
            assert_eq!((out.correct.compared, out.correct.right), (judged, judged), "{decision}");
        }
    }
}

#[test]
fn noise_of_rows_is_not_a_failure() {
    // Four digits more than above are kept: the rotation's noise, 7e6, then exceeds a quarter of the least weight, 2^24.
    for stddev in [40.0, 600.0] {
        let out = failures(&failing("rgsw", json!({"dropped": 6, "input_stddev": stddev})));
        assert_eq!((out.correct.compared, out.correct.right), (192, 192), "{stddev}");
        let counted = out.failures["decision"].failures;
        assert_eq!(counted > 0, stddev > 40.0, "{counted}");
        let rows = out.noise["row"];
        assert_eq!(rows.samples, 8 * (192 - counted));
        assert!(rows.max >= f64::from(1 << 22) && rows.variance.sqrt() < f64::from(1 << 24), "{rows:?}");
    }
}

#[test]
fn failure_experiments_refuse_useless_settings() {
    let refused = |decision: &str, more: Value| describe("failure", &failing(decision, more)).unwrap_err().key;
    assert_eq!(refused("rgsw", json!({"low": 3})), "low");
    assert_eq!(refused("bits", json!({"spacing": 16})), "spacing");
    assert_eq!(refused("rgsw", json!({"spacing": 15})), "spacing");
    assert_eq!(refused("rgsw", json!({"spacing": 128})), "spacing");
    assert_eq!(refused("rgsw", json!({"input_modulus": "65537"})), "input_modulus");
    assert_eq!(refused("rgsw", json!({"input_modulus": "256"})), "input_modulus");
    assert_eq!(refused("rgsw", json!({"base": null})), "base");
    assert_eq!(refused("rgsw", json!({"switch_dropped": 1})), "switch_dropped");
    assert_eq!(refused("rgsw", json!({"trace_dropped": 99})), "trace_base");
    assert_eq!(refused("bits", json!({"switch_dropped": 99})), "switch_base");
    assert_eq!(refused("bits", json!({"digits": 2})), "digits");
    assert_eq!(refused("floor", json!({"digits": 1})), "digits");
    assert_eq!(refused("digit", json!({"digits": 30})), "digits");
    assert_eq!(refused("digit", json!({"digit_bits": 9})), "digit_bits");
    assert_eq!(refused("digit", json!({"family": "zy22"})), "family");
    assert_eq!(refused("digit", json!({"switch_modulus": "7"})), "switch_modulus");
    assert_eq!(refused("floor", json!({"trials": 0})), "trials");
    assert_eq!(refused("floor", json!({"input_stddev": 1e9})), "input_stddev");
}

#[test]
fn selections_have_their_noise() {
    let ring = json!({"n": 64, "prime_bits": [28, 28], "keys": 4, "stddev": SIGMA, "family": "balanced"});
    let with = |more: Value| {
        let mut map = ring.as_object().cloned().unwrap();
        map.extend(more.as_object().cloned().unwrap());
        Settings::new(map)
    };
    fn run(name: &str, settings: &Settings) -> Measured {
        assert!(describe(name, settings).unwrap().predicted_seconds > 0.0);
        let context = Context { kernel: Kernel::best(), seed: Some([10; 32]) };
        let session = start(name, settings, &context).unwrap();
        let mut out = Measured::default();
        session.finish(&mut out).unwrap();
        out
    }
    let conversion = json!({"base": 16, "dropped": 6, "trace_base": 16, "squaring_base": 16, "conversions": 40});
    let out = run("rgsw-conversion", &with(conversion));
    let [body, constant, mask] = ["body", "body-constant", "mask"].map(|stage| out.noise[stage].variance);
    // (N^2 - 1) / 3 against N - 1 of a key switch; N E[s^2] times the body, and little more.
    assert!((constant / body / (65.0 / 3.0) - 1.0).abs() < 0.4, "{constant} {body}");
    assert!((mask / body / (64.0 * 2.0 / 3.0) - 1.0).abs() < 0.4, "{mask} {body}");
    let tree = json!({"base": 256, "bits": 4, "plain_modulus": 16, "plain_digits": "balanced", "trees": 40});
    let out = run("selector-tree", &with(tree));
    let [selected, leaves] = ["selected", "leaves"].map(|stage| out.noise[stage].variance);
    // Three products against 2 - 4 / 16 of them.
    assert!((selected / leaves / (3.0 / 1.75) - 1.0).abs() < 0.3, "{selected} {leaves}");
    let refused = |more: Value| {
        let settings = with(json!({"base": 16, "trace_base": 16, "squaring_base": 16, "conversions": 4}));
        let mut map = settings.map;
        map.extend(more.as_object().cloned().unwrap());
        describe("rgsw-conversion", &Settings::new(map)).unwrap_err().key
    };
    assert_eq!(refused(json!({"base": 2})), "shared");
    assert_eq!(refused(json!({"trace_base": 1})), "trace_base");
    assert_eq!(refused(json!({"conversions": 0})), "conversions");
}
