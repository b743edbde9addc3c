"""Ranges and what they give away, in bits, as in [DF20]_: the public door to what `core` and `measures` hold."""

# SPDX-License-Identifier: Apache-2.0
from discreet.core.range import Range
from discreet.measures.nonstochastic import (
    Components,
    common_information,
    components,
    distinct_sensitive,
    hartley_entropy,
    k_anonymity,
    maximin_information,
    non_stochastic_information,
    overlap_partition,
    smallest_uncertainty,
    uncertainty_reduction,
)

__all__ = [
    "Components",
    "Range",
    "common_information",
    "components",
    "distinct_sensitive",
    "hartley_entropy",
    "k_anonymity",
    "maximin_information",
    "non_stochastic_information",
    "overlap_partition",
    "smallest_uncertainty",
    "uncertainty_reduction",
]
