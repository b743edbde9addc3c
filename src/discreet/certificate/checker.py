"""The independent checker of certificates: the standard library, integers, and nothing of discreet.

It trusts no number that it can make itself. From the counts and weights of a private certificate it recomputes P(s, y)
in integers, decides the notion against rational bounds of exp(epsilon), and evaluates the proof of the bound: boxes
that cover all posteriors, and for each of them multipliers whose weak-duality value it computes as an interval (a float
and a bound of its error). It never searches. It also runs by itself: ``python checker.py certificate.json``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import hashlib
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

FULL = 2**60
UNIT = 2.0**-51  # relative error of a few float operations
ROOM = 1e-10  # added to upper corners of boxes: far above rounding, far below what matters
LEVEL = 0.5  # boxes: all entries below it, or one of them above
STEP = Fraction(2, 10**6)  # stated decimals are this close to what they state
DECIMALS = decimal.Context(prec=60)
KINDS = ("channel", "reads-sensitive", "bits", "attributes")
LIFTS = ("max_lift", "min_lift_inverse", "lift_ratio")
SIDES = {"eps_lower", "eps_upper"}
NOTIONS = {name: {"epsilon"} for name in ("lip", "srlip", "ldp")} | dict.fromkeys(("alip", "l1", "chi2"), SIDES)
NOTIONS |= {"perfect": set(), "max-lift": {"eps_upper"}, "alpha-lift": SIDES | {"alpha"}}
Data = dict[str, Any]
Found = tuple[bool | None, str]
Table = list[list[int]]


def digest(value: object) -> str:
    """SHA-256 of JSON with sorted names."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def check(certificate: Data) -> list[tuple[str, bool | None, str]]:
    """Findings (subject, passed or None where it was not checked, sentence)."""
    tests = {
        "certificate digest": lambda c: _same(digest({**c, "certificate_digest": None}), c["certificate_digest"]),
        "mechanism digest": lambda c: _same(digest(c["mechanism"]), c["digests"]["mechanism"]),
        "weights": _weights,
    }
    tests |= {"rows": _rows, "leakage": _leakage, "nmi": _nmi, "bound": _bound} if "counts" in certificate else {}
    findings: list[tuple[str, bool | None, str]] = []
    for subject, test in tests.items():
        try:
            findings.append((subject, *test(certificate)))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            findings.append((subject, False, f"damaged or impossible ({type(error).__name__})"))
    if "counts" not in certificate:
        findings.append(("leakage", None, "not re-checked: the certificate has no counts, so the table is needed"))
    return findings


def _same(found: str, stated: str) -> Found:
    return found == stated, "agrees" if found == stated else "is not the digest of what it stands beside"


def _weights(certificate: Data) -> Found:
    mechanism = certificate["mechanism"]
    kind, parts = mechanism["kind"], mechanism.get("parts", [mechanism])
    right = kind in KINDS and mechanism["reads_sensitive"] is certificate["reads_sensitive"] is (kind == KINDS[1])
    right &= all((name in mechanism) is (kind == owner) for name, owner in (("parts", "attributes"), ("bits", "bits")))
    for part in parts:
        right &= (part is mechanism or part["kind"] == KINDS[0]) and part["denominator"] == FULL
        if kind == "bits":
            other, true = part["bits"]["other"], part["bits"]["true"]
            right &= type(other) is type(true) is int and 0 <= other <= true <= FULL and _distinct(part["useful"])
            continue
        sensitive = part["sensitive"] if kind == KINDS[1] else [None]
        right &= all(_distinct(labels) for labels in (part["released"], part["useful"], sensitive))
        right &= len(part["rows"]) == len(part["useful"]) * len(sensitive)
        for row in part["rows"]:
            right &= sum(w for _, w in row) == FULL and len(dict(row)) == len(row)
            right &= all(type(w) is int and w > 0 and 0 <= y < len(part["released"]) for y, w in row)
    right &= len(parts) > 0
    return right, "every row of weights sums to 2**60" if right else "there is not one row of 2**60 for each value"


def _distinct(labels: list[Any]) -> bool:
    return len({_key(label) for label in labels}) == len(labels)


