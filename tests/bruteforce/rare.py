"""The best I(X; Y) under LIP by listing all vertices in fractions, for joints with values of any rarity."""

import decimal
import itertools
from fractions import Fraction

from tests.bruteforce.private import best_mixture, unique_solution


def factor(epsilon):
    """exp(epsilon), fifty digits close."""
    return Fraction(decimal.Context(prec=50).exp(decimal.Decimal(epsilon)))


def rows(joint, own, epsilon):
    """R with R v <= 0 for the allowed posteriors v over ``own``'s P(x), from the definition of LIP."""
    total = sum(map(sum, joint))
    mass = [Fraction(sum(column), total) for column in zip(*joint)]
    high = factor(epsilon)
    low = 1 / high
    found = []
    for row in joint:
        lift = [Fraction(n, sum(row)) / m for n, m in zip(row, mass)]
        ratio = [m / p for m, p in zip(mass, own)]
        found.append([(value - high) * r for value, r in zip(lift, ratio)])
        found.append([(low - value) * r for value, r in zip(lift, ratio)])
    return found


def vertices(conditions, n):
    """All of them, support by support."""
    found = []
    for size in range(1, n + 1):
        for support in itertools.combinations(range(n), size):
            for touched in itertools.combinations(conditions, size - 1):
                solution = unique_solution([[row[x] for x in support] for row in touched], size)
                if solution is None or min(solution) <= 0:
                    continue
                point = [Fraction(0)] * n
                for x, share in zip(support, solution):
                    point[x] = share
                if all(sum(a * b for a, b in zip(row, point)) <= 0 for row in conditions):
                    found.append(point)
    return found


def best_share_under_lip(joint, epsilon, also=()):
    """I(X; Y) / H(X) of the best release under LIP for all of the joints."""
    total = sum(map(sum, joint))
    own = [Fraction(sum(column), total) for column in zip(*joint)]
    conditions = [row for other in (joint, *also) for row in rows(other, own, epsilon)]
    return best_mixture(vertices(conditions, len(own)), own)
