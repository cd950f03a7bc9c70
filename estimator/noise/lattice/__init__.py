"""Noise of the operations on LWE, RLWE, RLWE' and RGSW ciphertexts, in closed form. docs/noise.md has the table."""

from ..error import NOTHING, Noise
from .basic import (
    fresh,
    monomial_product,
    norm_product,
    plaintext_product,
    sample_extraction,
    sum_of,
    uniform_square,
)
from .conversion import (
    ProductNoise,
    RgswNoise,
    SelectorNoise,
    common_means,
    converted_product,
    converted_rows,
    first_dimension,
    folding,
    root_product,
    selector_tree,
)
from .inputs import GadgetNoise, Secret
from .packing import cdks, inspiring, mean_in_common, packing_theorem
from .products import cmux, cmux_chain, digit_noise, external_product, gadget_product
from .switching import (
    automorphism,
    lwe_key_switch,
    modulus_switch,
    ring_switch,
    rlwe_key_switch,
    split_modulus_switch,
)
from .trace import TraceNoise, expansion, rlwe_to_rgsw_row, switch_noise_by_valuation, trace

__all__ = [
    "NOTHING",
    "GadgetNoise",
    "Noise",
    "ProductNoise",
    "RgswNoise",
    "Secret",
    "SelectorNoise",
    "TraceNoise",
    "automorphism",
    "cdks",
    "cmux",
    "cmux_chain",
    "common_means",
    "converted_product",
    "converted_rows",
    "digit_noise",
    "expansion",
    "external_product",
    "first_dimension",
    "folding",
    "fresh",
    "gadget_product",
    "inspiring",
    "lwe_key_switch",
    "mean_in_common",
    "modulus_switch",
    "monomial_product",
    "norm_product",
    "packing_theorem",
    "plaintext_product",
    "ring_switch",
    "rlwe_key_switch",
    "rlwe_to_rgsw_row",
    "root_product",
    "sample_extraction",
    "selector_tree",
    "split_modulus_switch",
    "sum_of",
    "switch_noise_by_valuation",
    "trace",
    "uniform_square",
]
