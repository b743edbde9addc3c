"""`Design`, the one kind of result that every method returns, and what its bound says."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from discreet._support.errors import InputError
from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.designers.history import Moment
from discreet.measures import distortion, max_lift, min_lift, share_errors, unchanged
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import LIFTS, Notion
from discreet.utilities import Information, Measured

__all__ = ["OPTIMAL_GAP", "Design", "Room", "status_of"]

#: A bound that is at most this far above the share that was reached proves it optimal.
OPTIMAL_GAP = 1e-7

#: Probabilities P(y | x) that are listed of a mechanism whose released values are made of parts.
MOST_LISTED = 2_000_000


@dataclass(frozen=True)
class Room:
    """What a design leaves to other tables than the one that it was made on.

    Attributes
    ----------
    margin : float or None
        Nats by which the budgets are smaller that it was designed for.
    for_later : float or None
        Share of next tables that were to keep the promise.
    share : float or None
        Share of simulated next tables that do.
    """

    margin: float | None
    for_later: float | None
    share: float | None

    def to_dict(self) -> dict[str, float | None]:
        """As plain data."""
        return {"margin": self.margin, "for_later": self.for_later, "share_of_next_tables": self.share}


@dataclass(frozen=True)
class Design:
    """A mechanism, what it keeps and what it promises; the same record whatever the method.

    Attributes
    ----------
    mechanism : Mechanism
        Checked by ``notion.holds`` on its integer weights.
    joint, notion : Joint, Notion
        What it was designed for.
    method : str
        Name of the designer.
    mutual_information : float
        I(X; Y), nats.
    nmi : float
        I(X; Y) / H(X), in [0, 1].
    utility : str
        Name of the utility that was maximised; see `discreet.utilities`.
    kept : float
        Share of the utility's whole that is kept, in [0, 1]; for information it is the NMI.
    bound : float or None
        Proven upper limit of what any mechanism under the notion keeps, where one is known; a share, like ``kept``.
    status : str
        ``"optimal"`` where the bound is met within 1e-7, ``"gap x %"`` where it is not, ``"heuristic"`` where the
        method proves no bound.
    proof : object or None
        What proves the bound; ``proof.check()`` evaluates it anew without a solver. See `evidence`.
    measured : Measured or None
        What is kept, or lost, as people would say it, with its unit: records guessed right, the mean distance of the
        best guess, nats.
    seconds : float
        Time that the design took, integers and exact check included.
    search_seconds : float or None
        The part of it that a search took, which a time limit is for.
    history : tuple of (seconds, kept, bound)
        What the best mixture kept and what was proven of all, as the search improved; empty where none was searched.
    room : Room or None
        How much room other tables were left, where some was asked for. A limit is then not proven.
    designed_on : Joint or None
        Where records were held out: those that it was designed on; ``joint`` are the others.
    after : Earlier or None
        What was published about the same records before: the notion holds for all of it together.
    notes : tuple of str
        What the method could not do, such as hold the best columns under perfect privacy in weights of 60 bits.
    """

    mechanism: Mechanism
    joint: Joint = field(repr=False)
    notion: Notion
    method: str
    mutual_information: float
    nmi: float
    utility: str
    kept: float
    bound: float | None
    status: str
    seconds: float
    proof: Any = field(default=None, repr=False)
    measured: Measured | None = None
    search_seconds: float | None = None
    history: tuple[Moment, ...] = field(default=(), repr=False)
    room: Room | None = None
    designed_on: Joint | None = field(default=None, repr=False)
    after: Earlier | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def released(self) -> Joint:
        """The joint of (sensitive, released)."""
        return self.joint.through(self.mechanism)

    @property
    def slack(self) -> float:
        """Nats of budget that are left, for whoever has seen earlier releases too."""
        alone = self.notion.slack(self.joint, self.mechanism)
        if self.after is None:
            return alone
        return min(alone, self.notion.on_counts().slack(self.after.through(self.mechanism)))

    def _on_averages(self) -> list[dict[str, Any]]:
        """What a promise about averages measures, for whoever has seen earlier releases too."""
        if self.after is None:
            return self.notion.on_averages(self.joint, self.mechanism)
        return self.notion.on_averages(self.after.through(self.mechanism))

    @property
    def kept_name(self) -> str:
        """What the share that is kept is called: NMI, or the name of another utility."""
        return "NMI" if self.utility == Information.name else self.utility

    @property
    def evidence(self) -> str | None:
        """How the bound can be checked; None where there is no bound.

        ``"checkable"``: by ``proof.check()``. ``"whole"``: X itself is released, and nothing keeps more. ``"claimed,
        not checkable"``: a computation found it, as the listing of vertices does, but its proof was not kept.
        """
        if self.bound is None:
            return None
        if self.proof is not None:
            return "checkable"
        return "whole" if self.mechanism.releases_everything(self.joint) else "claimed, not checkable"

    @cached_property
    def nmi_in_values(self) -> float | None:
        """NMI where each symbol is read as a value drawn from what it stands for, as a release does by default.

        None where symbols are values or merged blocks already, and where values would need too many weights.
        """
        if not self.mechanism.has_mixed_labels or self.joint.records is None:
            return None
        try:
            made = self.mechanism.in_values(self.joint)
        except InputError:
            return None
        return Information().kept(self.joint, Information().value(self.joint, made))

    @cached_property
    def unchanged(self) -> float | None:
        """Share of records that keep their value where each symbol is read as a value drawn from what it stands for.

        None where released symbols are too many to list.
        """
        return unchanged(self.joint, self.mechanism) if self._is_listed else None

    @cached_property
    def share_error(self) -> float | None:
        """Largest standard error of the share of a value, counted in such a column of as many records as the table has.

        None where records were not counted, or where too many values stand behind symbols to add them up. For
        mechanisms that read S it is an upper limit.
        """
        if not self._is_listed or not self.joint.records:
            return None
        errors = share_errors(self.joint, self.mechanism)
        return None if errors is None else float(errors.max())

    @cached_property
    def distortion(self) -> float | None:
        """Mean distance of a record's number from the one that it is read as; None where X has other values."""
        return distortion(self.joint, self.mechanism) if self._is_listed else None

    @property
    def _is_listed(self) -> bool:
        return self.mechanism.is_sparse or self.mechanism.n_released * self.mechanism.n_useful <= MOST_LISTED

    def to_dict(self) -> dict[str, Any]:
        """The figures of the design as plain data; ``released`` is the number of released symbols."""
        released = self.mechanism.judged(self.joint, LIFTS)  # where the lifts are extreme
        smallest = float(min_lift(released).min())
        return {
            "method": self.method,
            "notion": self.notion.to_dict(),
            "nmi": self.nmi,
            "mutual_information": self.mutual_information,
            "nmi_in_values": self.nmi_in_values,
            "utility": self.utility,
            "kept": self.kept,
            "measured": None if self.measured is None else self.measured._asdict(),
            "bound": self.bound,
            "status": self.status,
            "evidence": self.evidence,
            "slack": self.slack,
            **({"on_averages": averages} if (averages := self._on_averages()) else {}),
            "after": None if self.after is None else len(self.after.mechanisms),
            "unchanged": self.unchanged,
            "share_error": self.share_error,
            "distortion": self.distortion,
            "log_max_lift": math.log(float(max_lift(released).max())),
            "log_min_lift": math.log(smallest) if smallest > 0 else -math.inf,
            "released": self.mechanism.n_released,
            "useful": self.mechanism.n_useful,
            "reads_sensitive": self.mechanism.reads_sensitive,
            "in_values": self.mechanism.is_in_values,
            "seconds": self.seconds,
            "search_seconds": self.search_seconds,
            **({"notes": list(self.notes)} if self.notes else {}),
            **({} if self.room is None else {"room": self.room.to_dict()}),
            **({} if self.designed_on is None else {"designed_on_records": self.designed_on.records}),
        }

    def __repr__(self) -> str:
        bound = "" if self.bound is None else f", bound {self.bound:.4f}"
        reads = ", reads S" if self.mechanism.reads_sensitive else ""
        kept = f"{self.kept_name} {self.kept:.4f}"
        return visible(
            f"Design({self.method} for {self.notion}: {kept}{bound}, "
            f"{self.mechanism.n_useful} useful -> {self.mechanism.n_released} released{reads}, {self.status})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.mechanism._repr_html_()}"


def status_of(kept: float, bound: float | None) -> str:
    """What a bound says about a share that is kept."""
    if bound is None:
        return "heuristic"
    return "optimal" if bound - kept <= OPTIMAL_GAP else f"gap {100 * (bound - kept):.2g} %"
