"""How good a design was when: the best value and the limit of a search, as they improved."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from typing import NamedTuple

__all__ = ["History", "Moment"]

#: Smaller changes, in the unit of the utility, are not worth a line.
WORTH_TELLING = 1e-6


class Moment(NamedTuple):
    """What a search had reached after so many seconds: what its best mixture keeps, and what any can at most."""

    seconds: float
    value: float
    limit: float | None


class History:
    """Moments at which a search improved.

    Parameters
    ----------
    prior : float
        Cost where nothing is released; mixtures keep what they take off it.
    """

    def __init__(self, prior: float) -> None:
        self._start = time.perf_counter()
        self._prior = prior
        self.moments: list[Moment] = []
        self.searched: float | None = None  # seconds until the search ended, and integers were made

    def saw(self, cost: float | None = None, limit: float | None = None) -> None:
        """A mixture of some cost, a limit that no cost is below, or both."""
        now = time.perf_counter() - self._start
        last = self.moments[-1] if self.moments else Moment(0.0, 0.0, None)
        value = last.value if cost is None else max(last.value, self._prior - cost)
        most = last.limit if limit is None else self._prior - limit
        if last.limit is not None and most is not None:
            most = min(most, last.limit)
        is_closer = most is not None and (last.limit is None or last.limit - most > WORTH_TELLING)
        if value - last.value > WORTH_TELLING or is_closer:
            self.moments.append(Moment(now, value, most))

    def ended(self) -> None:
        """The search is over; only the first word counts."""
        if self.searched is None:
            self.searched = time.perf_counter() - self._start
