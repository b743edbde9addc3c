"""Where a mechanism comes from and what it promises: frozen provenance, carried along in its JSON."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values

__all__ = ["About", "provenance"]


@dataclass(frozen=True, eq=False)
class About:
    """What a mechanism remembers besides its weights.

    Attributes
    ----------
    p_useful : ndarray or None
        P(x) of the table that it was designed on, for the codebook.
    sensitive_columns, useful_columns : tuple of str
        Columns of that table; empty where no table stands behind.
    bins : dict
        Column name to the increasing edges that it was cut at.
    notion : dict or None
        The promise, as ``Notion.to_dict`` describes it.
    method : str or None
        Name of the designer.
    is_private : bool
        Whether it was designed where few records stand behind useful values: its weights then tell about single people
        (`discreet.core.rare`), and its files are for their owner alone.
    """

    p_useful: FloatArray | None = None
    sensitive_columns: tuple[str, ...] = ()
    useful_columns: tuple[str, ...] = ()
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    notion: Mapping[str, Any] | None = None
    method: str | None = None
    is_private: bool = False

    def __post_init__(self) -> None:
        plain = {
            "p_useful": None if self.p_useful is None else np.asarray(self.p_useful, dtype=np.float64),
            "sensitive_columns": tuple(self.sensitive_columns),
            "useful_columns": tuple(self.useful_columns),
            "bins": {name: tuple(edges) for name, edges in (self.bins or {}).items()},
            "notion": None if self.notion is None else dict(self.notion),
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @classmethod
    def given(cls, about: About | None = None, **parts: Any) -> About:
        """As makers of mechanisms take it: whole, or part by part."""
        return cls(**parts) if about is None else about

    @classmethod
    def stored(cls, content: Mapping[str, Any]) -> About:
        """Out of a stored mechanism, whose types were checked.

        Files from before mechanisms could be private do not say so, and are read as not private.
        """
        parts: dict[str, Any] = {part.name: content.get(part.name) for part in fields(cls)}
        return cls(**parts | {"is_private": content.get("private", False)})

    def check_for(self, n_useful: int) -> None:
        """P(x) has an entry for every useful value."""
        if self.p_useful is not None and self.p_useful.shape != (n_useful,):
            raise InvalidMechanismError(f"p_useful must have {n_useful} entries, got shape {self.p_useful.shape}.")


def provenance(joint: Joint) -> dict[str, Any]:
    """What a mechanism remembers of the joint that it was designed on, as arguments of its maker."""
    return {
        "p_useful": joint.p_useful,
        "sensitive_columns": joint.sensitive_columns,
        "useful_columns": joint.useful_columns,
        "bins": joint.bins,
        "is_private": has_rare_values(joint),
    }
