//! Results of Criterion become records.

#![allow(clippy::unwrap_used)]

mod common;

use common::Lab;
use serde_json::{Value, json};

/// A result as Criterion 0.7 writes it, with ten samples around `nanoseconds`.
fn put(lab: &Lab, folder: &str, id: &str, throughput: Value, nanoseconds: f64) {
    let iters: Vec<f64> = (1..=10).map(|i| f64::from(i) * 100.0).collect();
    let times: Vec<f64> = iters.iter().enumerate().map(|(i, n)| n * (nanoseconds + i as f64 - 4.5)).collect();
    let estimate = |value: f64| {
        let interval = json!({"confidence_level": 0.95, "lower_bound": value - 2.0, "upper_bound": value + 2.0});
        json!({"confidence_interval": interval, "point_estimate": value, "standard_error": 1.0})
    };
    let benchmark = json!({
        "group_id": id.split('/').next(), "function_id": null, "value_str": null, "throughput": throughput,
        "full_id": id, "directory_name": folder, "title": id,
    });
    let at = |name: &str| format!("criterion/{folder}/new/{name}.json");
    lab.put(&at("benchmark"), benchmark.to_string());
    lab.put(&at("sample"), json!({"sampling_mode": "Linear", "iters": iters, "times": times}).to_string());
    lab.put(
        &at("estimates"),
        json!({"mean": estimate(1.0), "median": estimate(nanoseconds), "slope": null}).to_string(),
    );
}

#[test]
fn records_and_bounds() {
    let lab = Lab::new();
    put(&lab, "prg/fill at", "prg/fill at", json!({"Bytes": 1000}), 500.0);
    put(&lab, "lattice/external-product/64", "lattice/external-product/64", Value::Null, 130.0);
    put(&lab, "lattice/ntt-forward/64", "lattice/ntt-forward/64", json!({"Elements": 64}), 6.0);
    put(&lab, "lattice/ntt-inverse/64", "lattice/ntt-inverse/64", Value::Null, 7.0);
    put(&lab, "pairs", "pairs", Value::Null, 20.0);
    put(&lab, "ntt/28/64/forward/avx2", "ntt/28/64/forward/avx2", Value::Null, 80.0);
    put(&lab, "ntt/28/64/forward/tfhe", "ntt/28/64/forward/tfhe", Value::Null, 100.0);
    let sum = "arithmetic/sum-products-28/64/avx512";
    put(&lab, sum, sum, json!({"Elements": 400}), 100.0);
    let port = "arithmetic/multiply-port/0/avx512";
    put(&lab, port, port, json!({"Elements": 1000}), 125.0);
    put(&lab, "cmux", "cmux", Value::Null, 90.0);
    let pairs = json!({
        "forward": 4, "inverse": 2, "n": 64, "forward_bench": "pairs", "inverse_bench": "pairs", "ntts_per_iteration": 2,
    });
    let counts = json!({"lattice/external-product/64": {"forward": 12, "inverse": 4, "n": 64}, "cmux": pairs});
    lab.put("criterion/ntt-counts.json", counts.to_string());
    // The result before the last one is not converted.
    lab.put("criterion/prg/fill at/base/benchmark.json", "{}");

    let said = lab.pirlab(&["criterion", "criterion", "--out", "bench"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let prg = lab.json("bench/prg/fill-at.json");
    assert_eq!((&prg["schema"], &prg["row"]), (&json!("pirlab/primitive/1"), &json!("prg/fill at")));
    assert_eq!(prg["described"]["counts"]["throughput_bytes"], 1000.0);
    let samples = prg["measured"]["times"]["iteration"]["samples"].as_array().unwrap();
    assert!(samples.len() == 10 && (samples[0].as_f64().unwrap() - 495.5e-9).abs() < 1e-15);
    assert!((prg["measured"]["values"]["median_interval"][1].as_f64().unwrap() - 502e-9).abs() < 1e-15);

    let product = lab.json("bench/lattice/external-product/64.json");
    let bound = product["described"]["counts"]["ntt_bound_seconds"].as_f64().unwrap();
    assert!((bound - (12.0 * 6e-9 + 4.0 * 7e-9)).abs() < 1e-15, "{bound}");
    let cmux = lab.json("bench/cmux.json")["described"]["counts"]["ntt_bound_seconds"].as_f64().unwrap();
    assert!((cmux - 6.0 * 10e-9).abs() < 1e-15, "{cmux}");
    let line = |id: &str| said.out.lines().find(|line| line.contains(id)).unwrap().to_string();
    let shown = line("external-product");
    assert!(["130 ns", "128 ns to 132 ns", "100 ns", "1.30"].iter().all(|part| shown.contains(part)), "{shown}");
    let transform = line("ntt/28/64/forward/avx2");
    assert!(
        ["tfhe-ntt", "100 ns", "0.800 (0.765 to 0.837)"].iter().all(|part| transform.contains(part)),
        "{transform}"
    );
    assert!(!line("forward/tfhe").contains("tfhe-ntt"));
    assert!(["its products", "50.0 ns", "2.00"].iter().all(|part| line(sum).contains(part)), "{}", line(sum));
    assert!(line("prg/fill at").contains("1.86 GiB/s"), "{}", said.out);
    assert_eq!(lab.other_files(&[]).iter().filter(|path| path.starts_with(lab.path("bench"))).count(), 10);
}

#[test]
fn folders_without_results_are_refused() {
    let lab = Lab::new();
    lab.pirlab(&["criterion", "none", "--out", "bench"]).is_refused(&["none"]);
    lab.put("criterion/readme.txt", "");
    lab.pirlab(&["criterion", "criterion", "--out", "bench"]).is_refused(&["criterion", "no results", "make bench"]);
    put(&lab, "a", "a", Value::Null, 5.0);
    lab.put("criterion/a/new/sample.json", "torn");
    lab.pirlab(&["criterion", "criterion", "--out", "bench"]).is_refused(&["a/new/sample.json", "Criterion"]);
    put(&lab, "a", "a", Value::Null, 5.0);
    lab.put("criterion/ntt-counts.json", r#"{"a": {"forward": 1}}"#);
    lab.pirlab(&["criterion", "criterion", "--out", "bench"]).is_refused(&["ntt-counts.json", "inverse"]);
    assert!(!lab.path("bench").exists());
}
