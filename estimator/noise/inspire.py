"""Errors of InsPIRe (Theorems 9 and 10): product with the query, InspiRING, Horner's evaluation, modulus switch.

Theorem 9 bounds the subgaussian parameter by N p^2 sigma^2 + t ell d^2 z^2 sigma^2/4 + t ell d z^2 sigma^2/2: N is t
times the query's length N/t. Here every term is the variance it stands for: entries centred, the digits' own moments
(masks are uniform, so this holds for any database that does not depend on the public seed), t - 1 products, since the
first would be of nothing. sigma is the standard deviation 6.4, as in the authors' code; Theorem 10's
exp(-pi T^2/sigma^2) takes a width. Its overflow t p/2, of messages that add up beyond p, is nothing beside 2^39.

The theorem's independence fails for digits with a mean. All t outputs are packed with the same keys, so the offset that
the means give them, a share c of their variance, is one and the same polynomial o; the answer at the point z holds
o (1 + z + .. + z^(t-1)). That is t o at z = 1, and 0 at every other point, where z^t = 1. So over random data the
variance of packing is (c t^2 + (1 - c) t) V at one point of t, (1 - c) t V at the others, and t V in the mean: two
classes of decisions. Likewise the means of the steps' digits.

It would fail for data too: where the t columns of a row agree (only records at the point z = 1 are not zero, for one),
so do their masks, the digits of these and all errors of packing, and t^2 V stands at z = 1. Layouts that say `whitened`
have the data added to a public stream that was drawn after them: whatever they are, columns are random, do not agree,
and the equalities hold for any database that was there before the seed. Of others the `bound` is t^2 V. The product's
bound is for the largest entries in either case.
"""

from collections.abc import Sequence

import numpy as np

from . import lattice
from .error import Noise
from .ring_setting import Answers, Floats, Keys, Rings, numbers
from .stage import Decision, Stage, stages

CENTRED = "centred residues modulo p"


def at_points(keys: Keys, count: Floats) -> Floats:
    """By what `count` errors of digits times the same keys' errors multiply the variance: where they are all added
    (z = 1), and where their common part cancels; shape (descriptions, 2)."""
    common = np.asarray(lattice.mean_in_common(keys.gadget))
    return np.stack([common * count**2 + (1 - common) * count, (1 - common) * count], axis=1)


def _step(rings: Rings, selector: Keys) -> Noise:
    """The noise that a step of Horner's evaluation adds."""
    return lattice.external_product(rings.n, selector.gadget, rings.fresh, rings.secret)


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`first_product`, `packing`, `evaluation`, and `switch`, which decides."""
    layouts = [d["layout"] for d in descriptions]
    rings = Rings.of(descriptions)
    keys = Keys.of(layouts, "packing", rings.modulus)
    selector = Keys.of(layouts, "rgsw", rings.modulus)
    rows, degree = numbers(layouts, "rows"), numbers(layouts, "points")
    p, answers = numbers(layouts, "plain_modulus"), Answers.of(layouts)

    product, product_bound = rings.product(rows, p)
    packing = rings.inspiring(keys, rings.n, product)
    packing_bound = rings.inspiring(keys, rings.n, product_bound)
    packed = rings.inspiring(keys, rings.n)
    step, steps = _step(rings, selector), degree - 1
    evaluation = packing.scaled(degree) + step.scaled(steps)
    whitened = np.array([bool(o.get("whitened")) for o in layouts])
    coherent = np.where(whitened, at_points(keys, degree)[:, 0], degree**2)

    def evaluated(under: Rings) -> Noise:
        """For any data, at the worst point."""
        products = product_bound.scaled(np.where(whitened, degree, degree**2))
        packings = under.inspiring(keys, under.n).scaled(coherent)
        return products + packings + _step(under, selector).scaled(at_points(selector, steps)[:, 0])

    switched_bound, key = answers.switched_bound(rings, evaluated)
    rest = product.scaled(degree) + step.scaled(steps)
    by_point = Noise(
        np.asarray(rest.variance)[:, None] + np.asarray(packed.variance)[:, None] * at_points(keys, degree)
    )
    used, ciphertexts = numbers(layouts, "used_coefficients"), numbers(layouts, "polynomials_per_record")
    at_one = used * ciphertexts / degree
    # One answer in t has all of it, t times: its square varies by 3 t - 1 of its mean's square, and not by 2.
    shared = lattice.mean_in_common(keys.gadget) * answers.share(rings, packed.scaled(degree), evaluation)
    shared = shared * np.sqrt((3 * degree - 1) / 2)
    stage = stages("inspire")
    return [
        stage("first_product", product, product_bound, digits=CENTRED),
        stage("packing", packing, packing_bound, digits=keys.words),
        stage("evaluation", evaluation, evaluated(rings), digits=selector.words),
        stage(
            "switch",
            answers.switched(rings, by_point),
            switched_bound,
            decision=Decision(
                answers.threshold(p),
                {"coefficients that hold anything": used, "polynomials of a record": ciphertexts},
                np.stack([at_one, used * ciphertexts - at_one], axis=1),
                key=key,
            ),
            common_share=np.minimum(shared, 1.0),
        ),
    ]