def _rows(certificate: Data) -> Found:
    total, stated = sum(map(sum, _table(certificate))), certificate["rows"]
    if stated is None:
        return None, "no rows are stated: the certificate is about a distribution"
    same = total == stated["input"] == stated["output"]
    return same, f"{total} counted, {stated['input']} read, {stated['output']} released"


def _table(certificate: Data) -> Table:
    """Counts by [s][x]."""
    counts = certificate["counts"]
    if not (_distinct(counts["sensitive"]) and _distinct(counts["useful"])):
        raise ValueError("a label occurs twice")
    table = [[0] * len(counts["useful"]) for _ in counts["sensitive"]]
    for s, x, n in counts["cells"]:
        if min(s, x, n) < 0 or type(n) is not int:
            raise ValueError("not a count")
        table[s][x] += n
    return table


def _key(label: object) -> str:
    return json.dumps(label, sort_keys=True)


def _places(labels: list[Any]) -> dict[str, int]:
    return {_key(label): k for k, label in enumerate(labels)}


def _channel(certificate: Data) -> Callable[[int, int], dict[Any, int]]:
    """A function (s, x) -> {y: weight} over the counted labels."""
    mechanism, counts = certificate["mechanism"], certificate["counts"]
    if mechanism["kind"] == "attributes":
        parts = [(part["rows"], _places(part["useful"])) for part in mechanism["parts"]]

        def product(s: int, x: int) -> dict[Any, int]:
            chosen = itertools.product(*(rows[at[_key(v)]] for (rows, at), v in zip(parts, counts["useful"][x])))
            return {tuple(y for y, _ in pairs): math.prod(w for _, w in pairs) for pairs in chosen}

        return product
    useful, sensitive = _places(mechanism["useful"]), _places(mechanism.get("sensitive", []))
    column = [useful[_key(label)] for label in counts["useful"]]
    start = [sensitive[_key(s)] * len(useful) if mechanism["reads_sensitive"] else 0 for s in counts["sensitive"]]
    return lambda s, x: dict(mechanism["rows"][start[s] + column[x]])


def _released(certificate: Data, table: Table, symbols: list[int]) -> Table:
    """Columns of masses proportional to P(s, y); of bits, those sets of ones at which lifts are extreme."""
    if certificate["mechanism"]["kind"] != "bits":
        channel, columns = _channel(certificate), dict[Any, list[int]]()
        for s, x in itertools.product(range(len(table)), symbols):
            for y, weight in channel(s, x).items() if table[s][x] else ():
                columns.setdefault(y, [0] * len(table))[s] += table[s][x] * weight
        return list(columns.values())
    bits = certificate["mechanism"]["bits"]
    one, rest = bits["true"] * (FULL - bits["other"]), bits["other"] * (FULL - bits["true"])
    lines, found = [[row[x] for x in symbols] for row in table], []
    for first, second in itertools.permutations([*lines, [sum(column) for column in zip(*lines)]], 2):
        ratios = [(not b and a > 0, Fraction(a, b or 1)) for a, b in zip(first, second)]
        order = sorted(range(len(symbols)), key=ratios.__getitem__, reverse=True)
        for cut in range(len(order) + 1):
            inside = [sum(line[x] for x in order[:cut]) for line in lines]
            found.append([one * n + rest * (sum(line) - n) for n, line in zip(inside, lines)])
    return [column for column in found if any(column)]


def _bounds(notion: Data) -> list[tuple[str, Fraction, Fraction]]:
    """(measure, budget, order) of a notion."""
    name, both = notion["name"], notion.get("epsilon")
    numbers = all(value is None or 0 <= value < math.inf for key, value in notion.items() if key != "name")
    if set(notion) - {"name"} != NOTIONS[name] or not numbers or not notion.get("alpha", 2) > 1:
        raise ValueError("not a notion")
    family = {"l1": "l1_lift", "chi2": "chi2_lift", "alpha-lift": "alpha_lift"}.get(name, "max_lift")
    lower = "min_lift_inverse" if family == "max_lift" else family + "_inverse"
    sides: Data = {family: notion.get("eps_upper", both), lower: notion.get("eps_lower", both)}
    sides = {family: 0.0} if name == "perfect" else {"lift_ratio": both} if name == "ldp" else sides
    found = [(kind, Fraction(e), Fraction(notion.get("alpha") or 1)) for kind, e in sides.items() if e is not None]
    return found or [("max_lift", Fraction(0), Fraction(1))]  # a notion without a budget allows nothing


