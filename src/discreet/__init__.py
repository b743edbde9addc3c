"""Publish a table without publishing its secret: audit, design, release and prove."""

# SPDX-License-Identifier: Apache-2.0
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from discreet import errors, measures, notions, ranges, samples, utilities
from discreet._support.version import version as _version
from discreet.core.joint import Joint
from discreet.designers import Comparison, Design, Outcome, compare, design, methods, register_method
from discreet.frontiers import Frontier, frontier
from discreet.mechanism import (
    BitMechanism,
    ChannelMechanism,
    Estimate,
    Mechanism,
    ProductMechanism,
    SensitiveMechanism,
)
from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy
from discreet.quantising import Quantisation, QuantisationPath, quantise
from discreet.reporting.audit import Audit, audit
from discreet.utilities import SeparableUtility, Utility

if _TYPE_CHECKING:
    from discreet.certificate import Certificate, Verdict, certify, verify
    from discreet.drawing.keys import ReleaseKey
    from discreet.releasing.api import release

__version__ = _version()

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "SRLIP",
    "AlphaLift",
    "Audit",
    "BitMechanism",
    "Certificate",
    "ChannelMechanism",
    "Chi2Lift",
    "Comparison",
    "Design",
    "Estimate",
    "Frontier",
    "Joint",
    "L1Lift",
    "MaxLift",
    "Mechanism",
    "Notion",
    "Outcome",
    "PerfectPrivacy",
    "ProductMechanism",
    "Quantisation",
    "QuantisationPath",
    "ReleaseKey",
    "SensitiveMechanism",
    "SeparableUtility",
    "Utility",
    "Verdict",
    "audit",
    "certify",
    "compare",
    "design",
    "errors",
    "frontier",
    "measures",
    "methods",
    "notions",
    "quantise",
    "ranges",
    "register_method",
    "release",
    "samples",
    "utilities",
    "verify",
]

# What needs an engine is imported when it is first asked for.
_LAZY = {
    "Certificate": "certificate",
    "ReleaseKey": "drawing.keys",
    "Verdict": "certificate",
    "certify": "certificate",
    "release": "releasing.api",
    "verify": "certificate",
}


def __getattr__(name: str) -> _Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(_import_module(f"discreet.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
