"""The best I(X; Y) of releases that tell nothing about S, in fractions; nothing of discreet.

A release tells nothing where P(s | y) = P(s) for all s and y. Its posteriors v = P(x | y) solve
sum_x (P(s | x) - P(s)) v(x) = 0, so that a vertex of those is a set of values on which the solution is unique and
positive. The entropy is concave: the best release mixes vertices that average to P_X, a linear programme, whose optimum
is enclosed here between a mixture and prices that no vertex beats.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

ENCLOSED = 1e-7  # of H(X): what the solver may leave between its mixture and its prices


def unique_solution(rows, width):
    """The solution of rows . v = 0, sum v = 1, where there is exactly one; Gauss and Jordan."""
    left = [[Fraction(a) for a in row] + [Fraction(0)] for row in rows] + [[Fraction(1)] * (width + 1)]
    rank = 0
    for column in range(width):
        pivot = next((k for k in range(rank, len(left)) if left[k][column]), None)
        if pivot is None:
            return None
        left[rank], left[pivot] = left[pivot], left[rank]
        left[rank] = [a / left[rank][column] for a in left[rank]]
        for k, row in enumerate(left):
            if k != rank and row[column]:
                left[k] = [a - row[column] * b for a, b in zip(row, left[rank])]
        rank += 1
    return None if any(row[-1] for row in left[rank:]) else [row[-1] for row in left[:rank]]


def vertices(joint):
    """All of them, as lists of fractions over the values of X."""
    total = sum(map(sum, joint))
    prior = [Fraction(sum(row), total) for row in joint]
    mass = [sum(column) for column in zip(*joint)]
    rows = [[Fraction(n, m) - p for n, m in zip(row, mass)] for row, p in zip(joint, prior)]
    found = []
    for size in range(1, min(len(mass), len(rows)) + 1):
        for support in itertools.combinations(range(len(mass)), size):
            solution = unique_solution([[row[x] for x in support] for row in rows], size)
            if solution is not None and min(solution) > 0:
                point = [Fraction(0)] * len(mass)
                for x, share in zip(support, solution):
                    point[x] = share
                found.append(point)
    return found


def entropy(shares):
    return -math.fsum(float(p) * math.log(p) for p in shares if p)


def best_share(joint):
    """I(X; Y) / H(X) of the best release."""
    total = sum(map(sum, joint))
    return best_mixture(vertices(joint), [Fraction(sum(column), total) for column in zip(*joint)])


def best_mixture(points, p):
    """The share of H(X) that the best mixture of these posteriors keeps that averages to p, all in fractions."""
    whole = entropy(p)
    costs = np.array([entropy(point) for point in points]) / whole
    # As channels: every value is released as something with probability one, however rare it is.
    columns = np.array([[float(share / q) for share, q in zip(point, p)] for point in points])
    scale = columns.max(axis=1)
    solved = linprog(costs / scale, A_eq=(columns / scale[:, None]).T, b_eq=np.ones(len(p)), method="highs-ds")
    assert solved.status == 0
    prices = solved.eqlin.marginals
    missed = ((costs - columns @ prices) / scale).min()
    assert abs(solved.fun - prices.sum()) <= ENCLOSED
    assert missed * len(p) >= -ENCLOSED
    return 1 - solved.fun
