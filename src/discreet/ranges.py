"""Ranges and what they give away, in bits, as in [DF20]_: the public door to what `core` and `measures` hold."""

# SPDX-License-Identifier: Apache-2.0
from discreet.core.range import Range
from discreet.measures import nonstochastic
from discreet.measures.nonstochastic import *  # noqa: F403

__all__ = ["Range", *nonstochastic.__all__]  # noqa: PLE0604
