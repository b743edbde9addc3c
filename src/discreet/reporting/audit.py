"""An audit as plain data: measures of the whole, every symbol, and the verdict of a notion."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet import measures
from discreet._support.numeric import BoolArray, FloatArray, log
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions import Notion

__all__ = ["audit_summary", "scalar_measures", "worst_first"]

#: Order of the Sibson and Arimoto information that an audit prints.
AUDIT_ALPHA = 2.0


def audit_summary(joint: Joint, notion: Notion | None = None) -> dict[str, Any]:
    """All that an audit finds.

    Parameters
    ----------
    joint : Joint
        P(s, x) of the table as it is.
    notion : Notion, optional
        Adds a verdict.

    Returns
    -------
    dict
        Keys ``sensitive``, ``useful``, ``rows``, ``joint``, ``measures``, ``per_symbol``, ``verdict``; labels as
        in the mechanism's JSON, symbols worst first.
    """
    # A conditional notion speaks of mechanisms: an audit judges the release of X itself, as a whole.
    by_symbol = notion is not None and not notion.is_conditional
    allowed = notion.allowed(joint) if notion is not None and by_symbol else None
    return {
        "sensitive": list(joint.sensitive_columns),
        "useful": list(joint.useful_columns),
        "rows": joint.records,
        "joint": {
            "n_sensitive": joint.n_sensitive,
            "n_useful": joint.n_useful,
            "zero_cells": int((joint.probabilities == 0).sum()),
            "bins": {name: list(edges) for name, edges in joint.bins.items()},
        },
        "measures": scalar_measures(joint),
        "per_symbol": _per_symbol(joint, allowed),
        "verdict": None if notion is None else _verdict(joint, notion, allowed),
    }


def scalar_measures(joint: Joint) -> dict[str, float]:
    """The numbers of an audit, by name; informations and leakages in nats."""
    per_symbol = {
        "max_lift": measures.max_lift(joint),
        "lift_ratio": measures.lift_ratio(joint),
        "l1_lift": measures.l1_lift(joint),
        "l1_lift_inverse": measures.l1_lift_inverse(joint),
        "chi2_lift": measures.chi2_lift(joint),
        "chi2_lift_inverse": measures.chi2_lift_inverse(joint),
        "alpha_lift": measures.alpha_lift(joint, AUDIT_ALPHA),
        "alpha_lift_inverse": measures.alpha_lift_inverse(joint, AUDIT_ALPHA),
    }
    smallest = float(measures.min_lift(joint).min())
    worst = {name: float(values.max()) for name, values in per_symbol.items()}
    return {
        "entropy_sensitive": measures.entropy(joint.p_sensitive),
        "entropy_useful": measures.entropy(joint),
        "mutual_information": measures.mutual_information(joint),
        "log_max_lift": math.log(worst["max_lift"]),
        "log_min_lift": math.log(smallest) if smallest > 0 else -math.inf,
        "min_lift": smallest,
        **worst,
        "total_variation": measures.total_variation(joint),
        "chi2_divergence": measures.chi2_divergence(joint),
        "sibson_information": measures.sibson_information(joint, AUDIT_ALPHA),
        "arimoto_information": measures.arimoto_information(joint, AUDIT_ALPHA),
        "maximal_leakage": measures.maximal_leakage(joint),
        "realizable_leakage": measures.realizable_leakage(joint),
        "alpha": AUDIT_ALPHA,
    }


def worst_first(joint: Joint) -> list[int]:
    """Symbols by the largest change of belief that they cause, in either direction; commoner ones first at ties."""
    up = measures.max_lift(joint)
    strength = np.maximum(log(up), -log(measures.min_lift(joint)))
    order: list[int] = np.lexsort((np.arange(joint.n_useful), -joint.p_useful, -up, -strength)).tolist()
    return order


def _per_symbol(joint: Joint, allowed: Any) -> list[dict[str, Any]]:
    lifts = measures.lift(joint)
    columns: dict[str, FloatArray] = {
        "max_lift": lifts.max(axis=0),
        "min_lift": lifts.min(axis=0),
        "lift_ratio": measures.lift_ratio(joint),
        "l1_lift": measures.l1_lift(joint),
        "l1_lift_inverse": measures.l1_lift_inverse(joint),
        "chi2_lift": measures.chi2_lift(joint),
        "chi2_lift_inverse": measures.chi2_lift_inverse(joint),
    }
    likelier, unlikelier = lifts.argmax(axis=0), lifts.argmin(axis=0)
    impossible = (joint.probabilities == 0) & (joint.p_useful > 0)
    totals = None if joint.counts is None else joint.counts.sum(axis=0)
    encoded = [labels.encode(label) for label in joint.sensitive]
    result = []
    for x in worst_first(joint):
        entry: dict[str, Any] = {
            "symbol": labels.encode(joint.useful[x]),
            "probability": float(joint.p_useful[x]),
            "records": None if totals is None else int(totals[x]),
            **{name: float(values[x]) for name, values in columns.items()},
            "likelier": encoded[likelier[x]],
            "unlikelier": encoded[unlikelier[x]],
            "rules_out": [encoded[s] for s in np.flatnonzero(impossible[:, x])],
        }
        if allowed is not None:
            entry["allowed"] = bool(allowed[x])
        result.append(entry)
    return result


def _verdict(joint: Joint, notion: Notion, allowed: BoolArray | None) -> dict[str, Any]:
    itself = Mechanism.from_blocks(joint, range(joint.n_useful)) if allowed is None else None
    return {
        "notion": notion.to_dict(),
        "holds": notion.holds(joint, itself) if allowed is None else bool(allowed.all()),
        "slack": notion.slack(joint, itself),
        "violating_symbols": None if allowed is None else int((~allowed).sum()),
        "violating_probability": None if allowed is None else float(joint.p_useful[~allowed].sum()),
    }
