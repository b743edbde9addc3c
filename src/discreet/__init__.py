"""Publish a table without publishing its secret: audit, design, release and prove."""

# SPDX-License-Identifier: Apache-2.0
from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from discreet import errors, measures, ranges, samples
from discreet.core.joint import Joint
from discreet.designers import Design, design, methods
from discreet.frontiers.sweep import Frontier, frontier
from discreet.mechanism import BitMechanism, Estimate, Mechanism, ProductMechanism, SensitiveMechanism
from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy
from discreet.quantising import Quantisation, QuantisationPath, quantise

if _TYPE_CHECKING:
    from discreet.certificate import Certificate, Verdict, certify, verify
    from discreet.drawing.keys import ReleaseKey
    from discreet.releasing.api import release

__version__ = _version("discreet")

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "SRLIP",
    "AlphaLift",
    "BitMechanism",
    "Certificate",
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
    "ReleaseKey",
    "SensitiveMechanism",
    "Verdict",
    "certify",
    "design",
    "errors",
    "frontier",
    "measures",
    "methods",
    "quantise",
    "ranges",
    "release",
    "samples",
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
