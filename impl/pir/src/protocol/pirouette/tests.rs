use super::*;
use crate::params::ParameterSet;
use crate::protocol::tests_support::{check_everywhere, grows_up_to_the_bounds};

/// What both protocols' toy sets share: dimension 256, real noise, no security.
const COMMON: &str = r#"
title = "test"
[source]
kind = "repaired"
[rlwe]
degree = 256
modulus = "268369921 * 249561089"
secret = { kind = "ternary" }
error = { stddev = 3.2 }
[lwe]
dimension = 40
secret = { kind = "binary" }
[blind_rotation]
base_log2 = 8
dropped = 2
bits_per_step = 2
[automorphism]
base_log2 = 4
dropped = 2
[squaring]
base_log2 = 7
[rgsw]
base_log2 = 4
dropped = 7
[database]
plain_modulus = 16
first_bits = 3
moduli = 1
[response]
degree = 64
mask_modulus = 16760833
body_modulus = 256
secret = { kind = "gaussian", stddev = 110.0 }
error = { stddev = 110.0 }
base_log2 = 1
"#;

const H_QUERY: &str = "[query]\nbody_bits = 7\nerror = { stddev = 0.5 }\n";

fn set<F: QueryForm>(query: &str, changes: &[(&str, &str)]) -> Params<F> {
    try_set(query, changes).unwrap()
}

fn try_set<F: QueryForm>(query: &str, changes: &[(&str, &str)]) -> Result<Params<F>> {
    let mut text = format!("protocol = \"{}\"\n{COMMON}{query}", F::NAME);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    Params::try_new(toml::from_str(&text).unwrap())
}

#[test]
fn pirouette_h_answers_on_all_shapes() {
    let params = set::<Bits>(H_QUERY, &[]);
    for (records, bits, queries) in [(1, 1, 1), (1000, 13, 2), (64, 256, 1), (37, 1030, 1), (5, 2100, 3)] {
        check_everywhere::<PirouetteH>(&params, records, bits, queries, 3);
    }
}

#[test]
fn descriptions_grow_with_the_database() {
    grows_up_to_the_bounds::<PirouetteH>(&set(H_QUERY, &[]));
}
