"""Publish a table without publishing its secret: audit, design, release and prove."""

# SPDX-License-Identifier: Apache-2.0
from importlib.metadata import version as _version

from discreet import errors, measures, ranges, samples
from discreet.designers import Design, design, methods
from discreet.designers.quantise import Quantisation, QuantisationPath, quantise
from discreet.joint import Joint
from discreet.mechanism import BitMechanism, Estimate, Mechanism, ProductMechanism, SensitiveMechanism
from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy
from discreet.sweeps import Frontier, frontier

__version__ = _version("discreet")

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "SRLIP",
    "AlphaLift",
    "BitMechanism",
    "Chi2Lift",
    "Design",
    "Estimate",
    "Frontier",
    "Joint",
    "L1Lift",
    "MaxLift",
    "Mechanism",
    "Notion",
    "PerfectPrivacy",
    "ProductMechanism",
    "Quantisation",
    "QuantisationPath",
    "SensitiveMechanism",
    "design",
    "errors",
    "frontier",
    "measures",
    "methods",
    "quantise",
    "ranges",
    "samples",
]
