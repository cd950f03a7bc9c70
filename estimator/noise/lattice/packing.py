"""Noise of ring packing: LWE ciphertexts under the coefficients of an RLWE key become one RLWE ciphertext.

InspiRING (InsPIRe, Algorithms 1 and 2) switches the conjugates of the secret one into the next: n - 1 switches for n
ciphertexts, gamma - 1 for gamma <= n/2, each with images of the same key under an automorphism. The error of body j
becomes that of coefficient j. Theorems 2 and 4 print ell gamma n z^2 sigma^2 / 4 (gamma = n in full): digits of z^2/4,
which bounds balanced ones and not unsigned ones, whose E[x^2] is z^2/3; but the highest digit is small, so that at the
published parameters the two agree within a per cent.

Images of one key are not independent: with digits of mean mu the switches add mu times the sum of a key's conjugates,
n e[0] in full. Its variance is what independent errors would have (one switch aside), but all coefficients share it.

CDKS (Chen, Dai, Kim, Song, ACNS 2021) joins pairs in log2 n levels, even + Y odd + tau(even - Y odd): each coefficient
that counts comes from one of the two, doubled, so that V becomes 4 V + V_ks. In all (n^2 - 1)/3 V_ks, exactly; YPIR
prints n^2/3. Inputs are multiplied by n^(-1) modulo q beforehand, so that their own noise stays.
"""

import numpy as np

from ..error import NOTHING, Noise, Numbers
from .inputs import GadgetNoise, Secret
from .switching import rlwe_key_switch


def inspiring(
    n: Numbers, gamma: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise = NOTHING
) -> Noise:
    """V_in + (gamma - 1) (n V_row sum E[x^2] + n E[eps^2] E[s^2]) on the first gamma coefficients."""
    return noise + rlwe_key_switch(n, gadget, rows, secret).scaled(np.subtract(gamma, 1))


def cdks(n: Numbers, gadget: GadgetNoise, rows: Noise, secret: Secret, noise: Noise = NOTHING) -> Noise:
    """V_in + (n^2 - 1)/3 (n V_row sum E[x^2] + n E[eps^2] E[s^2]) on the coefficients that hold a message."""
    return noise + rlwe_key_switch(n, gadget, rows, secret).scaled((np.square(n) - 1) / 3)


def mean_in_common(gadget: GadgetNoise) -> Numbers:
    """The share of InspiRING's variance that all coefficients of one key have in common, for full groups."""
    return np.divide(gadget.mean, gadget.square)
