"""Errors of PIRANA (Liu, Li, Wu, Ren, ePrint 2022/1401) over BFV and over GBFV.

A ciphertext of the plaintext z has the phase (q z / t) + e, with e in units of q, and decrypts while |t e / q| < 1/2.
- A fresh one has sigma^2 + 1/12; the product of two adds up each error times what the other operand's phase exceeds q
  by, t times fractions of variance (1 + N E[s^2]) / 12.
- A key switch adds V = N sigma^2 sum E[x^2] / P^2 + (1 + N E[s^2]) / 12, by its key and by the division by P.
- A short plaintext is t times fractions of 1. Random data: these are uniform, so that the variances of all products
  add up. Any data: they are at most 1/2, and products of one error may add up in phase: those of a selected column at
  every turn, and of what a key switch added to all turns after it.
What products add does not depend on data: the masks that it is made of are drawn after the database.
"""

from collections.abc import Callable, Sequence

import numpy as np

from . import lattice
from .error import Noise, ratio
from .hintlesspir import digit_squares
from .respire import log2_unassigned
from .ring_setting import Floats, Rings, bound_by_key, numbers
from .stage import Chance, Decision, Stage, stages
from .stage import words as stage_words


def norms(plaintext: dict) -> tuple[float, float, float, float]:
    """Of t(X) and t(X)^2 the squared norms; E[c^2] for t times uniform fractions times a multiple of t, in units of it.

    The last is that of the worst fractions. The coefficients of t and t^2 do not meet modulo X^N + 1.
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


def turns(layout: dict, full: bool) -> tuple[float, float, float]:
    """Of the plaintexts of a column in one answer: how many, their key switches, the squares of those in common.

    full: of the fullest answer, else of the mean one.
    """
    number = -(-layout["polynomials_per_record"] // layout["answer_ciphertexts"])
    each = -(-number // layout["halves"])
    place = np.arange(number)
    half, baby = place // each, place % each // layout["giant_steps"]
    share = 1.0 if full else layout["polynomials_per_record"] / layout["answer_ciphertexts"] / number
    together = 0.0
    for h in range(layout["halves"]):
        of_half = baby[half == h]
        together += h * len(of_half) ** 2
        together += sum(float((of_half >= step).sum()) ** 2 for step in range(1, layout["baby_steps"]))
    return share * number, share * float((half + baby).sum()), together


class _Chain:
    """Variances in units of q, over arrays of descriptions."""

    def __init__(self, descriptions: Sequence[dict]) -> None:
        self.layouts = [d["layout"] for d in descriptions]
        self.rings = Rings.of([d["instances"][0] for d in descriptions])
        self.norm, self.square_norm, self.random, self.worst = np.array(
            [norms(o["plaintext"]) for o in self.layouts], dtype=float
        ).T
        self.weight, self.columns = numbers(self.layouts, "codeword_weight"), numbers(self.layouts, "columns")
        self.giants = numbers(self.layouts, "giant_steps")
        self.special = np.array([o.get("special_modulus", 1) for o in self.layouts], dtype=float)
        self.digits = np.array([digit_squares(d, 0) for d in descriptions])

    def weighted(self, under: Rings) -> Floats:
        """The variance of the rounding of a mask and a body."""
        return np.asarray((1 + under.n * np.asarray(under.secret.square)) / 12)

    def switch(self, under: Rings) -> Floats:
        """What a key switch adds."""
        key = under.n * np.asarray(under.fresh.variance) * self.digits / self.special**2
        return np.asarray(key + np.where(self.special > 1, self.weighted(under), 0.0))

    def selection(self, under: Rings) -> Floats:
        """A selected column."""
        fresh = np.asarray(under.fresh.variance) + 1 / 12
        key = under.n * np.asarray(under.secret.square)
        cross = 2 * fresh * under.n * self.square_norm / self.norm * self.weighted(under)
        product = cross + (1 + key + 2 * key**2) / 12 + self.switch(under)
        return np.asarray(np.where(self.weight > 1, product, fresh))

    def sum(self, under: Rings, any_data: bool = False) -> Floats:
        """The products of all columns in one answer, turned and added."""
        counted = np.array([turns(o, any_data) for o in self.layouts], dtype=float).T
        number, switches, together = counted
        selected, switch = self.selection(under), self.switch(under)
        if any_data:
            products = self.worst * (number**2 * selected + together * switch)
        else:
            products = self.random * (number * selected + switches * switch)
        return np.asarray(under.n * self.columns * products + (self.giants - 1) * switch)

    def answer(self, under: Rings, any_data: bool = False) -> Noise:
        """In units of the distance of messages, after the switch if there is one."""
        mask, body = (
            np.array([o.get(key, q) for o, q in zip(self.layouts, under.modulus)], dtype=object)
            for key in ("mask_modulus", "body_modulus")
        )
        noise = Noise(self.sum(under, any_data))
        switched = lattice.split_modulus_switch(under.n, under.modulus, mask, body, under.secret, noise)
        return switched.scaled(self.norm / np.asarray(ratio(body, 1)) ** 2)

    def messages(self, errors: Callable[[Rings], Floats]) -> Noise:
        """Errors in units of q as errors in units of the distance of messages."""
        return Noise(errors(self.rings) * self.norm / np.asarray(ratio(self.rings.modulus, 1)) ** 2)


def chain(descriptions: Sequence[dict]) -> list[Stage | Chance]:
    """`selection`, `sum`, and `answer`, which decides the coefficients of plaintexts."""
    errors = _Chain(descriptions)
    rings, layouts, stage = errors.rings, errors.layouts, stages("pirana")
    bound, key = bound_by_key(lambda under: errors.answer(under, any_data=True), rings)
    words = [f"balanced base-2^{o['automorphism_gadget']['base_log2']} digits of residues" for o in layouts]
    batches = [o if "buckets" in o else {"batch_queries": 1, "buckets": 1, "copies": 1} for o in layouts]
    return [
        Chance(
            "buckets",
            **stage_words("pirana")["buckets"],
            log2_failure=[log2_unassigned(o["batch_queries"], o["buckets"], o["copies"]) for o in batches],
            over="batches",
            present=[o["buckets"] > 1 for o in batches],
        ),
        stage("selection", errors.messages(errors.selection), digits=words, terms=rings.n),
        stage("sum", errors.messages(errors.sum), digits=words, terms=rings.n),
        stage(
            "answer",
            errors.answer(rings),
            bound,
            decision=Decision(
                threshold=0.5,
                union={"coefficients": rings.n, "ciphertexts of a record": numbers(layouts, "answer_ciphertexts")},
                key=key,
            ),
            terms=rings.n,
        ),
    ]
