"""Errors of T-Respire: AES-128 on encrypted bits, then Pirouette's selection.

A bit of a state is bit Q/2 in an LWE ciphertext under the ring's key. Between rounds bits go to the small key and to
2N, where a rotation must see them within half the distance of rows: `round_input`, which decides. The RGSW ciphertexts
made of them look up an S-box in a table without noise, by eight CMUXes: the first meets a constant, seven meet
ciphertexts. Sums of five or seven of its bits and one of a round key are the next inputs, those of one bit and one of
the last round key the bits of the index, but for the public mask. The first round has RGSW ciphertexts that the client
made. Data do not come in, so the bound is the variance itself, with dropped digits counted as if every bit were one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import lattice
from .circuit_selection import Setting
from .error import Noise, ratio
from .lattice import ProductNoise, RgswNoise
from .pirouette import Described, reduction_of, selection
from .ring_setting import Floats, Keys, numbers
from .stage import Decision, Stage, stages

#: Bits of a byte after MixColumns that are sums of five bits of S-boxes, and of seven; what each sums.
_MIXED = ((5.0, 5.0), (3.0, 7.0))
#: Bytes of a block, which the first round substitutes.
_BLOCK = 16.0
#: CMUXes of an S-box that meet ciphertexts; the first meets the table.
_PRODUCTS = 7.0

_stage = stages("trespire")


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`first_sbox`, then from RGSW rows between rounds to `round_input`, which decides; `rgsw_input`; the selection."""
    d = Described.of(descriptions, "key_switching")
    switched, reduction = reduction_of(d, descriptions)
    rounds = Keys.of(d.layouts, "rounds", d.modulus)
    setting = replace(
        d.setting,
        rgsw=rounds.gadget,
        rgsw_spacing=numbers(d.layouts, "rounds_window"),
        rgsw_digits=numbers([o["rounds_gadget"] for o in d.layouts], "digits"),
    )
    fresh = RgswNoise(setting.fresh, setting.fresh)
    of_first = lattice.converted_product(setting.n, setting.rgsw, fresh, setting.secret)
    bits = numbers(d.layouts, "index_bits")
    present = bits > 0
    # Each pair is over random bits and for any; the first round has one of its own.
    first, boxes = (
        (_look_up(setting, product, rows, 0.5), _look_up(setting, product, rows, 1.0))
        for product, rows in ((of_first, fresh), (setting.product, setting.rows_made))
    )
    # A bit's sum and its share of the bits that are converted, for each kind of S-box.
    sums, sums_bound = (
        np.stack([_inputs(d, box, terms, reduction.added) for box in pair for _, terms in _MIXED], axis=1)
        for pair in zip(first, boxes)
    )
    shares = _shares(d)
    last, last_bound = (_inputs(d, box, 1.0, reduction.added)[:, None] for box in boxes)
    rows = 7.0 * numbers([o["rounds_gadget"] for o in d.layouts], "digits")
    words = rounds.words
    return [
        _stage("first_sbox", first[0], digits=words, present=present),
        _stage("round_row", setting.rows_made.body, digits=d.words["automorphism"], terms=rows, present=present),
        _stage("round_row_secret", setting.rows_made.mask, digits=d.words["squaring"], terms=rows, present=present),
        _stage("sbox", boxes[0], digits=words, terms=rows, present=present),
        _stage(
            "round_input",
            Noise(sums),
            Noise(sums_bound, "bound"),
            digits=switched.words,
            decision=Decision(setting.rgsw_spacing / 2, {"converted bits": shares.sum(axis=1)}, shares, d.mixed_inputs),
            present=present,
        ),
        _stage(
            "rgsw_input",
            Noise(last),
            Noise(last_bound, "bound"),
            digits=switched.words,
            decision=Decision(d.setting.rgsw_spacing / 2, {"index bits": bits}, bits[:, None], d.mixed_inputs),
            present=present,
        ),
        *selection(d),
    ]


def _look_up(setting: Setting, product: ProductNoise, rows: RgswNoise, ones: float) -> Noise:
    """An S-box's bit. ones: the share of input bits that are one, on which dropped digits depend.

    Half of the differences that the first CMUX decomposes are Q/2, the others zero; the table has no mask.
    """
    # Squares of the digits of Q/2: a quarter of each base's square at most, three times those of a uniform number.
    halves = 3 * np.asarray(setting.rgsw.square)
    first = Noise(np.asarray(setting.n) / 2 * halves * np.asarray(rows.body.variance))
    return product.added(ones).scaled(_PRODUCTS) + first


def _inputs(d: Described, box: Noise, terms: float, added: Noise) -> Floats:
    """A rotation's input that sums `terms` bits of S-boxes and one of a round key."""
    shrink = np.square(ratio(2 * d.n.astype(object), d.modulus))
    summed = box.scaled(terms) + d.setting.fresh
    return np.asarray(summed.variance) * shrink + np.asarray(added.variance)


def _shares(d: Described) -> Floats:
    """How many bits each class has: after the first round, of the whole block, and after the others."""
    converted = numbers(d.layouts, "converted_bytes")
    first = np.minimum(converted, _BLOCK)
    return np.stack([bytes_ * bits for bytes_ in (first, converted - first) for bits, _ in _MIXED], axis=1)
