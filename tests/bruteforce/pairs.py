"""The best mechanism that reads S, by listing posteriors over pairs (s, x); imports nothing of discreet.

At a vertex every s puts its whole belief on one x, so a vertex is an extreme belief and a function from s to x.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def extreme_beliefs(prior, name, p):
    """Extreme points of the beliefs that a notion allows: all values but one at a bound, or two levels of lifts."""
    found = []
    if name == "ldp":
        for raised in itertools.product((1.0, math.exp(p["epsilon"])), repeat=len(prior)):
            belief = prior * np.array(raised)
            found.append(belief / belief.sum())
        return np.unique(np.round(found, 13), axis=0)
    high = p.get("eps_upper", p.get("epsilon"))
    low = p.get("eps_lower", p.get("epsilon"))
    most = np.minimum(1.0, prior * (math.inf if high is None else math.exp(high)))
    least = prior * (0.0 if low is None else math.exp(-low))
    for free in range(len(prior)):
        for sides in itertools.product((0, 1), repeat=len(prior)):
            belief = np.where(sides, most, least)
            belief[free] = 1 - np.delete(belief, free).sum()
            if least[free] - 1e-12 <= belief[free] <= most[free] + 1e-12:
                found.append(belief)
    return np.unique(np.round(found, 13), axis=0)


def least_cost(joint, name, p, term):
    """Least average of sum_x term(P(x | y)) over all mechanisms P(y | s, x) that keep the notion."""
    n_sensitive, n_useful = joint.shape
    where = [np.flatnonzero(row > 0) for row in joint]
    columns, costs = [], []
    for belief in extreme_beliefs(joint.sum(axis=1), name, p):
        for choice in itertools.product(*where):
            point = np.zeros((n_sensitive, n_useful))
            point[np.arange(n_sensitive), list(choice)] = belief
            columns.append(point.ravel())
            costs.append(sum(term(v) for v in point.sum(axis=0)))
    solved = linprog(costs, A_eq=np.array(columns).T, b_eq=joint.ravel(), method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)
