"""Quantisations: partitions of the useful values for the non-stochastic notions."""

# SPDX-License-Identifier: Apache-2.0
from discreet.quantising.path import Quantisation, QuantisationPath, quantise

__all__ = ["Quantisation", "QuantisationPath", "quantise"]
