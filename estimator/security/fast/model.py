"""The fast model: all attacks on many instances at once, without Sage."""

from collections.abc import Iterable, Sequence
from math import floor, inf, log

import numpy as np
import numpy.typing as npt

from ..attacks import ATTACKS, AttackResult
from ..instance import Instance
from .coded_bkw import coded_bkw, gaussian_support
from .compiled import compiled
from .domain import MOST_BITS, MOST_BLOCK, outside, secret_stddev, secret_support
from .dual import dual
from .dual_hybrid import dual_hybrid
from .primal import bdd, usvp
from .reduction import ADPS16, HOPELESS, MATZOV

Array = npt.NDArray[np.float64]

_MODELS = {"MATZOV": MATZOV, "ADPS16": ADPS16}
#: The names of a row's numbers beside log2 of the cost, attack by attack.
_DETAILS = {
    "usvp": ("beta", "d"),
    "bdd": ("beta", "eta", "d"),
    "dual_hybrid": ("beta", "zeta", "t", "p"),
    "dual": ("beta", "d"),
    "coded_bkw": ("b", "t1", "t2", "sums"),
}
_INFINITY = "infinity: the attack does not succeed with any block size up to 1754"
_NO_TABLES = "infinity: the attack does not succeed with any tables and steps that are tried"


@compiled
def _evaluate(
    n: Array, ln_q: Array, sigma_s: Array, sigma_e: Array, support: Array, samples: Array, model: int, least: bool
) -> Array:
    """[instance, attack, number]: log2 cost and details of usvp, bdd, dual_hybrid, dual, and under MATZOV coded_bkw."""
    out = np.zeros((n.size, 5 if model == MATZOV else 4, 5))
    for i in range(n.size):
        dimension, error = int(n[i]), sigma_e[i]
        # Normal form: a secret wider than the error is replaced by an error-distributed one.
        secret = min(sigma_s[i], error)
        ln_xi = log(error / secret)
        cost, block, d = usvp(dimension, ln_q[i], ln_xi, error, model)
        out[i, 0, 0], out[i, 0, 1], out[i, 0, 2] = cost, block, d
        out[i, 1, 0] = np.inf
        if block > 0:
            # The lattice estimator's search of BDD goes in steps of two up to the uSVP block.
            cost, beta, eta, d = bdd(dimension, ln_q[i], ln_xi, error, model, block | 1)
            out[i, 1, 0], out[i, 1, 1], out[i, 1, 2], out[i, 1, 3] = cost, beta, eta, d
        cost, beta, zeta, t, p = dual_hybrid(dimension, ln_q[i], secret, error, model)
        out[i, 2, 0], out[i, 2, 1], out[i, 2, 2], out[i, 2, 3], out[i, 2, 4] = cost, beta, zeta, t, p
        cost, beta, d = dual(dimension, ln_q[i], sigma_s[i], error, model)
        out[i, 3, 0], out[i, 3, 1], out[i, 3, 2] = cost, beta, d
        if model == MATZOV:
            bound = min(HOPELESS, out[i, :4, 0].min()) if least else HOPELESS
            cost, b, plain, coded, sums = coded_bkw(
                dimension, ln_q[i], support[i], sigma_s[i], error, samples[i], bound
            )
            out[i, 4, 0], out[i, 4, 1], out[i, 4, 2], out[i, 4, 3], out[i, 4, 4] = cost, b, plain, coded, sums
    return out


Numbers = npt.ArrayLike


def evaluate(
    n: Numbers,
    ln_q: Numbers,
    sigma_s: Numbers,
    sigma_e: Numbers,
    model: str = "MATZOV",
    support: Numbers | None = None,
    samples: Numbers = inf,
    least: bool = False,
) -> Array:
    """Figures for arrays of LWE dimensions, ln of moduli, standard deviations of secrets and errors.

    support: how many values a coordinate of the secret takes (those of a Gaussian); samples: how many there are under
    a secret. Coded-BKW alone counts with these two. least: it, the slowest to search, is inf unless it is the cheapest.
    Returns [instance, attack, number], attacks in the order of ATTACKS[model]; number 0 is log2 of the ring operations
    (inf: no success), number 1 the block size. No domain is checked here: beyond it (domain.py), and where the block of
    uSVP is 0 or above MOST_BLOCK, the least of the figures may be far too high.
    """
    if support is None:
        support = [gaussian_support(float(stddev)) for stddev in np.atleast_1d(sigma_s)]
    given = (n, ln_q, sigma_s, sigma_e, support, samples)
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, dtype=np.float64)) for a in given))
    dimensions, ln_moduli, secrets, errors, supports, counts = (np.ascontiguousarray(a) for a in arrays)
    return _evaluate(dimensions, ln_moduli, secrets, errors, supports, counts, _MODELS[model], least)


_known: dict[Instance, dict] = {}


def estimate(instances: Iterable[Instance]) -> dict[Instance, dict]:
    """{"commit": None, "sage": None, "results": [AttackResult], "remarks": [str]} an instance, as live.estimate.

    An instance outside the domain has only failed attacks, with the reason; one that is outside since it is too secure
    has `at_least`, bits that every attack takes. Answers are kept while the process lasts.
    """
    wanted = list(dict.fromkeys(instances))
    new = [i for i in wanted if i not in _known]
    reasons = {i: outside(i) for i in new}
    _known.update({i: _refusal(reason) for i, reason in reasons.items() if reason is not None})
    inside = [i for i in new if reasons[i] is None]
    if inside:
        n, ln_q, sigma_s, sigma_e = (
            np.array([float(i.dimension) for i in inside]),
            np.array([log(i.modulus) for i in inside]),
            np.array([secret_stddev(i) for i in inside]),
            np.array([i.error_stddev for i in inside]),
        )
        support = np.array([secret_support(i) for i in inside])
        samples = np.array([inf if i.samples is None else float(i.samples) for i in inside])
        figures = {model: evaluate(n, ln_q, sigma_s, sigma_e, model, support, samples) for model in ATTACKS}
        _known.update({i: _answer({m: f[at] for m, f in figures.items()}) for at, i in enumerate(inside)})
    return {i: _known[i] for i in wanted}


def _refusal(reason: str) -> dict:
    failed = f"outside the domain of the fast model: {reason}"
    results = [AttackResult(model, attack, failed=failed) for model, names in ATTACKS.items() for attack in names]
    return {"commit": None, "sage": None, "results": results, "remarks": []}


def _answer(figures: dict[str, Array]) -> dict:
    block = figures["MATZOV"][0, 1]  # of uSVP, 0 if none succeeds
    if not 0 < block <= MOST_BLOCK:
        # An attack either has a figure, by blocks that were tried, or takes more than all of these.
        at_least = floor(figures["MATZOV"][:, 0].min(initial=MOST_BITS))
        return _refusal(f"uSVP needs blocks above {MOST_BLOCK}") | {"at_least": at_least}
    results: list[AttackResult] = []
    for model, attacks in ATTACKS.items():
        results += [_result(model, attack, row) for attack, row in zip(attacks, figures[model].tolist())]
    return {"commit": None, "sage": None, "results": results, "remarks": []}


def _result(model: str, attack: str, row: Sequence[float]) -> AttackResult:
    if row[0] == np.inf:
        return AttackResult(model, attack, failed=_NO_TABLES if attack == "coded_bkw" else _INFINITY)
    details = tuple((name, int(value)) for name, value in zip(_DETAILS[attack], row[1:]))
    return AttackResult(model, attack, log2_rop=round(row[0], 4), details=details)
