"""The best I(X; Y) under a notion by listing all vertices of its posteriors over symbols; nothing of discreet.

A vertex of {v >= 0, sum v = 1, R v <= 0} is where as many of its conditions are tight as there are entries. The best
mixture of vertices that averages to P_X is a linear programme, since the entropy is concave.
"""

import itertools

import numpy as np
from scipy.optimize import linprog

TIGHT = 1e-9


def rows(joint, notion):
    """Homogeneous rows R v <= 0, from the definitions of the notions."""
    beliefs, prior = joint / joint.sum(axis=0), joint.sum(axis=1)
    lift = beliefs / prior[:, None]
    name = notion["name"]
    if name == "ldp":
        pairs = itertools.permutations(range(len(prior)), 2)
        return np.array([lift[s] - np.exp(notion["epsilon"]) * lift[t] for s, t in pairs])
    if name == "l1":
        signs = itertools.product((-1, 1), repeat=len(prior))
        return np.array([np.array(sign) @ (beliefs - prior[:, None]) - np.expm1(notion["eps_upper"]) for sign in signs])
    low = notion.get("epsilon", notion.get("eps_lower"))
    high = notion.get("epsilon", notion.get("eps_upper"))
    upper = [] if high is None else [row - np.exp(high) for row in lift]
    lower = [] if low is None else [np.exp(-low) - row for row in lift]
    return np.array(upper + lower)


def vertices(matrix):
    """All vertices, one a row."""
    n = matrix.shape[1]
    conditions = np.vstack([matrix, -np.eye(n)])
    found = {}
    for tight in itertools.combinations(range(len(conditions)), n - 1):
        system = np.vstack([conditions[list(tight)], np.ones(n)])
        if abs(np.linalg.det(system)) < 1e-12:
            continue
        point = np.linalg.solve(system, np.append(np.zeros(n - 1), 1.0))
        if (conditions @ point <= TIGHT).all():
            found[tuple(np.round(point, 9))] = np.maximum(point, 0.0)
    return np.array(list(found.values()))


def best_information(joint, notion):
    """Nats."""
    return best_mixture(vertices(rows(joint, notion)), joint.sum(axis=0))


def best_mixture(points, p):
    """Nats that the best mixture of these posteriors keeps that averages to p."""
    costs = [entropy(point) for point in points]
    solved = linprog(costs, A_eq=points.T, b_eq=p, bounds=(0, None), method="highs-ds")
    assert solved.status == 0
    return entropy(p) - solved.fun


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())
