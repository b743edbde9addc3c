"""One record in twenty decides where numbers are cut, and how many classes there are; the others are counted.

Those records are published like all others, but not counted: what they choose does not depend on the S of a counted
record, and limits of P(s | class) cover as they say. Which labels are too rare is decided by all records; where some
are, coverage is called approximate.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError, UnusableColumnError
from discreet._support.numeric import BoolArray
from discreet.publishing.roles import ALL_NULL
from discreet.tables.binning import parse_bins
from discreet.twins.cells import cells_of
from discreet.twins.secret import SecretRule, quantile_edges

__all__ = ["MOST_LABELS", "rule_from"]

#: Numbers with more values than this are cut into so many parts of about equally many records.
MOST_NUMBERS, PARTS = 20, 5

#: Labels of a secret that are told apart; more would leave few records to each.
MOST_LABELS = 60

#: Where a larger share of the records have a value of their own, nothing can be promised about values.
MOSTLY_OWN = 0.9

#: Records of the pilot that quantiles need.
FEWEST = 40


def rule_from(
    table: Any,
    columns: Sequence[str],
    pilot: BoolArray,
    *,
    each: bool,
    bins: Mapping[str, Any] | None,
    least_share: float,
    elsewhere: Callable[[SecretRule, list[list[str]]], list[bool]] | None = None,
) -> SecretRule:
    """How the secret is read: edges of numbers, and labels of too small a share, by the pilot's records.

    Where the table is a sample, ``elsewhere`` tells of each secret whether there are labels that the sample lacks.
    """
    edges, ways = {}, {}
    chosen = _bins_of(bins, columns)
    for column in columns:
        cells = cells_of(column, table.column(column))
        if not cells.n_values and elsewhere is None:
            raise UnusableColumnError(ALL_NULL.format(column))
        ways[column] = cells.way
        rule = chosen.get(column)
        if rule is not None and cells.numbers is None:
            raise UnusableColumnError(
                f"bins cut numbers and dates, and the sensitive column {column!r} holds neither. Leave its bins out."
            )
        if isinstance(rule, tuple):
            edges[column] = rule
        elif cells.numbers is not None and (rule is not None or cells.n_values > MOST_NUMBERS):
            numbers = cells.of_values(cells.numbers)[pilot]
            found = quantile_edges(numbers, PARTS if rule is None else int(rule))
            if np.isfinite(numbers).sum() < FEWEST or not found:
                raise UnusableColumnError(
                    f"the sensitive column {column!r} has many numbers and few records to cut it by. Say where it is "
                    f"cut (bins, --bins {column}=EDGES)."
                )
            edges[column] = found
    rule_now = SecretRule(tuple(columns), each, edges, ways={} if elsewhere is None else ways)
    secrets = [texts.astype(str) for texts in rule_now.columns_of(table)]
    known = [np.unique(texts).tolist() for texts in secrets]
    for column, labels in zip(columns if each else [" and ".join(columns)], known):
        _check_shared(column, len(labels), table.num_rows)
    others = [False] * len(secrets) if elsewhere is None else elsewhere(rule_now, known)
    gathered = [
        label
        for texts, labels, has_others in zip(secrets, known, others)
        for label in _rare(labels, texts, least_share, has_others=has_others)
    ]
    kept = None if not any(others) else tuple(label for labels in known for label in labels if label not in gathered)
    return replace(rule_now, gathered=tuple(gathered), kept=kept)


def _check_shared(column: str, n_values: int, rows: int) -> None:
    """Refuse a secret that nearly every record has a value of its own for."""
    if n_values > MOSTLY_OWN * rows:
        raise UnusableColumnError(
            f"nearly every record has its own value of the sensitive {column!r} ({n_values:,} in {rows:,} rows), so "
            "nothing could be promised about any of them. Make a coarser column of it first, of few and common values; "
            "numbers and dates can be cut (bins, --bins COLUMN=EDGES)."
        )


def _bins_of(bins: Mapping[str, Any] | None, sensitive: Sequence[str]) -> dict[str, Any]:
    """Binning rules, all of them of sensitive columns."""
    chosen = parse_bins(bins)
    for name in chosen:
        if name not in sensitive:
            raise InputError(
                f"bins cut sensitive columns ({', '.join(sensitive)}), and {name!r} is none of them."
                f"{validate.closest(name, sensitive)}"
            )
    return dict(chosen)


def _rare(labels: list[str], texts: Any, least_share: float, *, has_others: bool = False) -> list[str]:
    """Labels to be gathered: the rarest, with others that are not listed, until together they are common enough.

    By all records: a pilot of few different records may lack a common label altogether.
    """
    found, counts = np.unique(texts, return_counts=True)
    share = {label: count / max(1, len(texts)) for label, count in zip(found.tolist(), counts.tolist())}
    rising = sorted(labels, key=lambda label: (share.get(label, 0.0), label))
    gathered: list[str] = []
    total = 0.0
    for label in rising:
        left = len(labels) - len(gathered) + has_others
        own = share.get(label, 0.0)
        is_rare = own < least_share or left > MOST_LABELS
        if left <= 2 or (not is_rare and (not (gathered or has_others) or total >= least_share)):
            break
        gathered.append(label)
        total += own
    return gathered if has_others or len(gathered) > 1 or total == 0 else []
