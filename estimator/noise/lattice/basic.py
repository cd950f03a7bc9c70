"""Noise of encryption and of linear operations. Phase: b - a s = m + e (RLWE), b - <a, s> = m + e (LWE)."""

import numpy as np

from ..error import Noise, Numbers


def fresh(stddev: Numbers) -> Noise:
    """stddev^2: a discrete Gaussian's variance (to 2^-40 for stddev >= 1.3), LWE and RLWE, seeded or not."""
    return Noise(np.square(stddev))


def sum_of(noise: Noise, terms: Numbers) -> Noise:
    """`terms` independent ciphertexts added or subtracted: variances add."""
    return noise.scaled(terms)


def plaintext_product(n: Numbers, plain_square: Numbers, noise: Noise) -> Noise:
    """Product with a plaintext polynomial of independent coefficients: V = n E[p^2] V_in.

    E[p^2] about zero, so unsigned plaintexts pay for their mean. Pirouette A.1.1 prints ||p||_inf^2 / 4 for
    E[p^2]: right for balanced coefficients, a quarter of the truth for a coefficient at the bound of an unsigned one.
    """
    return noise.scaled(np.multiply(n, plain_square))


def norm_product(norm_square: Numbers, noise: Noise) -> Noise:
    """Product with one fixed polynomial p: V = ||p||_2^2 V_in, exactly where V_in is white."""
    return noise.scaled(norm_square)


def monomial_product(noise: Noise) -> Noise:
    """X^j times a ciphertext permutes coefficients and flips signs."""
    return noise


def sample_extraction(noise: Noise) -> Noise:
    """The LWE ciphertext of a coefficient has that coefficient's error."""
    return noise


def uniform_square(plain_modulus: Numbers, balanced: bool) -> Numbers:
    """E[p^2] for p uniform in [0, m), or in [-floor(m/2), m - 1 - floor(m/2)] if balanced."""
    m = np.asarray(plain_modulus, dtype=float)
    if balanced:
        return (m * m - 1) / 12 + np.where(m % 2 == 0, 0.25, 0.0)
    return (m - 1) * (2 * m - 1) / 6
