"""Errors of BFV and GBFV ciphertexts that are multiplied, switched and answered, as protocols share them.

A ciphertext of the plaintext z has the phase (q z / t) + e, with e in units of q, and decrypts while |t e / q| < 1/2.
A key switch adds V = N sigma^2 sum E[x^2] / P^2 + (1 + N E[s^2]) / 12, by its key and by the division by P.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..modulus import parse_modulus
from .error import Noise, ratio
from .hintlesspir import digit_squares
from .ring_setting import Answers, Floats, Rings, bound_by_key, numbers
from .stage import Decision, Stage


def norms(plaintext: dict) -> tuple[float, float, float, float]:
    """The squared norms of t(X) and t(X)^2, and E_z of docs/pirana.md for random data and for any data.

    The coefficients of t and t^2 do not overlap modulo X^N + 1.
    """
    match plaintext["kind"]:
        case "integer":
            t = float(plaintext["modulus"])
            return t**2, t**4, (t**2 - 1) / 12, t**2 / 4
        case "binomial":
            b = float(plaintext["base"])
            norm = 1 + b**2
            # Digits of variance (b^2 + 2)/12, neighbours with covariance -b/8: an end is followed by the other sign.
            return norm, 1 + 4 * b**2 + b**4, (b**2 + 2) / 12 + 2 * b * (b / 8) / norm, ((1 + b) ** 2 / 2) ** 2 / norm
        case _:
            norm, square = 1.0 + 4 + 16, 1.0 + 16 + 144 + 256 + 256
            return norm, square, square / norm / 12, (49 / 2) ** 2 / norm


class Switches:
    """Variances of key switches in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        self.layouts = [d["layout"] for d in descriptions]
        self.rings = Rings.of(descriptions)
        special = [parse_modulus(o["special_modulus"]) if "special_modulus" in o else 1 for o in self.layouts]
        self.special = np.array(special, dtype=float)
        self.digits = np.array([digit_squares(d, 0) for d in descriptions])

    @property
    def words(self) -> list[str]:
        """The digits of key switches."""
        return [f"balanced base-2^{o['automorphism_gadget']['base_log2']} digits of residues" for o in self.layouts]

    def switch_key(self, under: Rings) -> Floats:
        """What the key of a switch adds."""
        return np.asarray(under.n * np.asarray(under.fresh.variance) * self.digits / self.special**2)

    def switch(self, under: Rings) -> Floats:
        """What a key switch adds."""
        return np.asarray(self.switch_key(under) + np.where(self.special > 1, under.rounding, 0.0))


class Steps(Switches):
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        super().__init__(descriptions)
        self.norm, self.square_norm, self.random, self.worst = np.array(
            [norms(o["plaintext"]) for o in self.layouts], dtype=float
        ).T

    def answer(self, under: Rings, variance: Floats) -> Noise:
        """A sum of that variance, in units of the distance of messages, after the switch if there is one."""
        answers = Answers.of(self.layouts, under)
        return answers.at_body(under, Noise(variance)).scaled(self.norm / np.asarray(ratio(answers.body, 1)) ** 2)

    def messages(self, errors: Callable[[Rings], Floats]) -> Noise:
        """Errors in units of q as errors in units of the distance of messages."""
        return Noise(errors(self.rings) * self.norm / np.asarray(ratio(self.rings.modulus, 1)) ** 2)

    def decided(self, total: Callable[..., Floats], stage: Callable[..., Stage]) -> list[Stage]:
        """`sum`, whose variance for rings and for random or any data is `total`, and `answer`, which decides the
        coefficients of plaintexts."""
        n = self.rings.n
        bound, key = bound_by_key(lambda under: self.answer(under, total(under, any_data=True)), self.rings)
        ciphertexts = numbers(self.layouts, "answer_ciphertexts")
        decision = Decision(0.5, {"coefficients": n, "ciphertexts of a record": ciphertexts}, key=key)
        return [
            stage("sum", self.messages(total), digits=self.words, terms=n),
            stage("answer", self.answer(self.rings, total(self.rings)), bound, decision=decision, terms=n),
        ]
