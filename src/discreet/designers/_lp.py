"""The only caller of the LP solver: a master problem over columns that keeps its basis as columns are added.

A solver is not believed: weights are solved for again where the mixture becomes a mechanism, and prices prove nothing
by themselves.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from discreet._numeric import FloatArray, IntArray

__all__ = ["MasterLP"]

#: Rows may be violated by this much; points are polished afterwards and pulled inside where needed.
FEASIBILITY = 1e-9


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
    r"""min cost . q subject to sum_k q_k v_k = target, q >= 0, with columns v_k that may be added at any time."""

    def __init__(self, target: FloatArray) -> None:
        self._solver = _solver()
        empty: Any = np.empty(0, dtype=np.int32)
        for value in target.tolist():
            self._solver.addRow(value, value, 0, empty, np.empty(0))

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
