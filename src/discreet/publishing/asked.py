"""What a caller asks of a publication, whichever engine makes it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from discreet._support.errors import InputError
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.writing import Wanted

__all__ = ["Asked", "Required"]

#: What an attack has to come to for a table to be published.
Required = Literal["undecided", "not-broken", "confidence"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """All but the promise and how it is to be kept.

    Attributes
    ----------
    key : ReleaseKey
        The secret of the draw.
    wanted : Wanted
        Files that are written.
    sensitive, useful, drop, person
        Columns by what becomes of them, as `discreet.publish` takes them.
    each, bins
        How the secret is read; ``least_share`` is that of a label of its own.
    signer : SigningKey or None
        Signs the public certificate.
    reporter : callable or None
        From the publication to a report.
    shuffle : bool
        Whether rows come in a random order.
    time_limit : float or None
        Seconds after which no further try begins.
    require : "undecided", "not-broken" or "confidence"
        What the attack has to come to, and whether the promise has to have its confidence.
    started : float
        When it was asked, by the clock of `time.perf_counter`.
    """

    key: ReleaseKey
    wanted: Wanted
    sensitive: str | Sequence[str] = ()
    useful: str | Sequence[str] = "all"
    drop: str | Sequence[str] = ()
    person: str | None = None
    each: bool = False
    bins: Mapping[str, Any] | None = None
    least_share: float = 0.0
    signer: Any = None
    reporter: Callable[[Any], str] | None = None
    shuffle: bool = True
    time_limit: float | None = None
    require: Required = "undecided"
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        if self.require not in get_args(Required):
            raise InputError(f"require must be 'undecided', 'not-broken' or 'confidence', got {self.require!r}.")

    @property
    def seconds(self) -> float:
        """Since it was asked."""
        return time.perf_counter() - self.started

    def is_late(self) -> bool:
        """Whether the time is over in which further tries begin."""
        return self.time_limit is not None and self.seconds > self.time_limit
