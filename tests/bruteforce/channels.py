"""The best channel in a column's own values, straight from the definitions; imports nothing of discreet.

Rows are written on P(y | x) for every pair of sensitive values, and the l1 lift by all signs instead of auxiliary
variables.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def column_rows(joint, name, p):
    """Rows r with r . P(y | .) <= 0 of one released symbol, from the definition of each notion."""
    p_s, p_x = joint.sum(axis=1), joint.sum(axis=0)
    rows = []
    if name == "ldp":
        given = joint / p_s[:, None]
        for s, other in itertools.permutations(range(len(joint)), 2):
            rows.append(given[s] - math.exp(p["epsilon"]) * given[other])
        return np.array(rows)
    if name == "l1":  # sum_s |P(s | y) - P(s)| <= e^eps - 1
        for signs in itertools.product((-1, 1), repeat=len(joint)):
            rows.append(np.array(signs) @ (joint - np.outer(p_s, p_x)) - (math.exp(p["eps_upper"]) - 1) * p_x)
        return np.array(rows)
    low, high = p.get("eps_lower", p.get("epsilon")), p.get("eps_upper", p.get("epsilon"))
    for s in range(len(joint)):
        if high is not None:
            rows.append(joint[s] - math.exp(high) * p_s[s] * p_x)
        if low is not None:
            rows.append(math.exp(-low) * p_s[s] * p_x - joint[s])
    return np.array(rows)


def least_loss(joint, losses, rows, invariant=False, copies=1, kept=None):
    """Least mean loss over channels with so many released symbols for every guess; ``kept`` are shares if not P(x)."""
    p_x = joint.sum(axis=0)
    kept = p_x if kept is None else kept
    n, guesses = losses.shape
    released = [g for g in range(guesses) for _ in range(copies)]
    width = len(released)
    upper = np.zeros((width * len(rows), n * width))
    for y in range(width):
        for k, row in enumerate(rows):
            upper[y * len(rows) + k, y::width] = row  # variables x by x
    equal, right = [], []
    for x in range(n):
        line = np.zeros(n * width)
        line[x * width : (x + 1) * width] = 1
        equal.append(line)
        right.append(1.0)
    if invariant:
        for g in range(guesses):
            line = np.zeros((n, width))
            line[:, [y for y, guess in enumerate(released) if guess == g]] = kept[:, None]
            equal.append(line.ravel())
            right.append(kept[g])
    cost = (p_x[:, None] * losses[:, released]).ravel()
    solved = linprog(cost, A_ub=upper, b_ub=np.zeros(len(upper)), A_eq=np.array(equal), b_eq=right, method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)
