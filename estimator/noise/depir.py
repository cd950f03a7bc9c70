"""Errors of DEPIR (Okada, Player, Pohmann, Weinert, ePrint 2023/1510): a polynomial of degree D at BV ciphertexts.

The phases v_1, ..., v_m of a query are t e + mu, and that of the answer is f(v_1, ..., v_m), in the ring over the
integers: it decrypts while its coefficients are below Q/2. At a root of X^n + 1 each v_j is a complex Gaussian of mean
square n V, V = t^2 (sigma^2 + 1/12), and f a polynomial in them. A coefficient is the mean over the n roots, which come
in n/2 conjugate pairs. Since f grows like a D-th power, one pair alone makes it too large, where that is rare; what all
together do where no pair is large is bounded by Chernoff (`log2_sum_tail`), which decides at low degrees.
- Random data: the coefficients of f are uniform modulo t, since interpolation is a bijection.
- Any data: they are at most t/2, and phases of the v_j are uniform, so that mean squares add up as over random data.
Lower degrees than D add a share of about 1 / (n V), which is left out.
The switch to Q' adds sum_j delta_j s^j, delta_j uniform in (-t/2, t/2): D-th powers of the secret, which the client
draws for each query. Both are in units of the modulus.
"""

from collections.abc import Sequence
from math import exp, log2

import numpy as np

from .error import Noise
from .polynomial_tails import log2_form_tail, log2_largest_tail, log2_sum_tail, moments
from .ring_setting import Rings, numbers
from .stage import Decision, Stage, stages
from .tails import LN2

THRESHOLD = 0.5
SHARES = (1 / 16, 1 / 2, 15 / 16)
"""Shares of the threshold that are left to the value of the polynomial; the switch has the rest."""
LEAST_TERMS = 0.01
"""The least number of independent values of a query: with fewer, a measured variance says nothing of the true one."""


class Answer:
    """One description: logarithms to base 2 of squares, in units of the modulus at a root."""

    def __init__(self, layout: dict, n: float, sigma_square: float, secret_square: float) -> None:
        self.variables, self.degree, self.n = layout["variables"], layout["degree"], n
        t, bound = layout["plain_modulus"], layout["coefficient_bound"]
        self.random = log2(bound * (bound + 1) / 3)
        self.any_data = 2 * log2(bound)
        self.value = self.degree * log2(n * t**2 * (sigma_square + 1 / 12)) - 2 * layout["modulus_log2"]
        self.switch = log2(n * t**2 / 12) + self.degree * log2(n * secret_square) - 2 * layout["answer_modulus_log2"]
        self.switched = layout["answer_modulus_log2"] < layout["modulus_log2"]

    def tail(self, any_data: bool) -> float:
        """log2 of the probability, a pair of roots, that a coefficient reaches the threshold: a bound for any data."""
        coefficient, of_value = (self.any_data, log2_largest_tail) if any_data else (self.random, log2_form_tail)
        found = 0.0
        for share in SHARES if self.switched else (1.0,):
            # A coefficient of the pair is 2/n of the value at it.
            value, switch = (2 * log2(part * THRESHOLD * self.n / 2) if part else 0.0 for part in (share, 1 - share))
            level = value - coefficient - self.value
            wrong = log2_sum_tail(of_value, self.variables, self.degree, self.n / 2, level, bound=any_data)
            if self.switched:
                of_switch = log2_sum_tail(
                    log2_form_tail, 1, self.degree, self.n / 2, switch - self.switch, bound=any_data
                )
                wrong = float(np.logaddexp2(wrong, of_switch))
            found = min(found, wrong)
        return found

    def variance(self, any_data: bool = False) -> float:
        """The variance of a coefficient of the value."""
        mean, _, _ = moments(self.variables, self.degree)
        return exp(LN2 * ((self.any_data if any_data else self.random) + self.value) + mean) / self.n

    def of_switch(self) -> float:
        """The variance that the switch adds to a coefficient."""
        return exp(LN2 * self.switch + moments(1, self.degree)[0]) / self.n if self.switched else 0.0

    def terms(self, *parts: tuple[float, int]) -> float:
        """Gaussian squares of a query whose mean varies like that of parts, each a variance and a number of variables.

        At a root |f|^2 is h_D times an exponential variable, which doubles the mean square.
        """
        whole = sum(variance for variance, _ in parts)
        spread = sum((v / whole) ** 2 * (2 * moments(m, self.degree)[1] - 1) for v, m in parts if whole)
        return max(self.n / max(spread, 1.0), LEAST_TERMS)


def chain(descriptions: Sequence[dict]) -> list[Stage]:
    """`value`, before the switch, and `answer`, which decides."""
    layouts, rings = [d["layout"] for d in descriptions], Rings.of(descriptions)
    squares = (
        np.broadcast_to(np.asarray(x, dtype=float), rings.n.shape) for x in (rings.fresh.variance, rings.secret.square)
    )
    each = [Answer(*one) for one in zip(layouts, rings.n, *squares)]
    value, switch = np.array([a.variance() for a in each]), np.array([a.of_switch() for a in each])
    of_any, random = (np.array([a.tail(any_data) for a in each]) for any_data in (True, False))
    bound = np.array([a.variance(any_data=True) for a in each])
    # The number of random coefficients of f that decide the variance of the value.
    deciding = np.array([moments(a.variables, a.degree)[2] for a in each])
    share = np.maximum(value, 1e-9 * switch) / (value + switch)
    stage = stages("depir")
    return [
        stage(
            "value",
            Noise(value),
            Noise(bound, "bound"),
            terms=[a.terms((v, a.variables)) for a, v in zip(each, value)],
            data_values=deciding,
        ),
        stage(
            "answer",
            Noise(value + switch),
            Noise(bound + switch, "bound"),
            decision=Decision(
                threshold=THRESHOLD,
                union={"pairs of roots": rings.n / 2, "answers of a record": numbers(layouts, "entries_per_record")},
                tails=(np.minimum(random, of_any), of_any),
            ),
            terms=[a.terms((v, a.variables), (s, 1)) for a, v, s in zip(each, value, switch)],
            data_values=deciding / share**2,
        ),
    ]
