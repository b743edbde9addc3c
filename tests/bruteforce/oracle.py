"""The definitions of the papers as slow loops over exact fractions; imports nothing of discreet.

Joints are lists of lists of Fraction, rows are sensitive values, and sum to one. Exponentials and powers are
evaluated by mpmath with so many digits that no test case is borderline at them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath

DIGITS = 80


def normalised(masses):
    total = sum(sum(row) for row in masses)
    return [[Fraction(n) / total for n in row] for row in masses]


def through(joint, weights):
    """P(s, y) = sum_x P(s, x) P(y | x) with integer weights that sum to the same number in every row."""
    total = sum(weights[0])
    columns = range(len(weights[0]))
    return [
        [sum(row[x] * Fraction(weights[x][y], total) for x in range(len(weights))) for y in columns] for row in joint
    ]


def lift(joint, s, y):
    p_s = sum(joint[s])
    p_y = sum(row[y] for row in joint)
    return joint[s][y] / (p_s * p_y)


def lifts_of_symbol(joint, y):
    """(P(s), lift) of every sensitive value with mass."""
    return [(sum(row), lift(joint, s, y)) for s, row in enumerate(joint) if sum(row) > 0]


def symbols(joint):
    return [y for y in range(len(joint[0])) if sum(row[y] for row in joint) > 0]


def mp(value):
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)


def at_most(value, limit):
    return mp(value) <= limit


def symbol_allowed(pairs, name, p):
    """Definitions 1-3, 5 and 6 of ZDS23 with the bounds of its Section 6.2."""
    with mpmath.workdps(DIGITS):
        values = [value for _, value in pairs]
        if all(value == 1 for value in values):
            return True
        exp = lambda eps: mpmath.exp(mpmath.mpf(eps))  # noqa: E731
        low, high = p.get("eps_lower"), p.get("eps_upper")
        if name == "perfect":
            return False
        if name == "lip":
            low = high = p["epsilon"]
        if name == "ldp":
            return min(values) > 0 and at_most(max(values) / min(values), exp(p["epsilon"]))
        mean = lambda f: mpmath.fsum(mp(prior) * f(mp(value)) for prior, value in pairs)  # noqa: E731
        if name in ("lip", "alip", "max-lift"):
            return (high is None or at_most(max(values), exp(high))) and (
                low is None or (min(values) > 0 and at_most(1 / min(values), exp(low)))
            )
        forms = {
            "l1": (lambda v: abs(v - 1), lambda eps: exp(eps) - 1),
            "chi2": (lambda v: (v - 1) ** 2, lambda eps: (exp(eps) - 1) ** 2),
            "alpha-lift": (lambda v: v ** mpmath.mpf(p.get("alpha", 1)), lambda eps: exp(mpmath.mpf(p["alpha"]) * eps)),
        }
        form, limit = forms[name]
        upper_ok = high is None or (high > 0 and mean(form) <= limit(high))
        lower_ok = low is None or (low > 0 and min(values) > 0 and mean(lambda v: form(1 / v)) <= limit(low))
        return upper_ok and lower_ok


def holds(joint, notion):
    """Whether every symbol of P(s, y) keeps the notion, given as its plain description."""
    p = {key: value for key, value in notion.items() if key != "name"}
    return all(symbol_allowed(lifts_of_symbol(joint, y), notion["name"], p) for y in symbols(joint))


def risk(joint, block, notion):
    """Lambda + 1/Psi for ALIP, Gamma for LDP, the sum of the bounded measures in general."""
    pairs = lifts_of_symbol(_with_rest(joint, block), 0)
    values = [value for _, value in pairs]
    inverse = [1 / value if value else None for value in values]
    name, p = notion["name"], notion
    if name == "ldp":
        return float("inf") if min(values) == 0 else max(values) / min(values)
    low = p.get("eps_lower", p.get("epsilon", 0 if name == "perfect" else None))
    high = p.get("eps_upper", p.get("epsilon", 0 if name == "perfect" else None))
    total = Fraction(0)
    for side, numbers in ((high, values), (low, inverse)):
        if side is None or (name == "max-lift" and numbers is inverse):
            continue
        if None in numbers:
            return float("inf")
        total += _average(name, p, [prior for prior, _ in pairs], numbers)
    return total


def _average(name, p, priors, numbers):
    if name in ("lip", "alip", "max-lift", "perfect"):
        return max(numbers)
    if name == "l1":
        return sum(q * abs(v - 1) for q, v in zip(priors, numbers))
    if name == "chi2":
        return sum(q * (v - 1) ** 2 for q, v in zip(priors, numbers))
    with mpmath.workdps(DIGITS):
        alpha = mpmath.mpf(p["alpha"])
        return mpmath.fsum(mp(q) * mp(v) ** alpha for q, v in zip(priors, numbers)) ** (1 / alpha)


def _with_rest(joint, block):
    inside = set(block)
    rest = [x for x in range(len(joint[0])) if x not in inside]
    return [[sum((row[x] for x in block), Fraction(0)), sum((row[x] for x in rest), Fraction(0))] for row in joint]


def block_allowed(joint, block, notion):
    p = {key: value for key, value in notion.items() if key != "name"}
    return symbol_allowed(lifts_of_symbol(_with_rest(joint, block), 0), notion["name"], p)


def absorb(joint, block, low, notion):
    """Take in the low-risk symbol of least merge risk until the block is allowed."""
    block, low = list(block), list(low)
    while not block_allowed(joint, block, notion):
        best = min(low, key=lambda x: (risk(joint, [*block, x], notion), x))
        block.append(best)
        low.remove(best)
    return block, low


def watchdog(joint, notion):
    present = symbols(joint)
    low = [x for x in present if block_allowed(joint, [x], notion)]
    high = [x for x in present if x not in low]
    if not high:
        return [[x] for x in low]
    block, low = absorb(joint, high, low, notion)
    return [block, *[[x] for x in low]]


def subset_merging(joint, notion):
    """Algorithm 1 of ZDS23 in its corrected reading, line by line."""
    present = symbols(joint)
    low = [x for x in present if block_allowed(joint, [x], notion)]
    queue = [x for x in present if x not in low]
    blocks = []
    while queue:
        seed = max(queue, key=lambda x: (risk(joint, [x], notion), -x))
        queue.remove(seed)
        block = [seed]
        while not block_allowed(joint, block, notion) and queue:
            best = min(queue, key=lambda x: (risk(joint, [*block, x], notion), x))
            block.append(best)
            queue.remove(best)
        blocks.append(block)
    if blocks:
        last = blocks.pop()
        while not block_allowed(joint, last, notion) and blocks:
            best = min(range(len(blocks)), key=lambda i: (risk(joint, [*last, *blocks[i]], notion), blocks[i][0]))
            last = [*last, *blocks.pop(best)]
        if not block_allowed(joint, last, notion):
            last, low = absorb(joint, last, low, notion)
        blocks.append(last)
    return [*blocks, *[[x] for x in low]]


def mutual_information(joint):
    with mpmath.workdps(30):
        total = mpmath.mpf(0)
        for s, y in product(range(len(joint)), range(len(joint[0]))):
            if joint[s][y] > 0:
                total += mp(joint[s][y]) * mpmath.log(mp(lift(joint, s, y)))
        return total