def _exp(epsilon: Fraction, side: int) -> Fraction:
    """A rational bound of exp(epsilon) below (side -1) or above (side 1) it, 50 digits close."""
    return Fraction(DECIMALS.exp(_decimal(epsilon))) * (1 + side * Fraction(1, 10**50))


def _decimal(value: Fraction) -> decimal.Decimal:
    return DECIMALS.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _keeps(column: list[int], prior: list[int], bounds: list[tuple[str, Fraction, Fraction]]) -> bool:
    """Whether a released symbol keeps all bounds, in rational numbers; real powers are rounded to the safe side."""
    mass, total = sum(column), sum(prior)
    cells = [(Fraction(n * total, r * mass), Fraction(r, total)) for n, r in zip(column, prior) if r]
    smallest = min(cells)[0]
    if smallest == max(cells)[0] == 1:
        return True
    for kind, epsilon, order in bounds:
        inverse, limit = kind.endswith("_inverse"), _exp(epsilon, -1)
        if epsilon == 0 or ((inverse or kind == "lift_ratio") and smallest == 0):
            return False
        values = [(1 / lift if inverse else lift, p) for lift, p in cells]
        if kind in LIFTS:
            kept = max(values)[0] / (smallest if kind == "lift_ratio" else 1) <= limit
        elif kind.startswith("l1"):
            kept = sum(p * abs(v - 1) for v, p in values) <= limit - 1
        elif kind.startswith("chi2"):
            kept = sum(p * (v - 1) ** 2 for v, p in values) <= (limit - 1) ** 2
        else:
            powers = sum(p * Fraction(DECIMALS.power(_decimal(v), _decimal(order))) for v, p in values)
            kept = powers * (1 + Fraction(1, 10**40)) <= _exp(order * epsilon, -1)
        if not kept:
            return False
    return True


def slices(certificate: Data, table: Table) -> Iterator[list[int]]:
    """Useful values that agree with what someone knows: all, and under SRLIP every set of attributes."""
    labels = certificate["counts"]["useful"]
    occurring = [x for x in range(len(labels)) if any(row[x] for row in table)]
    parts = [label if isinstance(label, list) else [label] for label in labels]
    size = len(parts[occurring[0]]) if certificate["notion"]["name"] == "srlip" else 0
    for known in itertools.chain.from_iterable(itertools.combinations(range(size), k) for k in range(size + 1)):
        groups: dict[str, list[int]] = {}
        for x in occurring:
            groups.setdefault(_key([parts[x][j] for j in known]), []).append(x)
        yield from groups.values()


def _leakage(certificate: Data) -> Found:
    table, bounds, lifts = _table(certificate), _bounds(certificate["notion"]), list[Fraction]()
    if certificate["mechanism"]["kind"] == "bits" and any(kind not in LIFTS for kind, _, _ in bounds):
        raise ValueError("sets of bits are judged by lifts alone")
    for symbols in slices(certificate, table):
        prior = [sum(row[x] for x in symbols) for row in table]
        columns = _released(certificate, table, symbols)
        if not all(_keeps(column, prior, bounds) for column in columns):
            return False, "the notion is broken: a released symbol exceeds its budget"
        lifts = lifts or [Fraction(n * sum(prior), r * sum(c)) for c in columns for n, r in zip(c, prior) if r]
    top, low = certificate["achieved"]["log_max_lift"], certificate["achieved"]["log_min_lift"]
    right = _exp(_number(top) - STEP, -1) <= max(lifts) <= _exp(_number(top), 1)
    ends = [Fraction(0)] * 2 if low == "-inf" else [_exp(_number(low), -1), _exp(_number(low) + STEP, 1)]
    right &= ends[0] <= min(lifts) <= ends[1]
    return right, f"the notion holds; log-lifts between {low} and {top} nats" if right else "the lifts are others"


def _entropy(masses: list[int]) -> Fraction:
    shares = map(Fraction, filter(None, masses), itertools.repeat(sum(masses)))
    return -sum((p * Fraction(DECIMALS.ln(_decimal(p))) for p in shares), Fraction(0))


