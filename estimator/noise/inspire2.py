"""Errors of InsPIRe^(2) (Theorems 7 and 8): two layers over one ring and one secret, each packed by partial InspiRING.

First layer: product with a query of length N/t, gamma_0 bodies packed, mask and body switched to q1. Second layer,
over the digits of these: product with a query of length t, gamma_1 results of the masks' digits and gamma_2 of the
bodies' packed, switched to the moduli of answers. Theorem 7 prints Sigma_i = d sigma^2/4 + (q~/q)^2 (m p^2 sigma^2 +
ell gamma_i d z^2 sigma^2/4) as squares of subgaussian parameters, m = N/t, t, t, and f(q, q~, p) for the rest of the
rounding; Theorem 8 squares Sigma once more than it should. Its union is over all t columns of the first layer, here
over the one that was asked for.

Of long records the second layer selects polynomials of d digits whole, by a ring ciphertext for each column of cells:
every coefficient then has the errors of all digits of its polynomial, and nothing is packed.
"""

from collections.abc import Sequence

import numpy as np

from . import lattice
from .error import Noise
from .ring_setting import Answers, Floats, Keys, Rings, moduli, numbers
from .stage import Decision, Stage, stages

_stage = stages("inspire2")


def _by_class(products: Sequence[Noise], packed: Sequence[Noise]) -> Noise:
    """The noise of products, and the noise that packing adds, for both classes."""
    sums = [product + added for product, added in zip(products, packed)]
    return Noise(np.stack([np.asarray(each.variance) for each in sums], axis=1), sums[0].kind)


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`second_product`, `second_packing`, `second_layer`, which decides digits; then the same of the first layer."""
    layouts = [d["layout"] for d in descriptions]
    rings = Rings.of(descriptions)
    keys = Keys.of(layouts, "packing", rings.modulus)
    gammas, p = numbers(layouts, "gammas"), numbers(layouts, "plain_modulus")
    return [
        *_second(layouts, rings, keys, gammas),
        *_first(layouts, rings, keys, gammas[:, 0], p),
    ]


def _second(layouts: Sequence[dict], rings: Rings, keys: Keys, gammas: Floats) -> list[Stage]:
    """Classes: digits of the masks, packed by gamma_1, and of the bodies, by gamma_2; where polynomials are selected
    whole, those of full polynomials and of the last."""
    p, answers = np.exp2(numbers(layouts, "digit_bits")), Answers.of(layouts)
    whole = np.array([bool(o.get("selected_whole")) for o in layouts])
    counts = np.stack([numbers(layouts, "mask_digits"), numbers(layouts, "body_digits")], axis=1)
    full = (np.ceil(counts.sum(axis=1) / rings.n) - 1) * rings.n
    counts = np.where(whole[:, None], np.stack([full, counts.sum(axis=1) - full], axis=1), counts)
    # Values have more bits than digits, so that a mask's fill more than one polynomial.
    terms = [np.where(whole, digits, 1.0) for digits in (rings.n, counts[:, 1])]
    products, bounds = zip(*(rings.product(numbers(layouts, "cell_columns") * each, p) for each in terms))

    def packed(under: Rings) -> list[Noise]:
        """The noise that packing adds to both classes."""
        switches = [under.inspiring(keys, gammas[:, i]) for i in (1, 2)]
        return [each.scaled(np.where(whole, 0.0, 1.0)) for each in switches]

    added = packed(rings)
    packing = products[0] + added[0]
    copies = numbers(layouts, "copies")
    switched_bound, key = answers.switched_bound(rings, lambda under: _by_class(bounds, packed(under)))
    union = {"cells of a record": copies, "digits of a cell's ciphertext": counts.sum(axis=1)}
    return [
        _stage("second_product", products[0], bounds[0], digits="centred digits modulo p"),
        _stage("second_packing", packing, bounds[0] + added[0], digits=keys.words),
        _stage(
            "second_layer",
            answers.switched(rings, _by_class(products, added)),
            switched_bound,
            decision=Decision(answers.threshold(p), union, counts * copies[:, None], key=key),
            common_share=lattice.mean_in_common(keys.gadget) * answers.share(rings, added[0], packing),
            # All digits of a cell meet the errors of one second query; a run counts each ciphertext as a key.
            terms=numbers(layouts, "cell_columns") * terms[0] / numbers(layouts, "answer_ciphertexts"),
        ),
    ]


def _first(layouts: Sequence[dict], rings: Rings, keys: Keys, gamma: Floats, p: Floats) -> list[Stage]:
    switched = moduli(layouts, "switched_modulus")
    product, bound = rings.product(numbers(layouts, "rows"), p)
    packing, packing_bound = rings.inspiring(keys, gamma, product), rings.inspiring(keys, gamma, bound)
    to = Answers(switched, switched)
    switched_bound, key = to.switched_bound(rings, lambda under: under.inspiring(keys, gamma, bound))
    return [
        _stage("first_product", product, bound, digits="centred residues modulo p"),
        _stage("first_packing", packing, packing_bound, digits=keys.words),
        _stage(
            "first_layer",
            to.switched(rings, packing),
            switched_bound,
            decision=Decision(
                to.threshold(p), {"cells of a record": numbers(layouts, "copies"), "entries of a cell": gamma}, key=key
            ),
            common_share=lattice.mean_in_common(keys.gadget) * to.share(rings, rings.inspiring(keys, gamma), packing),
        ),
    ]
