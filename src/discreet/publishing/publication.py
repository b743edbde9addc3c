"""A published table, with its promise and all that was found on the way."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._support import jsonable
from discreet._support.numeric import FloatArray, IntArray
from discreet._support.visible import visible
from discreet.certificate import Certificate
from discreet.core.joint import Joint
from discreet.designers import Design
from discreet.drawing.keys import ReleaseKey
from discreet.notions import Notion
from discreet.publishing.fitting import Fitted
from discreet.publishing.note import Note
from discreet.publishing.plan import PublicationPlan
from discreet.publishing.quality import Quality
from discreet.publishing.roles import Roles

if TYPE_CHECKING:
    from discreet.publishing.attack.record import Attack

__all__ = ["Publication"]


@dataclass(frozen=True, eq=False)
class Publication:
    """A whole table under one promise.

    Attributes
    ----------
    table : frame or path
        What is published, of the kind that was given; the output where that was named.
    notion : Notion
        The promise that was asked for.
    certificate : Certificate
        Private part included: publish its ``public`` part.
    design : Design
        Of what moves between classes, on the counts of (S, class).
    attack : Attack
        What models learn about S from the original, and from what is published.
    attacks : tuple of Attack
        One for each secret, where several are promised one by one; ``attack`` is the first that came closest.
    quality : Quality
        What was kept of rows, columns, shares and associations.
    roles : Roles
        What became of each column.
    fitted : Fitted
        Model, classes and design, which `apply` takes to later tables.
    joint : Joint
        Counts of (S, class).
    coverage : str
        "exact", "approximate" or "none", with the reason behind it.
    tries : int
        How many times it was fitted: more than once where an attack broke what was made first.
    key : ReleaseKey
        The secret of the draw.
    sources : ndarray of int
        Of each row of the original, in its order, the row whose useful cells are published for it. Private; empty
        where Spark published, whose rows have no order.
    calibration : dict
        Of every class and label the mean belief and the counted share; empty for counted beliefs. Private.
    """

    table: Any
    notion: Notion
    certificate: Certificate
    design: Design
    attack: Attack
    attacks: tuple[Attack, ...]
    quality: Quality
    roles: Roles
    fitted: Fitted
    joint: Joint
    coverage: str
    tries: int
    key: ReleaseKey
    rows: int
    seconds: float
    is_shuffled: bool
    sources: IntArray = field(repr=False)
    beliefs: FloatArray | None = field(default=None, repr=False)
    notes: tuple[Note, ...] = ()
    calibration: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def unchanged(self) -> float:
        """Share of rows whose useful cells are all as they were."""
        return self.quality.unchanged

    @property
    def columns(self) -> dict[str, float]:
        """Of every published column the share of rows whose cell is as it was."""
        return {name: kept.unchanged for name, kept in self.quality.columns.items()}

    @property
    def appearances(self) -> dict[str, float]:
        """Shares of the records that are published not at all, once, and several times; empty where Spark published."""
        if not len(self.sources):
            return {}
        times = np.bincount(self.sources, minlength=self.rows)
        counted = {"not at all": times == 0, "once": times == 1, "several times": times > 1}
        return {name: float(mine.mean()) for name, mine in counted.items()}

    def apply(self, table: Any, *, key: Any = None, seed: int | None = None, **options: Any) -> Publication:
        """Publish a later table with the same model, classes and design; twins are looked for anew.

        The promise is decided anew on the counts of the later table, and the attack runs again: where either fails,
        nothing is published. Two publications about the same people tell more than one; see the documentation.

        Parameters
        ----------
        table : frame or path
            With the same columns.
        key, seed : optional
            Left out: the key of this publication, so that a record that is in both tables draws the same class.
        **options
            ``output``, ``shuffle``, ``sign``, ``force``, ``require`` and the names of files, as in `discreet.publish`.

        Notes
        -----
        The promise is made with confidence where limits of the later table's classes keep it under the earlier design,
        which a ``margin`` leaves room for; else about its counted records alone, and a note says so.
        """
        return self.plan.apply(table, key=key, seed=seed, **options)

    @property
    def plan(self) -> PublicationPlan:
        """What later tables are published by: keep it (``plan.save``) with the key, and read it by `load_plan`."""
        stored = self.certificate["publication"]["weights"]
        weights = {name: math.inf if text == "inf" else float(text) for name, text in stored.items()}
        return PublicationPlan(self.roles, self.notion, self.fitted, weights, self.key)

    def to_dict(self) -> dict[str, Any]:
        """What is to be said about it, as plain data without a row of the table; infinite numbers are texts."""
        return jsonable.plain(self._said())  # type: ignore[no-any-return]

    def _said(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "columns": {
                "sensitive": list(self.roles.sensitive),
                "published": list(self.roles.useful),
                "dropped": list(self.roles.dropped),
                "ids": list(self.roles.ids),
                "person": self.roles.person,
            },
            "notion": str(self.notion),
            "notion_parts": self.notion.to_dict(),
            "unchanged": self.unchanged,
            "expected_unchanged": self.expected_unchanged,
            "columns_unchanged": self.columns,
            "appearances": self.appearances,
            "quality": self.quality.to_dict(),
            "classes": self.joint.n_useful,
            "class_records": [int(n) for n in np.asarray(self.joint.counts).sum(axis=0)],
            "labels": list(self.joint.sensitive),
            "gathered": len(self.fitted.rule.gathered),
            "design": {
                "nmi": self.design.nmi,
                "kept": self.design.kept,
                "bound": self.design.bound,
                "status": self.design.status,
            },
            "model": self.fitted.settings.model,
            "coverage": self.coverage,
            "tries": self.tries,
            "notes": [str(note) for note in self.notes],
            "note_codes": [note.code for note in self.notes],
            "attack": self.attack.to_dict(),
            "secrets": [self._secret(one) for one in self.attacks],
            "calibration": dict(self.calibration),
            "shuffled": self.is_shuffled,
            "seconds": self.seconds,
        }

    @staticmethod
    def _secret(attack: Attack) -> dict[str, Any]:
        """What the attack on one secret came to."""
        sides = {"before": attack.before, "after": attack.after}
        lifts = {name: [side.log_min_lift, side.log_max_lift] for name, side in sides.items()}
        return {"sensitive": list(attack.sensitive), "verdict": attack.verdict, "log_lifts": lifts}

    @property
    def expected_unchanged(self) -> float:
        """Share of rows that stay as they are on average over the draw; no channel between classes keeps more."""
        from discreet.measures import unchanged

        return unchanged(self.joint, self.fitted.mechanism)

    def __repr__(self) -> str:
        return visible(
            f"Publication({self.notion}: {self.rows:,} rows of {len(self.roles.useful)} columns, "
            f"{100 * self.unchanged:.1f} % unchanged, {self.joint.n_useful} classes, attack {self.attack.verdict})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"