def _nmi(certificate: Data) -> Found:
    if certificate["mechanism"]["kind"] == "bits":
        return None, "not re-checked: released symbols of bits are not listed"
    table, channel = _table(certificate), _channel(certificate)
    cells, rows, columns = dict[Any, int](), dict[Any, int](), dict[Any, int]()
    for s, x in itertools.product(range(len(table)), range(len(table[0]))):
        for y, weight in channel(s, x).items() if table[s][x] else ():
            for sums, key in ((cells, (x, y)), (rows, x), (columns, y)):
                sums[key] = sums.get(key, 0) + table[s][x] * weight
    whole, together = _entropy(list(rows.values())), _entropy(list(cells.values()))
    share = (whole + _entropy(list(columns.values())) - together) / whole if whole else Fraction(0)
    close = abs(share - _number(certificate["nmi"])) <= STEP
    return close, f"NMI {certificate['nmi']}" if close else f"the stated NMI is not the one found, {float(share):.6f}"


def _bound(certificate: Data) -> Found:
    stated, evidence = certificate["bound"], certificate["bound_evidence"]
    if stated is None:
        return evidence is None, "no bound is stated"
    if _number(stated) < _number(certificate["nmi"]):
        return False, "the stated bound lies below the NMI that is reached"
    if evidence != "proof":
        return _number(stated) >= 1 or None, f"{evidence}: {stated}"
    right = not certificate["mechanism"]["reads_sensitive"] and proven_bound(certificate) <= _number(stated)
    text = f"proven: no mechanism under the notion keeps more than {stated} of X"
    return right, text if right else "the proof does not prove the stated bound"


def _number(text: str) -> Fraction:
    return Fraction(re.fullmatch(r"-?\d{1,4}\.\d{1,12}", text)[0])  # type: ignore[index]


def proven_bound(certificate: Data) -> Fraction:
    """The upper limit of NMI that the proof of a private certificate proves."""
    table, proof = _table(certificate), certificate["proof"]
    symbols = next(slices(certificate, table))
    masses = [sum(row[x] for row in table) for x in symbols]
    rows = _own_rows(certificate, table, symbols)
    unit, every = ([0.0] * len(symbols), [1.0] * len(symbols)), range(len(symbols))
    largest, smallest = [], []
    for k, (high, low) in enumerate(zip(proof["largest"], proof["smallest"], strict=True)):
        cost = [1.0 if x == k else 0.0 for x in every]
        largest.append(min(1.0, ROOM - _least(*unit, rows, high, [-c for c in cost])))
        smallest.append(max(0.0, _least(*unit, rows, low, cost) - ROOM))
    share = [n / sum(masses) for n in masses]
    if proof["prices"] is None:  # every entry x of a posterior costs at least -log of its largest value
        limit = max(0.0, -math.fsum(p * math.log(high) for p, high in zip(share, largest)) - ROOM)
    else:
        boxes = _cover(smallest, largest, proof["splits"])
        pairs = list(zip(boxes, proof["multipliers"], strict=True))
        worst = min(_value(*box, rows, multipliers, proof["prices"]) for box, multipliers in pairs)
        limit = math.fsum(q * p for q, p in zip(proof["prices"], share, strict=True)) + worst - ROOM
    return 1 - Fraction(limit) / _entropy(masses) if len(masses) > 1 else Fraction(0)


def _own_rows(certificate: Data, table: Table, symbols: list[int]) -> list[tuple[list[float], bool]]:
    """Rows R v <= 0 (or = 0) that the notion puts on posteriors, made from the counts by what the proof calls them."""
    bounds = {kind: epsilon for kind, epsilon, _ in _bounds(certificate["notion"])}
    place, rows = {x: k for k, x in enumerate(symbols)}, list[tuple[list[float], bool]]()
    parts = [[place[x] for x in some] for some in slices(certificate, table)]
    for kind, first, second, number in certificate["proof"]["rows"]:
        inside, row = parts[number], [0.0] * len(symbols)
        prior = [sum(line[symbols[k]] for k in inside) for line in table]
        if kind not in ("upper", "lower", "ratio") and not (kind == "equal" and 0 in bounds.values()):
            raise ValueError("not a row of the notion")
        for k in inside:
            column = [line[symbols[k]] for line in table]
            lift = [Fraction(n * sum(prior), r * sum(column)) if r else Fraction(1) for n, r in zip(column, prior)]
            if kind == "upper":
                value = lift[first] - _exp(bounds["max_lift"], 1)
            elif kind == "lower":
                value = _exp(-bounds["min_lift_inverse"], -1) - lift[first]
            else:
                value = lift[first] - (_exp(bounds["lift_ratio"], 1) * lift[second] if kind == "ratio" else 1)
            row[k] = float(value)
        rows.append((row, kind == "equal"))
    return rows


