"""Publish a table without publishing its secret: audit, design, release and prove."""

# SPDX-License-Identifier: Apache-2.0
import typing as _typing

if _typing.TYPE_CHECKING:
    from discreet import errors, measures, notions, ranges, samples, utilities
    from discreet.certificate import Certificate, Verdict, certify, verify
    from discreet.core.joint import Joint
    from discreet.designers import Comparison, Design, Outcome, compare, design, methods, register_method
    from discreet.drawing.keys import ReleaseKey
    from discreet.frontiers import Frontier, frontier
    from discreet.mechanism import (
        BitMechanism,
        ChannelMechanism,
        Earlier,
        Estimate,
        Mechanism,
        ProductMechanism,
        SensitiveMechanism,
    )
    from discreet.notions import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy
    from discreet.publishing.attack.front import Attack, attack
    from discreet.publishing.front import publish
    from discreet.publishing.plan import PublicationPlan, load_plan
    from discreet.publishing.publication import Publication
    from discreet.quantising import Quantisation, QuantisationPath, quantise
    from discreet.releasing.api import release
    from discreet.releasing.ledger import Ledger
    from discreet.reporting.audit import Audit, audit
    from discreet.utilities import SeparableUtility, Utility

    __version__: str

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "SRLIP",
    "AlphaLift",
    "Attack",
    "Audit",
    "BitMechanism",
    "Certificate",
    "ChannelMechanism",
    "Chi2Lift",
    "Comparison",
    "Design",
    "Earlier",
    "Estimate",
    "Frontier",
    "Joint",
    "L1Lift",
    "Ledger",
    "MaxLift",
    "Mechanism",
    "Notion",
    "Outcome",
    "PerfectPrivacy",
    "ProductMechanism",
    "Publication",
    "PublicationPlan",
    "Quantisation",
    "QuantisationPath",
    "ReleaseKey",
    "SensitiveMechanism",
    "SeparableUtility",
    "Utility",
    "Verdict",
    "attack",
    "audit",
    "certify",
    "compare",
    "design",
    "errors",
    "frontier",
    "load_plan",
    "measures",
    "methods",
    "notions",
    "publish",
    "quantise",
    "ranges",
    "register_method",
    "release",
    "samples",
    "utilities",
    "verify",
]


# Where each name lives. Nothing is imported before it is asked for: most programs, and every command, need a part.
_HOMES = {
    "certificate": "Certificate Verdict certify verify",
    "core.joint": "Joint",
    "designers": "Comparison Design Outcome compare design methods register_method",
    "drawing.keys": "ReleaseKey",
    "frontiers": "Frontier frontier",
    "mechanism": "BitMechanism ChannelMechanism Earlier Estimate Mechanism ProductMechanism SensitiveMechanism",
    "notions": "ALIP LDP LIP SRLIP AlphaLift Chi2Lift L1Lift MaxLift Notion PerfectPrivacy",
    "publishing.attack.front": "Attack attack",
    "publishing.front": "publish",
    "publishing.plan": "PublicationPlan load_plan",
    "publishing.publication": "Publication",
    "quantising": "Quantisation QuantisationPath quantise",
    "releasing.api": "release",
    "releasing.ledger": "Ledger",
    "reporting.audit": "Audit audit",
    "utilities": "SeparableUtility Utility",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

if not _typing.TYPE_CHECKING:  # a type checker knows the names above, and no other

    def __getattr__(name):
        """A public name, found at home and kept; or a room, such as `discreet.measures`."""
        from importlib import import_module

        if name in _HOME:
            found = getattr(import_module(f"discreet.{_HOME[name]}"), name)
        elif name == "__version__":
            found = import_module("discreet._support.version").version()
        else:
            return _room(name)
        globals()[name] = found
        return found


def _room(name: str) -> object:
    from importlib import import_module

    room = f"discreet.{name}"
    try:
        if name.startswith("_"):
            raise ModuleNotFoundError(name=room)
        return import_module(room)
    except ModuleNotFoundError as error:
        if error.name != room:
            raise
        raise AttributeError(f"module 'discreet' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
