"""Noise of the trace, of coefficient extraction and of oblivious expansion.

Level j = 1 .. l takes c to c + tau_j(c) with a key switch of noise V_ks, tau_j: X -> X^(n/2^(j-1) + 1), the highest
exponent first. For X^k with 2-adic valuation v of k: tau_j fixes it if j <= v, negates it if j = v + 1, else moves it.
- A coefficient that is kept (2^l divides k) doubles at every level: its error too, coherently. Factor 4, not 2, in the
  variance. Input noise: 4^l V_in (1 if the ciphertext was multiplied by 2^-l modulo q before). Key switches:
  4^(l-j) V_ks of level j, in all (4^l - 1)/3 V_ks.
- On the other coefficients input noise cancels exactly; key-switch noise of level j cancels for v >= j and otherwise
  is a sum of 2^(l-j) different ones: (2^(l-v) - 1) V_ks for white V_ks.
- Mean over all coefficients: 2^(l-j) V_ks of level j, in all (2^l - 1) V_ks; exactly, also for digits with means: a
  product u f with white f is uncorrelated between the n embeddings, which automorphisms permute.
Theorems that put n^2 V_ks on every coefficient (Pirouette A.12, Spiral, Respire) are bounds for the kept ones; what a
later product of the whole polynomial sees is the mean.
"""

from typing import NamedTuple

import numpy as np

from ..error import NOTHING, Noise, Numbers
from .inputs import GadgetNoise, Secret
from .products import digit_noise, rounding_by_secret


class TraceNoise(NamedTuple):
    """Mean variance over all coefficients, and the variance of those that the trace keeps."""

    everywhere: Noise
    kept: Noise


def trace(levels: Numbers, switch: Noise, noise: Noise = NOTHING, scaled: bool = True) -> TraceNoise:
    """`levels` steps c + tau_j(c); all log2 n of them leave the constant coefficient.

    switch: the noise that one key switch adds (`automorphism` without input noise). scaled: whether the input was
    multiplied by 2^-levels modulo q.
    """
    two = np.exp2(np.asarray(levels, dtype=float))
    kept_input = noise.scaled(1.0 if scaled else two * two)
    return TraceNoise(
        kept_input.scaled(1 / two) + switch.scaled(two - 1),
        kept_input + switch.scaled((two * two - 1) / 3),
    )


def expansion(levels: Numbers, switch: Noise, noise: Noise) -> TraceNoise:
    """2^levels outputs: c_j -> c_j + tau(c_j) and X^(-2^i) (c_j - tau(c_j)), i = 0 .. levels-1, X -> X^(n/2^i + 1).

    Output j is the trace of X^-j times the input: the automorphisms of earlier levels fix X^(2^i), so shifts commute
    with them, and a shifted white error is white. Kept: the coefficients that 2^levels divides.
    """
    return trace(levels, switch, noise)


def rlwe_to_rgsw_row(
    n: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise, components: int = 2
) -> Noise:
    """RLWE(-s m) of RLWE(m) = (a, b), as -s b + s^2 a: n E[s^2] V_in + components n V_row sum E[x^2].

    components: 2 where both are decomposed (Spiral and Respire: V = (RLWE'(s^2), RLWE'(-s))), 1 where the ciphertext
    (b, 0), of phase -s b, takes the place of b's product (Pirouette, squaring key). Pirouette Theorem A.13 prints
    n ||s||_inf / 4 for n E[s^2]. Dropped digits would add the error of a product with s^2, whose coefficients are not
    independent: exact gadgets only.
    """
    if np.any(np.asarray(gadget.error_square)):
        raise ValueError("the conversion to RGSW is written for exact gadgets: drop no digits")
    by_secret = rounding_by_secret(n, noise.variance, 0.0, secret)
    return Noise(by_secret, noise.kind) + digit_noise(n, gadget, rows).scaled(components)
