"""Quantisations: partitions of the useful values for the non-stochastic notions."""

# SPDX-License-Identifier: Apache-2.0
from discreet.quantising.front import quantise
from discreet.quantising.path import QuantisationPath
from discreet.quantising.quantisation import Quantisation

__all__ = ["Quantisation", "QuantisationPath", "quantise"]
