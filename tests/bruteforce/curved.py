"""The best I(X; Y) over three useful values under a bound on a mean of the lift, by walking around its border.

Posteriors over three values are points of a triangle. Every allowed one is seen from P_X, so the border is found by
bisection along rays, and the best mixture of border points is a linear programme, since the entropy is concave. Written
from the definitions in Section 6 of ZDS23; imports nothing of discreet.
"""

import numpy as np

from tests.bruteforce.vertices import best_mixture

DIRECTIONS = 1500
HALVINGS = 45


def excess(lifts, prior, notion):
    """By how much each column of lifts exceeds the worst of its bounds; at most 0 where it is allowed."""
    worst = np.full(lifts.shape[1], -np.inf)
    with np.errstate(divide="ignore"):
        for side, values in (("eps_upper", lifts), ("eps_lower", 1 / lifts)):
            budget = notion.get(side)
            if budget is None:
                continue
            if notion["name"] == "l1":
                over = prior @ np.abs(values - 1) - np.expm1(budget)
            elif notion["name"] == "chi2":
                over = prior @ (values - 1) ** 2 - np.expm1(budget) ** 2
            else:
                alpha = notion["alpha"]
                over = prior @ (values / np.exp(budget)) ** alpha - 1
            worst = np.maximum(worst, over)
    return worst


def border(joint, notion):
    """Points of the border, one a row: the last allowed ones on rays from P_X, and where it meets the triangle's sides.

    The entropy is steep where an entry is nearly zero, so rays alone would miss what the sides have.
    """
    p, prior = joint.sum(axis=0), joint.sum(axis=1)

    def allowed(points):
        return excess(joint / p @ points.T / prior[:, None], prior, notion) <= 0

    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    # Along these a lift stays 1, and the l1 lift has a corner, which mixtures like to use.
    bends = np.cross(joint / p / prior[:, None], np.ones(3))
    bends /= np.maximum(np.linalg.norm(bends, axis=1, keepdims=True), 1e-300)
    rays = np.vstack([np.column_stack([np.cos(angles), np.sin(angles)]) @ plane, bends, -bends])
    far = np.where(rays < 0, -p / np.minimum(rays, -1e-12), np.inf).min(axis=1)
    ends = np.maximum(p + far[:, None] * rays, 0.0)
    found = [np.where(allowed(ends)[:, None], ends, between(np.broadcast_to(p, ends.shape), ends, allowed))]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        side = np.linspace(np.eye(3)[a], np.eye(3)[b], DIRECTIONS)
        inside = allowed(side)
        found.append(side[inside])
        for k in np.flatnonzero(inside[1:] != inside[:-1]):
            good, bad = (side[[k]], side[[k + 1]]) if inside[k] else (side[[k + 1]], side[[k]])
            found.append(between(good, bad, allowed))
    return np.vstack(found)


def between(good, bad, allowed):
    """The last allowed points on the way from good ones to bad ones."""
    low, high = np.zeros(len(good)), np.ones(len(good))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = allowed(good + middle[:, None] * (bad - good))
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return good + low[:, None] * (bad - good)


def best_information(joint, notion):
    """Nats; below the optimum by what lies between neighbouring rays."""
    points = border(joint, notion)
    return best_mixture(points / points.sum(axis=1, keepdims=True), joint.sum(axis=0))
