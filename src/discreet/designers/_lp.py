"""The only callers of the LP solver: a master over columns and a pricing problem over one polytope, both warm.

A solver is not believed: what it returns is used only through quantities that are recomputed here, such as
weak-duality bounds from its multipliers and residuals of its points.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from discreet._numeric import FloatArray, IntArray
from discreet.designers._polytope import Polytope

__all__ = ["MasterLP", "PricingLP"]

#: Rows may be violated by this much; points are polished afterwards and pulled inside where needed.
FEASIBILITY = 1e-9


def _solver() -> Any:
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),  # the programmes are tiny, and an empty one must come with its proof
        ("primal_feasibility_tolerance", FEASIBILITY),
        ("dual_feasibility_tolerance", FEASIBILITY),
    ):
        solver.setOptionValue(option, value)
    return solver


class MasterLP:
    r"""min cost . q subject to sum_k q_k v_k = target, q >= 0, with columns v_k that may be added at any time."""

    def __init__(self, target: FloatArray) -> None:
        self._solver = _solver()
        empty: Any = np.empty(0, dtype=np.int32)
        for value in target.tolist():
            self._solver.addRow(value, value, 0, empty, np.empty(0))
        self.size = 0

    def add(self, cost: FloatArray, starts: IntArray, index: IntArray, value: FloatArray) -> None:
        """Columns as consecutive runs of (row, value) pairs that begin at ``starts``."""
        count = len(cost)
        self._solver.addCols(
            count,
            cost,
            np.zeros(count),
            np.full(count, np.inf),
            len(index),
            starts.astype(np.int32),
            index.astype(np.int32),
            value,
        )
        self.size += count

    def reprice(self, cost: FloatArray) -> None:
        """New costs of all columns; the basis stays."""
        self._solver.changeColsCost(self.size, np.arange(self.size, dtype=np.int32), cost)

    def solve(self) -> tuple[float, FloatArray, FloatArray] | None:
        """Value, prices of the rows, and weights of the columns; None where the solver gives up."""
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._solver.clearSolver()  # a cold start rescues rare numerical trouble of a warm one
            self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._solver.getSolution()
        weights = np.maximum(np.array(solution.col_value), 0.0)
        return self._solver.getInfo().objective_function_value, np.array(solution.row_dual), weights


class PricingLP:
    """min cost . v over {rows v <= 0 (or = 0), sum v = 1, lower <= v <= upper}, auxiliary variables free of cost."""

    def __init__(self, polytope: Polytope) -> None:
        self._solver = _solver()
        rows, equal, n_useful = polytope.rows, polytope.equal, polytope.n_useful
        self.n_useful = n_useful
        count, width = rows.shape
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = width, count + 1
        model.col_cost_ = np.zeros(width)
        model.col_lower_ = np.zeros(width)
        model.col_upper_ = np.concatenate([np.ones(n_useful), np.full(width - n_useful, np.inf)])
        model.row_lower_ = np.concatenate([np.where(equal, 0.0, -np.inf), [1.0]])
        model.row_upper_ = np.concatenate([np.zeros(count), [1.0]])
        total = np.concatenate([np.ones(n_useful), np.zeros(width - n_useful)])
        matrix = np.vstack([rows, total]).T
        inside = matrix != 0
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int32)
        model.a_matrix_.index_ = np.nonzero(inside)[1].astype(np.int32)
        model.a_matrix_.value_ = matrix[inside]
        self._solver.passModel(model)
        self._index = np.arange(n_useful, dtype=np.int32)
        self.solved = 0

    def box(self, lower: FloatArray, upper: FloatArray) -> None:
        """Bounds of the posterior's entries."""
        self._solver.changeColsBounds(self.n_useful, self._index, lower, upper)

    def minimise(self, cost: FloatArray) -> FloatArray | None:
        """A minimising posterior, None where the box is empty; `multipliers` then has the proof."""
        self._solver.changeColsCost(self.n_useful, self._index, cost)
        self._solver.run()
        self.solved += 1
        status = self._solver.getModelStatus()
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible):
            self._solver.clearSolver()
            self._solver.run()
            status = self._solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        point = np.array(self._solver.getSolution().col_value)[: self.n_useful]
        point[point < FEASIBILITY] = 0.0
        posterior: FloatArray = point / point.sum()
        return posterior

    def multipliers(self) -> FloatArray:
        """Multipliers of the rows at the last optimum, in the sign that `weak_bound` takes."""
        return -np.array(self._solver.getSolution().row_dual)[:-1]

    def ray(self) -> FloatArray | None:
        """Multipliers that prove an empty box empty, scaled to size one."""
        status, has_ray, *values = self._solver.getDualRay()
        if status != highspy.HighsStatus.kOk or not has_ray or not values:
            return None
        ray = -np.array(values[0], dtype=np.float64)[:-1]
        size = float(np.abs(ray).max(initial=0.0))
        return None if size == 0 else ray / size