def _cover(smallest: list[float], largest: list[float], splits: list[Any]) -> list[tuple[list[float], list[float]]]:
    """Boxes that hold every posterior: all entries at most 1/2, or one at least that; then the recorded splits."""

    def tightened(lower: list[float], upper: list[float]) -> tuple[list[float], list[float]]:
        spare = 1.0 - math.fsum(lower) + ROOM
        return lower, [max(low, min(high, spare + low)) for low, high in zip(lower, upper)]

    boxes = [tightened(smallest[:], [max(low, min(high, LEVEL)) for low, high in zip(smallest, largest)])]
    for k in [k for k, high in enumerate(largest) if high >= LEVEL]:
        lower = [max(LEVEL, low) if x == k else low for x, low in enumerate(smallest)]
        boxes.append(tightened(lower, largest[:]))
    for number, symbol, point in splits:
        lower, upper = boxes[number]
        boxes.append(tightened([*lower[:symbol], point, *lower[symbol + 1 :]], upper[:]))
        boxes[number] = (lower, [*upper[:symbol], min(point, upper[symbol]), *upper[symbol + 1 :]])
    return boxes


def _value(lower: list[float], upper: list[float], rows: Any, multipliers: Any, prices: list[float]) -> float:
    """A lower limit of H(v) - prices . v over a box: chords of -t log t, then weak duality."""
    cost, constant, size = [], 0.0, 0.0
    for low, high, price in zip(lower, upper, prices, strict=True):
        at_low, at_high = (-t * math.log(t) if t > 0 else 0.0 for t in (low, high))
        slope = (at_high - at_low) / (high - low) if high > low else 0.0
        constant += min(at_low - slope * low, at_high - slope * high)
        size += abs(at_low) + abs(at_high) + 2 * abs(slope) * high
        cost.append(slope - price)
    return _least(lower, upper, rows, multipliers, cost) + constant - (len(cost) + 8) * UNIT * size


def _least(lower: list[float], upper: list[float], rows: Any, multipliers: Any, cost: list[float]) -> float:
    """A lower limit of cost . v over the allowed posteriors of a box, whatever the multipliers (weak duality)."""
    total, error = cost[:], [2 * abs(c) for c in cost]
    for number, given in multipliers:
        row, is_equal = rows[number]
        y = given if is_equal else max(given, 0.0)
        total = [c + y * entry for c, entry in zip(total, row)]
        error = [e + abs(y * entry) for e, entry in zip(error, row)]
    total = [c - (len(multipliers) + 4) * UNIT * e for c, e in zip(total, error)]
    if not all(map(math.isfinite, [*total, *lower, *upper])):
        raise ValueError("numbers of the proof overflow")  # and would hide behind comparisons that are never true
    spare, price = 1.0 - math.fsum(lower), 0.0
    if spare < -ROOM or math.fsum(upper) < 1.0 - ROOM:
        return math.inf  # no posterior lies in this box
    for x in sorted(range(len(total)), key=total.__getitem__):  # fill the cheapest entries first
        price, spare = total[x], spare - (upper[x] - lower[x])
        if spare <= 0:
            break
    terms = [(c - price) * (low if c > price else high) for c, low, high in zip(total, lower, upper)]
    size = math.fsum(map(abs, terms)) + abs(price) * (1 + math.fsum(upper))
    return price + math.fsum(terms) - 8 * UNIT * size


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) == 2 else sys.exit("usage: python checker.py certificate.json")
    with open(path, encoding="utf-8") as stream:
        results = check(json.load(stream))
    for subject, passed, text in results:
        # What hides in a text is spelt out: no certificate can steer a terminal.
        print(f"{'ok' if passed else 'not checked' if passed is None else 'FAILED'}: {subject}: {repr(text)[1:-1]}")
    passed_all = all(passed is not False for _, passed, _ in results)
    sys.exit(not (passed_all and ("leakage", True) in [result[:2] for result in results]))
