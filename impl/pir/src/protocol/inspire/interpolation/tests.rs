use super::*;
use ring::Kernel;

fn values(p: u32, degree: usize, points: usize) -> Vec<u32> {
    (0..degree * points).map(|i| (i as u64 * 0x9e37_79b9 % u64::from(p)) as u32).collect()
}

#[test]
fn polynomials_have_the_values_they_were_made_from() {
    for p in [3, 5, 65, 12289, 65535, 65537] {
        let vectors = Vectors::new(Kernel::best()).unwrap();
        let cases = [1, 2, 4, 8, 32, 128, 256].map(|t| (Interpolate::CooleyTukey, t));
        let others = [1, 2, 3, 5, 6, 8, 12, 17, 64, 127, 256].map(|t| (Interpolate::Lagrange, t));
        for (method, points) in cases.into_iter().chain(others) {
            let degree = 128;
            let mut interpolation = Interpolation::new(method, Modulus::new(p).unwrap(), vectors, degree, (points, 1));
            let given = values(p, degree, points);
            let mut coefficients = given.clone();
            interpolation.interpolate(&mut coefficients);
            for (j, value) in given.chunks_exact(degree).enumerate() {
                assert_eq!(interpolation.evaluate(&coefficients, j), value, "{method:?} {points} points, p = {p}, {j}");
            }
        }
    }
}

/// In several variables, against the sum over all coefficients times the powers of the point's coordinates.
#[test]
fn polynomials_in_several_variables_too() {
    let (vectors, modulus, degree) = (Vectors::new(Kernel::best()).unwrap(), Modulus::new(65537).unwrap(), 32);
    for (method, side, variables) in [
        (Interpolate::CooleyTukey, 4, 2),
        (Interpolate::CooleyTukey, 2, 3),
        (Interpolate::CooleyTukey, 64, 2),
        (Interpolate::Lagrange, 3, 2),
    ] {
        let mut interpolation = Interpolation::new(method, modulus, vectors, degree, (side, variables));
        let points = side.pow(variables);
        let given = values(65537, degree, points);
        let mut coefficients = given.clone();
        interpolation.interpolate(&mut coefficients);
        for j in (0..points).step_by(points.div_ceil(40)) {
            let value = &given[j * degree..(j + 1) * degree];
            assert_eq!(interpolation.evaluate(&coefficients, j), value, "{method:?} {side}^{variables}, {j}");
            let mut sum = vec![0u32; degree];
            for (k, coefficient) in coefficients.chunks_exact(degree).enumerate() {
                let power = |a: u32| {
                    let digit = |x: usize| x / side.pow(a) % side;
                    method.exponent(degree, side, digit(j)) * digit(k)
                };
                let exponent = (0..variables).map(power).sum::<usize>() % (2 * degree);
                for (i, &x) in coefficient.iter().enumerate() {
                    let at = (i + exponent) % (2 * degree);
                    let slot = &mut sum[at % degree];
                    *slot = if at < degree { modulus.add(*slot, x) } else { modulus.sub(*slot, x) };
                }
            }
            assert_eq!(sum, value, "{method:?} {side}^{variables}, {j}");
        }
    }
}

#[test]
fn points_are_distinct_monomials_that_the_evaluation_multiplies_by() {
    let vectors = Vectors::new(Kernel::Scalar).unwrap();
    let (degree, points, modulus) = (64, 4, Modulus::new(65537).unwrap());
    // The polynomial Z has the points as its values.
    let mut z = vec![0; points * degree];
    z[degree] = 1;
    for method in [Interpolate::CooleyTukey, Interpolate::Lagrange] {
        let mut interpolation = Interpolation::new(method, modulus, vectors, degree, (points, 1));
        for j in 0..points {
            let exponent = method.exponent(degree, points, j);
            let mut monomial = vec![0; degree];
            monomial[exponent % degree] = if exponent < degree { 1 } else { 65536 };
            assert_eq!(interpolation.evaluate(&z, j), monomial, "{method:?} {j}");
        }
    }
}
