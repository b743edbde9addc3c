"""The only caller of the LP solver: a master problem that keeps its basis as columns are added, and single programmes.

A solver is not believed: weights are solved for again where the mixture becomes a mechanism, and prices prove nothing
by themselves.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np

from discreet._support.numeric import FloatArray, IntArray

__all__ = ["BoxedMaster", "MasterLP", "Solved", "is_nearly_certain", "maximise", "minimise"]

#: Rows may be violated by this much; points are polished afterwards and pulled inside where needed.
FEASIBILITY = 1e-9

#: The shortest time that a solver is given.
LEAST_SECONDS = 0.05

#: A mixture that averages to P_X within this is used although the solver does not call it optimal.
ACCEPTED = 1e-7

#: Targets with less than this beside their largest entry are scaled: all that there is to keep is then so little that
#: the solver hardly sees it. Far less than weights of 60 bits can tell apart stays too small to be seen.
WELL_SCALED, LEAST_SCALED = 1e-3, 1e-30


def is_nearly_certain(target: FloatArray) -> bool:
    """Whether all entries but one are rare."""
    return bool(np.delete(target, int(target.argmax())).sum() < WELL_SCALED)


def _solver() -> Any:
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),  # it would throw the basis away
        ("primal_feasibility_tolerance", FEASIBILITY),
        ("dual_feasibility_tolerance", FEASIBILITY),
    ):
        solver.setOptionValue(option, value)
    return solver


class MasterLP:
    r"""min cost . q subject to sum_k q_k v_k = target, q >= 0, with columns v_k that may be added at any time.

    Where all entries of the target but one are tiny, or where it is asked for, the solver is given the same problem in
    other units (``in_shares``): as channels :math:`q_k v_k(x) / target(x)`, whose rows sum to one, each column with a
    largest entry of one, and costs divided by what is spent in all.
    """

    def __init__(self, target: FloatArray, spent: float = 1.0, *, in_shares: bool | None = None) -> None:
        self._solver = _solver()
        is_scaled = is_nearly_certain(target) if in_shares is None else in_shares
        self._rows = np.maximum(target, LEAST_SCALED) if is_scaled else np.ones(len(target))
        self._spent = spent if is_scaled and spent > 0 else 1.0
        self._sizes = np.empty(0)  # what each column was divided by
        #: Weights that a solver which ran out of time had come to, where they average to the target.
        self.reached: FloatArray | None = None
        self._target = target / self._rows
        empty: Any = np.empty(0, dtype=np.int32)
        for value in self._target.tolist():
            self._solver.addRow(value, value, 0, empty, np.empty(0))

    def add(self, cost: FloatArray, starts: IntArray, index: IntArray, value: FloatArray) -> None:
        """Columns as consecutive runs of (row, value) pairs that begin at ``starts``."""
        count = len(cost)
        value = value / self._rows[index]
        sizes = self._sizes_of(value, starts)
        self._sizes = np.append(self._sizes, sizes)
        self._solver.addCols(
            count,
            cost / (sizes * self._spent),
            np.zeros(count),
            np.full(count, np.inf),
            len(index),
            starts.astype(np.int32),
            index.astype(np.int32),
            value / np.repeat(sizes, np.diff(starts, append=len(index))),
        )

    def _sizes_of(self, value: FloatArray, starts: IntArray) -> FloatArray:
        if not len(value) or (self._rows == 1.0).all():
            return np.ones(len(starts))
        result: FloatArray = np.maximum.reduceat(np.abs(value), starts)
        return result

    def solve(self, seconds: float = np.inf) -> tuple[float, FloatArray, FloatArray] | None:
        """Value, prices of the rows, and weights of the columns; None where the solver gives up or runs out of time."""
        end = self._solver.getRunTime() + max(seconds, LEAST_SECONDS)  # its clock runs over all runs
        self._solver.setOptionValue("time_limit", end)
        self._solver.run()
        self.reached = None
        if self._solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
            self.reached = self._unfinished()
            return None
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._solver.clearSolver()  # a cold start rescues rare numerical trouble of a warm one
            self._solver.run()
        status, solution = self._solver.getModelStatus(), self._solver.getSolution()
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown):
            return None
        # Unknown is a solution that misses a tolerance by little: good enough where the mixture averages to P_X.
        off = np.abs(np.array(solution.row_value) - self._target).max(initial=0.0)
        if status == highspy.HighsModelStatus.kUnknown and not off <= ACCEPTED:
            return None
        weights = np.maximum(np.array(solution.col_value), 0.0) / self._sizes
        prices = np.array(solution.row_dual) * self._spent / self._rows
        return self._solver.getInfo().objective_function_value * self._spent, prices, weights

    def _unfinished(self) -> FloatArray | None:
        """Weights at the end of the time, where nothing is wrong with them but that others may cost less."""
        solution = self._solver.getSolution()
        weights, rows = np.array(solution.col_value), np.array(solution.row_value)
        if len(weights) != len(self._sizes) or len(rows) != len(self._target):
            return None
        is_right = np.abs(rows - self._target).max(initial=0.0) <= FEASIBILITY and weights.min(initial=0.0) >= 0.0
        result: FloatArray = weights / self._sizes
        return result if is_right else None


class BoxedMaster(MasterLP):
    """The same problem, which may miss its target at a price, so that prices stay within a box around a centre.

    Each row gets a column of what is missing, which costs ``centre + width``, and one of what is too much, which costs
    ``width - centre``: by duality no price is further than ``width`` from its centre. Prices of a degenerate problem
    jump about; these do not.

    Attributes
    ----------
    missed : float
        How much of the target the last solution misses, in sum; where it is nothing, that solves the true problem.
    """

    def __init__(
        self,
        target: FloatArray,
        centre: FloatArray,
        width: float,
        spent: float = 1.0,
        *,
        in_shares: bool | None = None,
    ) -> None:
        super().__init__(target, spent, in_shares=in_shares)
        every = np.arange(len(target))
        self.add(centre + width, every, every, np.ones(len(target)))
        self.add(width - centre, every, every, -np.ones(len(target)))
        self.missed = np.inf

    def move(self, centre: FloatArray, width: float) -> None:
        """Put the box elsewhere."""
        both = 2 * len(centre)
        costs = np.concatenate([centre + width, width - centre]) / (self._sizes[:both] * self._spent)
        self._solver.changeColsCost(both, np.arange(both, dtype=np.int32), costs)

    def reprice(self, columns: IntArray, cost: FloatArray) -> None:
        """Other costs for columns that were added."""
        places = columns + 2 * len(self._target)
        self._solver.changeColsCost(len(places), places.astype(np.int32), cost / (self._sizes[places] * self._spent))

    def drop(self, columns: IntArray) -> None:
        """Do without columns that were added; those after them move up."""
        places = np.sort(columns) + 2 * len(self._target)
        self._solver.deleteCols(len(places), places.astype(np.int32))
        self._sizes = np.delete(self._sizes, places)

    def solve(self, seconds: float = np.inf) -> tuple[float, FloatArray, FloatArray] | None:
        """As of the true problem, the columns of what is missed left out."""
        solution = super().solve(seconds)
        if solution is None:
            return None
        value, prices, weights = solution
        both = 2 * len(prices)
        self.missed = float(weights[:both].sum())
        return value, prices, weights[both:]


class Solved(NamedTuple):
    """Values of the variables, and the price of each row: how the least cost grows with what the row asks for."""

    values: FloatArray
    prices: FloatArray


def maximise(
    gain: FloatArray,
    entries: tuple[IntArray, IntArray, FloatArray],
    row_lower: FloatArray,
    row_upper: FloatArray,
    time_limit: float | None = None,
) -> FloatArray | None:
    """max gain . x over row_lower <= A x <= row_upper, x >= 0, A as (row, column, value); None without solution."""
    found = minimise(-gain, entries, row_lower, row_upper, time_limit=time_limit)
    return None if found is None else found.values


def minimise(
    cost: FloatArray,
    entries: tuple[IntArray, IntArray, FloatArray],
    row_lower: FloatArray,
    row_upper: FloatArray,
    *,
    time_limit: float | None = None,
    interior: bool = False,
) -> Solved | None:
    """min cost . x over row_lower <= A x <= row_upper, x >= 0; None without solution, and where time runs out.

    ``interior`` starts by an interior point method, which is faster where many rows are equations.
    """
    solver = _solver()
    solver.setOptionValue("presolve", "choose")
    solver.setOptionValue("solver", "ipm" if interior else "simplex")
    if time_limit is not None:
        solver.setOptionValue("time_limit", max(0.0, time_limit))
    row, column, value = entries
    order = np.lexsort((row, column))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(row_lower)
    model.col_cost_ = cost
    model.col_lower_, model.col_upper_ = np.zeros(len(cost)), np.full(len(cost), np.inf)
    model.row_lower_, model.row_upper_ = row_lower, row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.searchsorted(column[order], np.arange(len(cost) + 1)).astype(np.int32)
    model.a_matrix_.index_ = row[order].astype(np.int32)
    model.a_matrix_.value_ = value[order]
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    return Solved(np.maximum(np.array(solution.col_value), 0.0), np.array(solution.row_dual))
