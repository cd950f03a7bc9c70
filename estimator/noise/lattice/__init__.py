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
from .packing import cdks, inspiring, mean_in_common
from .products import cmux, cmux_chain, digit_noise, external_product, gadget_product
from .switching import (
    automorphism,
    lwe_key_switch,
    modulus_switch,
    ring_switch,
    rlwe_key_switch,
    split_modulus_switch,
)
from .trace import TraceNoise, expansion, rlwe_to_rgsw_row, trace
