use super::*;

#[test]
fn the_estimator_call_can_be_pasted() {
    let instance = LweInstance {
        name: "query".into(),
        kind: "lwe".into(),
        dimension: 1024,
        modulus: "2^32".into(),
        log2_modulus: 32.0,
        secret: SecretKind::Uniform {},
        error_stddev: 6.4,
        samples: Some(1 << 13),
        protects: "the column".into(),
    };
    let expected =
        "LWE.estimate(LWE.Parameters(n=1024, q=2**32, Xs=ND.UniformMod(2**32), Xe=ND.DiscreteGaussian(6.4)))";
    assert_eq!(estimator_call(&instance), expected);
}
