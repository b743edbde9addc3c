"""The independent checker of certificates: the standard library, integers, and nothing of discreet.

It trusts no number that it can make itself, and reads nothing that it does not know. First the form: every field has
its shape, none is missing, doubled or new. Then, from the counts and weights of a private certificate, it recomputes
P(s, y) in integers, decides the notion against rational bounds of exp(epsilon), and evaluates the proof of the bound:
boxes that cover all posteriors, and for each of them multipliers whose weak-duality value it computes as an interval (a
float and a bound of its error). It never searches, and refuses what would take longer than the length of a certificate
explains. It also runs by itself: ``python checker.py certificate.json``.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import decimal
import functools
import hashlib
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

FORMAT, FULL = "discreet-certificate/2", 2**60
UNIT = 2.0**-51  # relative error of a few float operations
ROOM = 1e-10  # added to upper corners of boxes: far above rounding, far below what matters
LARGEST = 20_000  # nats: beyond it no count of as many digits as Python reads makes a difference
LEVEL = 0.5  # boxes: all entries below it, or one of them above
STEP = Fraction(2, 10**6)  # stated decimals are this close to what they state
STEPS, STEPS_PER_CHARACTER = 10_000_000, 1_000  # work that is done for any certificate, and for one of its length
DECIMALS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
KINDS = ("channel", "reads-sensitive", "bits", "attributes")
LIFTS = ("max_lift", "min_lift_inverse", "lift_ratio")
SIDES = {"eps_lower", "eps_upper"}
NOTIONS = {name: {"epsilon"} for name in ("lip", "srlip", "ldp")} | dict.fromkeys(("alip", "l1", "chi2"), SIDES)
NOTIONS |= {"perfect": set(), "max-lift": {"eps_upper"}, "alpha-lift": SIDES | {"alpha"}}
CONFIDENT = ("lip", "alip", "max-lift")  # may be promised for a population, of which the counts are a sample
PI = decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
STIRLING = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400))
TERMS = 1_000_000  # of the tail of a binomial distribution, at most; the others are bounded
UNCOUNTED = ("the certificate has no counts, so the table is needed", "counts are in the private certificate")
Data = dict[str, Any]
Found = tuple[bool | None, str]
Table = list[list[int]]
Shape = Any


def read(text: str) -> Any:
    """JSON in which no name occurs twice and every number is one."""

    def once(pairs: list[tuple[str, Any]]) -> Data:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    def refused(word: str) -> Any:
        raise ValueError(f"{word} is no number")

    return json.loads(text, object_pairs_hook=once, parse_constant=refused)


def digest(value: object) -> str:
    """SHA-256 of JSON with sorted names."""
    return hashlib.sha256(_canonical(value).encode()).hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


# The form. A shape is a type, a test, a value, [one for each item] or [one, for, each], (either, or), or
# {"name": shape} with no other names; "name?" may be missing, and ... stands for any further names.


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _real(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < math.inf


def _label(value: Any, is_part: bool = False) -> bool:
    if type(value) is dict:  # of another type, written as text
        return len(value) == 1 and all(type(part) is str for part in [*value, *value.values()])
    if type(value) is list:
        return not is_part and all(_label(part, True) for part in value)
    return value is None or type(value) in (bool, str) or _real(value)


def _text(pattern: str) -> Callable[[Any], bool]:
    return lambda value: type(value) is str and re.fullmatch(pattern, value) is not None


HEX, NUMBER = _text("[0-9a-f]{64}"), _text(r"-?\d{1,4}\.\d{1,12}")
RANGE: Shape = {"log_max_lift": NUMBER, "log_min_lift": ("-inf", NUMBER)}
NOTION: Shape = {"name": str, ...: (_real, None)}
ABOUT: Shape = {"format": "discreet-mechanism/1", "method": (str, None), "notion": (NOTION, None)}
ABOUT |= {"sensitive_columns": [str], "useful_columns": [str], "bins": {...: [_real]}, "denominator": FULL}
ABOUT |= {"useful": [_label], "private": bool, "reads_sensitive": bool}
ROWS: Shape = {"released": [str], "rows": [[[_count, _count]]]}
ROWS |= {"denominator": (FULL, FULL**2), "released_values?": [_count]}  # in values: places among the useful ones
CHANNEL: Shape = ABOUT | ROWS | {"kind": "channel"}
MECHANISM: Shape = (
    CHANNEL,
    ABOUT | ROWS | {"kind": "reads-sensitive", "sensitive": [_label]},
    ABOUT | {"kind": "bits", "bits": {"true": _count, "other": _count}},
    ABOUT | {"kind": "attributes", "parts": [CHANNEL]},
)
VECTORS: Shape = [[[_count, _real]]]
COUNTS: Shape = {"sensitive": [_label], "useful": [_label], "cells": [[_count, _count, _count]]}
COUNTS |= {"limits?": [[_count, _count, _count, _count]]}  # s, x, and limits of P(s|x) over 2**60
COUNTS |= {"outcomes?": [[[_count, _count, _count]]]}  # of earlier releases: what was seen, by s and x, to one scale
PROOF: Shape = {"rows": [[str, _count, (_count, None), _count]], "largest": VECTORS, "smallest": VECTORS}
PROOF |= {"on": ("symbols", "beliefs"), "prices": ([_real], None), "splits": [[_count, _count, _real]]}
PROOF |= {"multipliers": (VECTORS, None), "cells": ([_count], None)}
PROOF |= {"cuts?": [[_real]], "lifts?": [_real]}  # lifts at which rows are cuts, and those that none exceeds
PROOF |= {"groups?": [_count], "inside?": [(dict(PROOF), None)]}  # of symbols, and a proof inside of each group
CERTIFICATE: Shape = {"format": FORMAT, "notion": NOTION, "mechanism": (None, *MECHANISM), "achieved": (RANGE, None)}
CERTIFICATE |= {"nmi": NUMBER, "bound": (NUMBER, None), "bound_evidence": (str, None), "reads_sensitive": bool}
CERTIFICATE |= {"rows": ({"input": _count, "output": _count}, None), "digests": {"mechanism": (HEX, None)}}
CERTIFICATE |= {"designed_on?": {"records": _count, **RANGE}}  # other records, where these were held out
CERTIFICATE |= {"after?": [(HEX, None)]}  # digests of mechanisms that were applied before; none of private ones
CERTIFICATE |= {"public_counts": bool, "private_mechanism": bool, "versions": {...: str}, "certificate_digest": HEX}
COLUMNS: Shape = {name: [str] for name in ("input", "sensitive", "useful", "released", "kept", "published")}
BESIDE: Shape = {"column": str, "values": (_count, str, None), "reason": str, "alone?": RANGE, "with_release?": RANGE}
SOURCES = ("files", "rows", "rows in order", "spark rows")
PERSONS: Shape = {"persons": _count, "most_records": _count, "how": str, **RANGE}
RELEASE: Shape = {"columns": COLUMNS | {"id": (str, None), "person": (str, None)}, "order": ("input", "shuffle")}
RELEASE |= {"engine": str, "key": {"fingerprint": HEX, "mac": HEX, "draw": ("private", "reproducible, not private")}}
RELEASE |= {"checked_on": ("this table", "the design only (trusted)"), "persons": (PERSONS, None)}
RELEASE |= {"unseen": ({"treated_as": _label, "rows": _count}, None), "not_covered": [BESIDE]}
RELEASE |= {"covered": ({"columns": [str], **RANGE}, None), "value_types?": {...: _text(r"[A-Z_ ]+(\(\d+,\d+\))?")}}
RELEASE |= {"digests": {"mechanism": (HEX, None), "output": (HEX, {...: HEX}), "codebook": (HEX, None)}}
RELEASE["digests"] |= {"input": ({"of": SOURCES, "hmac": HEX}, None)}
TWINS: Shape = {"columns": {name: [str] for name in ("input", "sensitive", "useful", "dropped", "ids", "person")}}
TWINS |= {"rows": _count, "unchanged": NUMBER, "columns_unchanged": {...: NUMBER}}
TWINS |= {"classes": {...: (str, _count)}, "weights": {...: str}} | {k: RELEASE[k] for k in ("order", "engine", "key")}
TWINS |= {"digests": {"output": (HEX, {...: HEX}, None), "input": ({"of": SOURCES, "hmac": HEX}, None)}}
TWINS |= {"after?": [(HEX, None)]}
KEYED: Shape = {"mechanism": HEX, "codebook": (HEX, None)}
PRIVATE: Shape = {"counts": COUNTS, "proof": PROOF, "input_key": HEX, "keyed_digests": KEYED}
PRIVATE |= {"publication": TWINS, "private_publication": {...: str}}  # of a whole table; the first is for everyone


def misfit(value: Any, shape: Any, where: str) -> str | None:
    """The place in plain data that has not its shape; None where all of it has."""
    if isinstance(shape, tuple):
        found = [misfit(value, one, where) for one in shape]
        return None if None in found else max(filter(None, found), key=len)  # the one that fits furthest
    if isinstance(shape, dict) and type(value) is dict:
        known = {name.rstrip("?"): of for name, of in shape.items() if name is not ...}
        missing = {name for name in shape if name is not ... and not name.endswith("?")} - set(value)
        odd = sorted(missing) + sorted(set(value) - set(known) if ... not in shape else ())
        if odd:
            return f"{where}.{odd[0]}"
        pairs = ((part, known.get(name, shape.get(...)), f"{where}.{name}") for name, part in value.items())
    elif isinstance(shape, list) and type(value) is list and len(shape) in (1, len(value)):
        pairs = ((part, shape[k % len(shape)], where) for k, part in enumerate(value))
    else:
        right = shape(value) if callable(shape) and not isinstance(shape, type) else False
        right = right or type(value) is shape or (type(value) is type(shape) and value == shape)
        return None if right and not isinstance(shape, dict | list) else where
    return next(filter(None, (misfit(*pair) for pair in pairs)), None)


def check(certificate: Data) -> list[tuple[str, bool | None, str]]:
    """Findings (subject, passed or None where it was not checked, sentence)."""
    tests: dict[str, Callable[[Data], Found]] = {
        "form": _form,
        "certificate digest": lambda c: _same(digest({**c, "certificate_digest": None}), c["certificate_digest"]),
        "statements": _statements,
        "mechanism digest": _mechanism_digest,
        "weights": _weights,
        "size": size,
        "rows": _rows,
        "limits": _limits_hold,
        "leakage": _leakage,
        "nmi": _nmi,
        "bound": _bound,
    }
    findings: list[tuple[str, bool | None, str]] = []
    for subject, test in tests.items():
        try:
            findings.append((subject, *test(certificate)))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            findings.append((subject, False, f"damaged or impossible ({type(error).__name__})"))
        if subject in ("form", "weights", "size") and findings[-1][1] is False:
            break  # what follows would read what is not there, or never end
    return findings


def _form(certificate: Data) -> Found:
    private = {name: shape for name, shape in PRIVATE.items() if name in certificate}
    wrong = misfit(certificate, CERTIFICATE | (RELEASE if "columns" in certificate else {}) | private, "certificate")
    if wrong is None:
        whole = certificate["mechanism"] is not None or (certificate["private_mechanism"] and "counts" not in private)
        wrong = (
            None if whole and (private.keys() - {"publication"} != {"proof"}) else "certificate.mechanism or .counts"
        )
    return wrong is None, "every field is known and has its shape" if wrong is None else f"{wrong} is not as it must be"


def _statements(certificate: Data) -> Found:
    """What is stated twice is stated alike, and every published column is accounted for."""
    mechanism, columns = certificate["mechanism"], certificate.get("columns")
    same = [(certificate["bound"] is None) is (certificate["bound_evidence"] is None)]
    if mechanism is not None:
        same += [certificate[name] == mechanism[name] for name in ("notion", "reads_sensitive")]
    if "designed_on" in certificate:  # a design kept its promise there as well
        same += [columns is None, _within(certificate["designed_on"], certificate["notion"])]
    if "counts" in certificate:
        same += [("after" in certificate) is ("outcomes" in certificate["counts"])]
    if "publication" in certificate:
        roles, kept = certificate["publication"]["columns"], certificate["publication"]["columns_unchanged"]
        used = [name for role, names in roles.items() if role != "input" for name in names]
        same += [columns is None, sorted(roles["useful"]) == sorted(kept), sorted(used) == sorted(roles["input"])]
    if columns is not None and mechanism is not None:
        in_values = ["released_values" in part for part in mechanism.get("parts", [mechanism])]
        several = mechanism["kind"] == "attributes" or (all(in_values) and len(columns["useful"]) > 1)
        same += [columns[name] == mechanism[f"{name}_columns"] for name in ("sensitive", "useful")]
        same += [sorted(certificate.get("value_types", ())) == (sorted(columns["released"]) if all(in_values) else [])]
        same += [columns["released"] == columns["useful"] if several else len(columns["released"]) == 1]
    if columns is not None:
        beside = [row["column"] for row in certificate["not_covered"]]
        beside += certificate["covered"]["columns"] if certificate["covered"] else []
        own = [name for name in (columns["id"], columns["person"]) if name in columns["published"]]
        told = [*columns["released"], *columns["kept"], *dict.fromkeys(own)]
        folded = [name.casefold() for name in columns["published"]]
        same += [sorted(told) == sorted(columns["published"]), sorted(beside) == sorted(columns["kept"])]
        same += [len(set(folded)) == len(folded), not {*columns["useful"]} & {*columns["kept"]}]
        if certificate["checked_on"] != "this table":
            same += [certificate[name] is None for name in ("achieved", "covered", "persons")]
        same += [certificate["persons"] is None or columns["person"] is not None]
        same += [certificate["persons"] is None or _within(certificate["persons"], certificate["notion"])]
        if columns["person"] is not None:  # the order of a person's records would tell what their labels do not
            same += [certificate["order"] == "shuffle", columns["id"] not in columns["published"]]
            same += [certificate["covered"] is None]
        secret = {name.casefold() for name in columns["sensitive"]}
        same += [not secret & {name.casefold() for name in (certificate["covered"] or {}).get("columns", ())}]
    return all(same), "agree with each other" if all(same) else "contradict each other"


def _within(stated: Data, notion: Data) -> bool:
    """Whether stated log-lifts are those that a notion on lifts allows, up to how they were rounded."""
    low, high = float(stated["log_min_lift"]), float(stated["log_max_lift"])
    needed = {"max_lift": high, "min_lift_inverse": -low, "lift_ratio": high - low}
    return all(needed[kind] <= epsilon + Fraction(1, 50) for kind, epsilon, _ in _bounds(notion) if kind in needed)


def _mechanism_digest(certificate: Data) -> Found:
    if certificate["mechanism"] is None:
        return None, "not re-checked: the mechanism is private, and its digest needs the key"
    return _same(digest(certificate["mechanism"]), certificate["digests"]["mechanism"])


def _same(found: str, stated: str) -> Found:
    return found == stated, "agrees" if found == stated else "is not the digest of what it stands beside"


def _weights(certificate: Data) -> Found:
    mechanism = certificate["mechanism"]
    if mechanism is None:
        return None, "not re-checked: the mechanism is private"
    parts, wanted = mechanism.get("parts", [mechanism]), len(mechanism["useful_columns"])
    right = len(parts) > 0 and mechanism["reads_sensitive"] is (mechanism["kind"] == KINDS[1])
    if wanted and mechanism["kind"] == "attributes":
        right &= len(parts) == wanted and [part["useful_columns"] for part in parts] in (
            [[name] for name in mechanism["useful_columns"]],
            [[]] * wanted,
        )
    if mechanism["kind"] == "attributes" or wanted > 1:
        width = len(parts) if mechanism["kind"] == "attributes" else wanted
        right &= all(type(label) is list and len(label) == width for label in mechanism["useful"])
    for part in parts:
        right &= _distinct(part["useful"])
        if part["kind"] == "bits":
            right &= part["bits"]["other"] <= part["bits"]["true"] <= FULL
            continue
        sensitive = part.get("sensitive", [None])
        right &= _distinct(part["released"]) and _distinct(sensitive)
        right &= len(part["rows"]) == len(part["useful"]) * len(sensitive)
        places, whole = part.get("released_values", range(len(part["released"]))), part["denominator"]
        right &= len(set(places)) == len(part["released"]) == len(places)
        right &= "released_values" not in part or max(places, default=0) < len(part["useful"])
        for row in part["rows"]:
            right &= sum(w for _, w in row) == whole and len(dict(row)) == len(row)
            right &= all(w > 0 and y < len(part["released"]) for y, w in row)
    text = "every row of weights sums to {}" if right else "there is not one row of {} for each value"
    return right, text.format(f"2**{max(part['denominator'].bit_length() for part in [mechanism, *parts]) - 1}")


def size(certificate: Data) -> Found:
    """About how many steps the checks below take: a short certificate may ask for more than a life has."""
    if "counts" not in certificate:
        return True, "short enough to check"
    counts, mechanism, proof = certificate["counts"], certificate["mechanism"], certificate.get("proof")
    n_s, n_x = len(counts["sensitive"]), len(counts["useful"])
    attributes = max((len(label) for label in counts["useful"] if type(label) is list), default=1)
    subsets = 2**attributes if certificate["notion"]["name"] == "srlip" else 1 + len(counts.get("outcomes", ()))
    if mechanism["kind"] == "bits":
        filled = columns = n_s * (n_s + 1) * (n_x + 1)
    else:
        parts = mechanism.get("parts", [mechanism])
        filled = len(counts["cells"]) * math.prod(max(map(len, part["rows"]), default=0) for part in parts)
        columns = min(filled, math.prod(len(part["released"]) for part in parts))
    power = 1 + int(certificate["notion"].get("alpha") or 0)  # powers have about as many digits
    steps = subsets * (150 + n_s * n_x + filled + columns * (40 + 5 * n_s * power))  # fractions cost more than sums
    for part in [] if proof is None else [proof, *filter(None, proof.get("inside", ()))]:
        vectors = [*part["largest"], *part["smallest"], *(part["multipliers"] or [])]
        entries = len(part["largest"]) + len(part.get("groups", ()))
        numbers = sum(map(len, vectors)) + len(vectors) + 2 * len(part["splits"]) + entries
        steps += entries * (numbers + len(part["rows"])) + (subsets * (n_s + n_x) + n_x) * (1 + len(part["rows"]))
        steps += n_s * (n_x + 40) * len(part.get("cuts", ()))
    of_x: dict[int, int] = {}
    for _, x, n in counts["cells"] if "limits" in counts else ():
        of_x[x] = of_x.get(x, 0) + n
    steps += sum(n_s * (200 + min(60 * math.isqrt(n), 2 * TERMS)) for n in of_x.values()) + 3 * n_s * (filled + columns)
    cells = itertools.chain(counts["cells"], *counts.get("outcomes", ()))
    steps *= 1 + max((n.bit_length() for _, _, n in cells), default=0) // 128  # long numbers take long
    right = steps <= STEPS + STEPS_PER_CHARACTER * len(_canonical(certificate))
    refused = f"refused: about {float(steps):.1g} steps for so short a certificate"
    return right, "short enough to check" if right else refused


def _distinct(labels: list[Any]) -> bool:
    return len({_key(label) for label in labels}) == len(labels)


def _rows(certificate: Data) -> Found:
    stated, whole = certificate["rows"], "publication" in certificate
    if stated is None:
        return None, "no rows are stated: the certificate is about a distribution"
    if "counts" not in certificate:
        return None, f"not re-checked: {UNCOUNTED[whole]}"
    total = sum(map(sum, _table(certificate)))
    told = "in classes" if whole else f"{stated['input']} read, {stated['output']} released"
    return total == stated["input"] == stated["output"], f"{total} counted, {told}"


def _table(certificate: Data) -> Table:
    """Counts by [s][x]."""
    counts = certificate["counts"]
    table, seen = [[0] * len(counts["useful"]) for _ in counts["sensitive"]], {(s, x) for s, x, _ in counts["cells"]}
    if not (_distinct(counts["sensitive"]) and _distinct(counts["useful"]) and len(seen) == len(counts["cells"])):
        raise ValueError("a label or a cell occurs twice")
    for s, x, n in counts["cells"]:
        table[s][x] = n
    if not any(map(any, table)):
        raise ValueError("nothing is counted")
    return table


def _outcomes(certificate: Data, table: Table) -> list[Table]:
    """What readers of earlier releases have seen, each outcome by [s][x]; all together are a multiple of the counts."""
    found = [[[0] * len(row) for row in table] for _ in certificate["counts"].get("outcomes", ())]
    for one, cells in zip(found, certificate["counts"].get("outcomes", ())):
        for s, x, n in cells:
            one[s][x] += n
    sums = [[sum(column) for column in zip(*lines)] for lines in zip(*found)]
    total, whole = sum(map(sum, sums)), sum(map(sum, table))
    pairs = zip(itertools.chain(*sums), itertools.chain(*table))
    if found and not (total and all(seen * whole == n * total for seen, n in pairs)):
        raise ValueError("the outcomes are not those of the counted records")
    return found


def _key(label: Any) -> str:
    """A label so that equal ones are alike however they are spelt: 1, 1.0, true and the decimal 1.00 are one value."""
    if type(label) is list:
        return json.dumps([_key(part) for part in label])
    number = label["decimal"] if type(label) is dict and "decimal" in label else label
    if number is not label and not re.fullmatch(r"-?\d+(\.\d+)?(E[+-]?\d{1,3})?", number):
        raise ValueError("not a decimal")
    if type(number) in (bool, int, float) or number is not label:
        return f"n{Fraction(number)}"
    return json.dumps(label, sort_keys=True)


def _places(labels: list[Any]) -> dict[str, int]:
    return {_key(label): k for k, label in enumerate(labels)}


def _channel(certificate: Data) -> Callable[[int, int], dict[Any, int]]:
    """A function (s, x) -> {y: weight} over the counted labels."""
    mechanism, counts = certificate["mechanism"], certificate["counts"]
    if mechanism["kind"] == "attributes":
        parts = [(part["rows"], _places(part["useful"])) for part in mechanism["parts"]]

        def product(s: int, x: int) -> dict[Any, int]:
            values = zip(parts, counts["useful"][x], strict=True)
            chosen = itertools.product(*(rows[at[_key(value)]] for (rows, at), value in values))
            return {tuple(y for y, _ in pairs): math.prod(w for _, w in pairs) for pairs in chosen}

        return product
    useful, sensitive = _places(mechanism["useful"]), _places(mechanism.get("sensitive", []))
    column = [useful[_key(label)] for label in counts["useful"]]
    start = [sensitive[_key(s)] * len(useful) if mechanism["reads_sensitive"] else 0 for s in counts["sensitive"]]
    return lambda s, x: dict(mechanism["rows"][start[s] + column[x]])


def _released(certificate: Data, channel: Any, table: Table, symbols: list[int]) -> Iterator[list[int]]:
    """Columns of masses proportional to P(s, y); of bits, those sets of ones at which lifts are extreme."""
    if certificate["mechanism"]["kind"] != "bits":
        columns = dict[Any, list[int]]()
        for s, x in itertools.product(range(len(table)), symbols):
            for y, weight in channel(s, x).items() if table[s][x] else ():
                columns.setdefault(y, [0] * len(table))[s] += table[s][x] * weight
        yield from columns.values()
        return
    if not {*map(_key, certificate["counts"]["useful"])} <= {*map(_key, certificate["mechanism"]["useful"])}:
        raise ValueError("a value has no bit")
    bits = certificate["mechanism"]["bits"]
    one, rest = bits["true"] * (FULL - bits["other"]), bits["other"] * (FULL - bits["true"])
    lines, none = [[row[x] for x in symbols] for row in table], [0] * len(table)
    totals = list(map(sum, lines))
    for first, second in itertools.permutations([*lines, [sum(column) for column in zip(*lines)]], 2):
        ratios = [(not b and a > 0, Fraction(a, b or 1)) for a, b in zip(first, second)]
        order = sorted(range(len(symbols)), key=ratios.__getitem__, reverse=True)
        cuts = itertools.accumulate(order, lambda sums, x: [n + line[x] for n, line in zip(sums, lines)], initial=none)
        found = ([one * n + rest * (total - n) for n, total in zip(inside, totals)] for inside in cuts)
        yield from filter(any, found)


def _bounds(notion: Data) -> list[tuple[str, Fraction, Fraction]]:
    """(measure, budget, order) of a notion."""
    name, both = notion["name"], notion.get("epsilon")
    numbers = all(value is None or 0 <= value < math.inf for key, value in notion.items() if key != "name")
    fields = (
        set(notion)
        - {"name"}
        - ({"confidence"} if name in CONFIDENT and 0 < notion.get("confidence", 0) < 1 else set())
    )
    if fields != NOTIONS[name] or not numbers or not notion.get("alpha", 2) > 1:
        raise ValueError("not a notion")
    family = {"l1": "l1_lift", "chi2": "chi2_lift", "alpha-lift": "alpha_lift"}.get(name, "max_lift")
    lower = "min_lift_inverse" if family == "max_lift" else family + "_inverse"
    sides: Data = {family: notion.get("eps_upper", both), lower: notion.get("eps_lower", both)}
    sides = {family: 0.0} if name == "perfect" else {"lift_ratio": both} if name == "ldp" else sides
    found = [(kind, Fraction(e), Fraction(notion.get("alpha") or 1)) for kind, e in sides.items() if e is not None]
    return found or [("max_lift", Fraction(0), Fraction(1))]  # a notion without a budget allows nothing


@functools.lru_cache
def _exp(epsilon: Fraction, side: int) -> Fraction:
    """A rational bound of exp(epsilon) below (side -1) or above (side 1) it, 50 digits close."""
    return Fraction(DECIMALS.exp(_decimal(epsilon))) * (1 + side * Fraction(1, 10**50))


def _decimal(value: Fraction) -> decimal.Decimal:
    return DECIMALS.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _keeps(lifts: list[Fraction], shares: list[Fraction], bounds: list[tuple[str, Fraction, Fraction]]) -> bool:
    """Whether a released symbol keeps all bounds, in rational numbers; real powers are rounded to the safe side."""
    smallest, largest = min(lifts), max(lifts)
    if smallest == largest == 1:
        return True
    for kind, budget, order in bounds:
        epsilon = min(budget, Fraction(LARGEST))
        inverse, limit = kind.endswith("_inverse"), _exp(epsilon, -1)
        if epsilon == 0 or ((inverse or kind == "lift_ratio") and smallest == 0):
            return False
        values = ((1 / lift if inverse else lift, p) for lift, p in zip(lifts, shares))
        if kind in LIFTS:
            kept = (1 / smallest if inverse else largest / (smallest if kind == "lift_ratio" else 1)) <= limit
        elif kind.startswith("l1"):
            kept = sum(p * abs(v - 1) for v, p in values) <= limit - 1
        elif kind.startswith("chi2"):
            kept = sum(p * (v - 1) ** 2 for v, p in values) <= (limit - 1) ** 2
        else:
            powers = Fraction(sum(p * Fraction(DECIMALS.power(_decimal(v), _decimal(order))) for v, p in values))
            kept = Fraction(DECIMALS.ln(_decimal(powers))) + Fraction(1, 10**40) <= order * epsilon
        if not kept:
            return False
    return True


def _limits(certificate: Data, table: Table) -> tuple[Table, Table]:
    """Lower and upper limits of P(s|x), over 2**60, by [s][x]; those of what never occurs are 0 and 1."""
    low, high = ([[end] * len(table[0]) for _ in table] for end in (0, FULL))
    stated = {(s, x): (a, b) for s, x, a, b in certificate["counts"]["limits"]}
    occurring = {(s, x) for x in range(len(table[0])) if any(row[x] for row in table) for s in range(len(table))}
    if stated.keys() != occurring or len(stated) < len(certificate["counts"]["limits"]):
        raise ValueError("there are not limits for every cell, once")
    for (s, x), (a, b) in stated.items():
        if not a <= b <= FULL:
            raise ValueError("limits are no interval of shares")
        low[s][x], high[s][x] = a, b
    return low, high


def _limits_hold(certificate: Data) -> Found:
    """Whether all limits hold at once with the stated confidence, given how often each useful value occurs."""
    confidence = certificate["notion"].get("confidence")
    if "counts" not in certificate:
        return (
            (True, "none are needed") if confidence is None else (None, "not re-checked: they stand beside the counts")
        )
    if confidence is None:
        wanted = "limits" not in certificate["counts"]
        return wanted, "none are needed" if wanted else "limits stand beside a promise without confidence"
    table = _table(certificate)
    low, high = _limits(certificate, table)
    occurring = [x for x in range(len(table[0])) if any(row[x] for row in table)]
    pairs = len(table) == 2 and all(
        low[1][x] == FULL - high[0][x] and high[1][x] == FULL - low[0][x] for x in occurring
    )
    cells = len(occurring) * (1 if pairs else len(table))  # of two sensitive values one tells the other
    alpha = (1 - Fraction(confidence)) / (2 * cells)
    right, known = True, dict[tuple[int, int, int], bool]()
    for s, x in itertools.product(range(1 if pairs else len(table)), occurring):
        n, k = sum(row[x] for row in table), table[s][x]
        for key in ((n, k, high[s][x]), (n, n - k, FULL - low[s][x])):
            if key not in known:
                known[key] = _is_limit(*key, alpha)
            right &= known[key]
    text = f"hold for {len(table) * len(occurring)} cells at once with confidence {confidence:.10g}"
    return right, text if right else "do not hold with the stated confidence"


def _is_limit(n: int, k: int, limit: int, alpha: Fraction) -> bool:
    """Whether k or fewer of n are as unlikely as alpha at a limit, and not far less: wider limits would prove more."""
    if k == n or n > 2**53:
        return k == n and limit == FULL
    if limit < FULL and not Fraction(_tail(n, k, Fraction(limit, FULL))) <= alpha:
        return False
    closer = Fraction(limit, FULL) - Fraction(FULL - limit, FULL * 10**6) - Fraction(4, FULL)
    return closer <= 0 or Fraction(_tail(n, k, closer)) * (1 - Fraction(1, 10**9)) > alpha


def _tail(n: int, k: int, p: Fraction) -> float:
    """An upper limit of P(Bin(n, p) <= k) where k lies below the mean; 1 elsewhere.

    Terms fall from the k-th on, by ratios that fall too: the largest is enclosed, the sum is taken in floats, and what
    is left of it is at most a geometric series.
    """
    if p * (n - k + 1) <= k * (1 - p):
        return 1.0
    logarithm = _log_factorial(n) - _log_factorial(k) - _log_factorial(n - k)
    for times, base in ((k, p), (n - k, 1 - p)):
        logarithm += times * Fraction(DECIMALS.ln(_decimal(base))) if times else 0
    first = float(Fraction(DECIMALS.exp(_decimal(logarithm + Fraction(1, 10**20)))))
    odds, total, term, i = float((1 - p) / p), 1.0, 1.0, k
    while i > 0 and term > 1e-20 and k - i < TERMS:
        ratio = i / (n - i + 1) * odds
        term, i = term * ratio, i - 1
        total += term
    ratio = i / (n - i + 1) * odds * (1 + 1e-12)
    if ratio >= 1:
        return 1.0
    return first * (total + term * ratio / (1 - ratio)) * (1 + 1e-12 + (k - i) * 2.0**-50)


@functools.lru_cache(maxsize=100_000)
def _log_factorial(n: int) -> Fraction:
    """log n! to 30 digits: Stirling's series, whose error is less than the first term left out."""
    if n < 256:
        return Fraction(DECIMALS.ln(math.factorial(n))) if n > 1 else Fraction(0)
    half = Fraction(1, 2) * Fraction(DECIMALS.ln(2 * PI))
    series = sum((Fraction(*c) / Fraction(n) ** (2 * k + 1) for k, c in enumerate(STIRLING)), Fraction(0))
    return (n + Fraction(1, 2)) * Fraction(DECIMALS.ln(n)) - n + half + series


def _confident(certificate: Data, table: Table) -> bool:
    """Whether the notion holds for every P(s|x) within its limits, whatever the released symbol."""
    if certificate["mechanism"]["kind"] != "channel":
        raise ValueError("a promise with confidence is about plain channels")
    channel, (low, high) = _channel(certificate), _limits(certificate, table)
    records = [sum(row[x] for row in table) for x in range(len(table[0]))]
    behind: dict[Any, list[tuple[int, int]]] = {}
    for x, n in enumerate(records):
        for y, weight in channel(0, x).items() if n else ():
            behind.setdefault(y, []).append((x, weight * sum(records)))
    for kind, budget, _ in _bounds(certificate["notion"]):
        limit = _exp(min(budget, Fraction(LARGEST)), -1) if budget else Fraction(1)
        rising = kind == "max_lift"
        for towards, away in zip(*((high, low) if rising else (low, high))):
            everything = sum(n * b for n, b in zip(records, away))
            for some in behind.values():
                # The lift exceeds t where this is above 0, at the worst P(s|x) that the limits allow.
                t = (limit if rising else 1 / limit) * Fraction(sum(records[x] * w for x, w in some), sum(records))
                rest = everything - sum(records[x] * away[x] for x, _ in some)
                excess = sum((records[x] * (towards if w > t else away)[x] * (w - t) for x, w in some), -t * rest)
                if (excess > 0) is rising and excess != 0:
                    return False
    return True


def slices(certificate: Data, table: Table) -> Iterator[list[int]]:
    """Useful values that agree with what someone knows: all, and under SRLIP every set of attributes."""
    labels = certificate["counts"]["useful"]
    occurring = [x for x in range(len(table[0])) if any(row[x] for row in table)]
    parts = [label if isinstance(label, list) else [label] for label in labels]
    size = len(parts[occurring[0]]) if certificate["notion"]["name"] == "srlip" else 0
    keys = [[_key(part) for part in label] for label in parts] if size else []
    if size and any(len(part) != size for part in parts):
        raise ValueError("labels differ in length")
    for known in itertools.chain.from_iterable(itertools.combinations(range(size), k) for k in range(size + 1)):
        groups: dict[tuple[str, ...], list[int]] = {}
        for x in occurring:
            groups.setdefault(tuple(keys[x][j] for j in known), []).append(x)
        yield from groups.values()


def _leakage(certificate: Data) -> Found:
    if certificate["mechanism"] is None:
        return None, "not re-checked: the mechanism is private, and stands in the private certificate"
    if "counts" not in certificate:
        return None, f"not re-checked: {UNCOUNTED['publication' in certificate]}"
    table, bounds, lifts = _table(certificate), _bounds(certificate["notion"]), list[Fraction]()
    if certificate["mechanism"]["kind"] == "bits" and any(kind not in LIFTS for kind, _, _ in bounds):
        raise ValueError("sets of bits are judged by lifts alone")
    channel = None if certificate["mechanism"]["kind"] == "bits" else _channel(certificate)
    views = [(table, symbols) for symbols in slices(certificate, table)]
    views += [(seen, views[0][1]) for seen in _outcomes(certificate, table)]  # with P(s) as it was before all releases
    for number, (lines, symbols) in enumerate(views):
        prior, ends = [sum(row[x] for x in symbols) for row in table], list[Fraction]()
        total, shares = sum(prior), [Fraction(r, sum(prior)) for r in prior if r]
        for column in _released(certificate, channel, lines, symbols):
            mass = sum(column)
            found = [Fraction(n * total, r * mass) for n, r in zip(column, prior) if r]
            if not _keeps(found, shares, bounds):
                return False, "the notion is broken: a released symbol exceeds its budget"
            ends = [min([*ends, *found]), max([*ends, *found])]
        lifts = ends if number == 0 else lifts  # the first slice is everybody
    if "confidence" in certificate["notion"] and not _confident(certificate, table):
        return False, "the notion is broken for some beliefs within their limits"
    if certificate["achieved"] is None:
        return True, "the notion holds; no lifts are stated"
    top, low = certificate["achieved"]["log_max_lift"], certificate["achieved"]["log_min_lift"]
    right = _exp(_number(top) - STEP, -1) <= max(lifts) <= _exp(_number(top), 1)
    least = [Fraction(0)] * 2 if low == "-inf" else [_exp(_number(low), -1), _exp(_number(low) + STEP, 1)]
    right &= least[0] <= min(lifts) <= least[1]
    return right, f"the notion holds; log-lifts between {low} and {top} nats" if right else "the lifts are others"


def _entropy(masses: list[int]) -> Fraction:
    total, alike = sum(masses), collections.Counter(filter(None, masses))  # a logarithm for each share that is another
    shares = [(_decimal(Fraction(mass, total)), times) for mass, times in alike.items()]
    terms = (DECIMALS.multiply(times, DECIMALS.multiply(p, DECIMALS.ln(p))) for p, times in shares)
    return -Fraction(functools.reduce(DECIMALS.add, terms, decimal.Decimal(0)))


def information_kept(certificate: Data) -> Fraction:
    """I(X; Y) / H(X), 50 digits close; nothing is kept of a column with one value."""
    table, channel = _table(certificate), _channel(certificate)
    cells, rows, columns = dict[Any, int](), dict[Any, int](), dict[Any, int]()
    for s, x in itertools.product(range(len(table)), range(len(table[0]))):
        for y, weight in channel(s, x).items() if table[s][x] else ():
            for sums, key in ((cells, (x, y)), (rows, x), (columns, y)):
                sums[key] = sums.get(key, 0) + table[s][x] * weight
    whole, together = _entropy(list(rows.values())), _entropy(list(cells.values()))
    return max(Fraction(0), (whole + _entropy(list(columns.values())) - together) / whole) if whole else Fraction(0)


def _nmi(certificate: Data) -> Found:
    if "counts" not in certificate:
        return None, f"not re-checked: {UNCOUNTED['publication' in certificate]}"
    if certificate["mechanism"]["kind"] == "bits":
        return None, "not re-checked: released symbols of bits are not listed"
    share = information_kept(certificate)
    close = abs(share - _number(certificate["nmi"])) <= STEP
    return close, f"NMI {certificate['nmi']}" if close else f"the stated NMI is not the one found, {float(share):.6f}"


def _bound(certificate: Data) -> Found:
    stated, evidence = certificate["bound"], certificate["bound_evidence"]
    if stated is None:
        return True, "no bound is stated"
    if _number(stated) < _number(certificate["nmi"]):
        return False, "the stated bound lies below the NMI that is reached"
    if _number(stated) >= 1:
        return True, "nothing keeps more than all of X"
    if evidence != "proof" or "counts" not in certificate:
        return None, f"not re-checked: {stated} is claimed" + (", its proof is private" if evidence == "proof" else "")
    if "proof" not in certificate:
        return False, "its proof is missing"
    right = not certificate["mechanism"]["reads_sensitive"] and proven_bound(certificate) <= _number(stated)
    text = f"proven: no mechanism under the notion keeps more than {stated} of X"
    return right, text if right else "the proof does not prove the stated bound"


def _number(text: str) -> Fraction:
    return Fraction(re.fullmatch(r"-?\d{1,4}\.\d{1,12}", text)[0])  # type: ignore[index]


def proven_bound(certificate: Data) -> Fraction:
    """The upper limit of NMI that the proof of a private certificate proves."""
    table, proof = _table(certificate), certificate["proof"]
    whole = _entropy([sum(row[x] for row in table) for x in next(slices(certificate, table))])
    if proof["on"] == "beliefs":
        table = _by_belief(certificate, table)
    symbols = next(slices(certificate, table))
    limit = Fraction(_limit(certificate, table, symbols))
    for members, inner in zip(_members(proof.get("groups", [])), proof.get("inside", []), strict=True):
        some = [symbols[k] for k in members]  # H(X|Y) = H(G|Y) + sum P(g) H(X|Y, G = g)
        inside = Fraction(max(0.0, _limit({**certificate, "proof": inner}, table, some)) if inner else 0.0)
        limit += inside * sum(row[x] for row in table for x in some) / sum(map(sum, table))
    return 1 - limit / whole if whole else Fraction(0)


def _members(groups: list[int]) -> list[list[int]]:
    members: dict[int, list[int]] = {}
    for x, group in enumerate(groups):
        members.setdefault(group, []).append(x)
    return [members[group] for group in sorted(members)]


def _limit(certificate: Data, table: Table, some: list[int]) -> float:
    """A lower limit of H(X|Y), or of H(group|Y), among some symbols, from the rows that are about these alone."""
    symbols, proof = next(slices(certificate, table)), certificate["proof"]
    rows, masses = _own_rows(certificate, table, symbols), [sum(row[x] for row in table) for x in some]
    rows = rows if some == symbols else _about(rows, [symbols.index(x) for x in some], len(symbols))
    if proof["cells"] is not None:
        rows, masses = _gathered(rows, masses, proof["cells"])
    of = proof.get("groups", range(len(masses)))  # the entry of a box that each symbol counts in
    groups, share = _members(of) if "groups" in proof else [], [n / sum(masses) for n in masses]
    space = rows, _steps(certificate, masses) if "confidence" in certificate["notion"] else [], groups, of
    is_mixed = groups and (proof["cells"] or space[1])
    if is_mixed or len(of) != len(share) or set(of) != set(range(len(proof["largest"]))):
        raise ValueError("not a bound for every entry")
    unit, largest, smallest = ([0.0] * len(proof["largest"]), [1.0] * len(proof["largest"])), [], []
    for k, (high, low) in enumerate(zip(proof["largest"], proof["smallest"], strict=True)):
        cost = [float(entry == k) for entry in of]
        largest.append(min(1.0, ROOM - _least(*unit, space, high, [-c for c in cost])))
        smallest.append(max(0.0, _least(*unit, space, low, cost) - ROOM))
    if proof["prices"] is None:  # every entry x of a posterior costs at least -log of its largest value
        return max(0.0, -math.fsum(p * math.log(largest[k]) for k, p in zip(of, share)) - ROOM)
    boxes = _cover(smallest, largest, proof["splits"])
    pairs = list(zip(boxes, proof["multipliers"], strict=True))
    worst = min(_value(*box, space, multipliers, proof["prices"]) for box, multipliers in pairs)
    return math.fsum(q * p for q, p in zip(proof["prices"], share, strict=True)) + worst - ROOM


def _by_belief(certificate: Data, table: Table) -> Table:
    """Symbols that tell the same about S as one: H(X|Y) is at least H(C|Y) of these, and S depends on them alone."""
    if certificate["notion"]["name"] == "srlip" or "confidence" in certificate["notion"] or "after" in certificate:
        raise ValueError("parts of a symbol, its records, or what was seen of it before, are more than its belief")
    alike: dict[tuple[int, ...], list[int]] = {}
    for x in next(slices(certificate, table)):
        column = [row[x] for row in table]
        common = math.gcd(*column)
        alike.setdefault(tuple(n // common for n in column), []).append(x)
    return [[sum(row[x] for x in some) for some in alike.values()] for row in table]


def _gathered(rows: Any, masses: list[int], cells: list[int]) -> tuple[list[tuple[list[float], bool]], list[int]]:
    """Symbols in cells: H(X|Y) is at least H(cell|Y), and what is allowed keeps the least of its members' rows."""
    groups = _members(cells)
    if len(cells) != len(masses) or any(is_equal or len(row) > len(masses) for row, is_equal in rows):
        raise ValueError("equations have no least rows")
    least = [([min(row[x] for x in some) for some in groups], False) for row, _ in rows]
    return least, [sum(masses[x] for x in some) for some in groups]


def _about(rows: Any, places: list[int], count: int) -> list[tuple[list[float], bool]]:
    """Rows on some of the symbols, which posteriors given these keep too where no row is about another."""
    if any(len(row) > count or any(row[k] for k in set(range(count)) - set(places)) for row, _ in rows):
        raise ValueError("a row is about other symbols")
    return [([row[k] for k in places], is_equal) for row, is_equal in rows]


def _own_rows(certificate: Data, table: Table, symbols: list[int]) -> list[tuple[list[float], bool]]:
    """Rows R v <= 0 (or = 0) that the notion puts on posteriors, made from the counts by what the proof calls them."""
    if "confidence" in certificate["notion"]:
        return _rows_of_parts(certificate, table, symbols)
    bounds = {kind: epsilon for kind, epsilon, _ in _bounds(certificate["notion"])}
    place, rows = {x: k for k, x in enumerate(symbols)}, list[tuple[list[float], bool]]()
    parts, views = [[place[x] for x in some] for some in slices(certificate, table)], _outcomes(certificate, table)
    parts = [[place[x] for x in symbols if any(row[x] for row in seen)] for seen in views] or parts
    masses, every = [sum(line[x] for line in table) for x in symbols], sum(sum(map(sum, seen)) for seen in views)
    tops = _tops(certificate, table, symbols)
    for kind, first, second, number in certificate["proof"]["rows"]:
        if kind.endswith("-cut"):
            rows.append((_cut(certificate, table, symbols, kind, first, tops), False))
            continue
        inside, row, seen = parts[number], [0.0] * len(symbols), views[number] if views else table
        own = {k: sum(line[symbols[k]] for line in seen) for k in inside}
        known = range(len(symbols)) if views else inside  # whose P(s) it is compared with
        total, lifts = sum(masses[k] for k in known), []
        for s in (first, first if second is None else second):
            prior = sum(table[s][symbols[k]] for k in known)
            lifts.append({k: Fraction(seen[s][symbols[k]] * total, prior * own[k]) if prior else 1 for k in inside})
        if kind not in ("upper", "lower", "ratio") and not (kind == "equal" and 0 in bounds.values()):
            raise ValueError("not a row of the notion")
        side = {"upper": ("max_lift", 1), "lower": ("min_lift_inverse", -1), "ratio": ("lift_ratio", 1)}.get(kind)
        factor = Fraction(1) if side is None else _exp(side[1] * bounds[side[0]], side[1])
        for k in inside:
            value = lifts[0][k] - (factor * lifts[1][k] if kind == "ratio" else factor)
            value *= Fraction(own[k] * total, every * masses[k]) if views else 1
            row[k] = float(-value if kind == "lower" else value)
        rows.append((row, kind == "equal"))
    return rows


def _cut(
    certificate: Data, table: Table, symbols: list[int], side: str, number: int, tops: list[Fraction]
) -> list[float]:
    """A row that a bound on the mean of f(lift) implies, whatever the lifts w > 0 that the proof names.

    Where c + k l <= f(l) for every lift l up to the top, the mean of c + k l is at most that of f, and P(s) l(s) is the
    mean of P(s|x) over a posterior. Rounded so that it allows more.
    """
    kind, epsilon, order = _mean_bound(certificate, side)
    at, total = [Fraction(w) for w in certificate["proof"]["cuts"][number]], sum(map(sum, table))
    if len(at) != len(table) or not min(at) > 0 or not 0 < epsilon <= LARGEST or "outcomes" in certificate["counts"]:
        raise ValueError("not a cut of the notion")
    limit = Fraction(1) if "alpha" in kind else (_exp(epsilon, 1) - 1) ** (2 if "chi2" in kind else 1)
    lines = [_line(kind, w, top, order, epsilon) for w, top in zip(at, tops, strict=True)]
    constant = sum((c * sum(row) for (c, _), row in zip(lines, table)), Fraction(0)) / total - limit
    slopes = [(k.numerator << 200) // k.denominator for _, k in lines]  # integers below them: sums are faster
    found = []
    for x in symbols:
        told = sum(slope * row[x] for slope, row in zip(slopes, table))
        found.append(float((constant + Fraction(told, sum(row[x] for row in table) << 200)) / limit))
    return found


def _mean_bound(certificate: Data, side: str) -> tuple[str, Fraction, Fraction]:
    """The bound on a mean that the upper or the lower side of the notion is."""
    bounds = [bound for bound in _bounds(certificate["notion"]) if bound[0] not in LIFTS]
    return {"lower-cut" if bound[0].endswith("_inverse") else "upper-cut": bound for bound in bounds}[side]


def _tops(certificate: Data, table: Table, symbols: list[int]) -> list[Fraction]:
    """Lifts that no allowed symbol exceeds, as the proof names them: the table has none, or the bound forbids it.

    Where one lift is the top, the others have a mean below 1, where f is convex and falls.
    """
    tops, total = [Fraction(top) for top in certificate["proof"].get("lifts", ())], sum(map(sum, table))
    if not any(side == "lower-cut" for side, *_ in certificate["proof"]["rows"]):
        return tops
    kind, epsilon, _ = _mean_bound(certificate, "lower-cut")
    power, masses = 2 if "chi2" in kind else 1, [sum(row[x] for row in table) for x in symbols]
    limit = (_exp(min(epsilon, Fraction(LARGEST)), 1) - 1) ** power
    for top, row in zip(tops, table, strict=True):
        p = Fraction(sum(row), total)
        if top >= max(Fraction(row[x], mass) for x, mass in zip(symbols, masses)) / p or "alpha" in kind:
            continue  # what is convex needs no top
        rest = (1 - p * top) / (1 - p) if p < 1 else Fraction(0)
        if top < 1 or (rest > 0 and p * (1 - 1 / top) ** power + (1 - p) * (1 / rest - 1) ** power < limit):
            raise ValueError("lifts may be larger")
    return tops


def _line(kind: str, w: Fraction, top: Fraction, order: Fraction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """c and k with c + k l <= f(l) for lifts l up to the top, closest at w; of powers, f divided by its limit."""
    if "alpha" in kind:
        power = -order if kind.endswith("_inverse") else order
        constant, slope = (
            factor * _power(w, of, order * epsilon, -1 if factor > 0 else 1)
            for factor, of in ((1 - power, power), (power, power - 1))
        )
        return constant, slope
    if kind == "l1_lift":
        sign = Fraction((w > 1) - (w < 1))
        return -sign, sign
    if kind == "chi2_lift":
        return 1 - w * w, 2 * (w - 1)
    if kind == "l1_lift_inverse":  # a chord where 1 - 1/l is concave
        return (2 / w - 1, -1 / w**2) if w < 1 else (-1 / max(top, Fraction(1)), 1 / max(top, Fraction(1)))
    top = max(top, Fraction(3, 2))  # up to which it is convex; beyond, this tangent meets it at the top again
    w = min(w, 2 * top / (2 * top - 1))
    return (w - 1) * (w - 3) / w**2, 2 * (w - 1) / w**3


def _power(w: Fraction, power: Fraction, exponent: Fraction, side: int) -> Fraction:
    """A rational bound of w**power / exp(exponent) below (side -1) or above (side 1) it, 40 digits close."""
    if abs(power) > 10**6 or exponent > 10**8:
        raise ValueError("powers are rounded by more than is allowed for")
    at = Fraction(DECIMALS.multiply(_decimal(power), DECIMALS.ln(_decimal(w)))) - exponent
    if at < -2000:  # too small to spell out
        return Fraction(0) if side < 0 else _exp(Fraction(-2000), 1)
    if at > 2000:
        raise ValueError("no allowed symbol has such lifts")
    return Fraction(DECIMALS.exp(_decimal(at))) * (1 + side * Fraction(1, 10**40))


def _ends(certificate: Data, side: int) -> list[tuple[str, Fraction]]:
    """Factors of P(x) at which entries of a posterior begin to count differently, the lowest first, and what for."""
    ends = {}
    for kind, epsilon, _ in _bounds(certificate["notion"]):
        sign = 1 if kind == "max_lift" else -1
        ends[kind] = _exp(sign * min(epsilon, Fraction(LARGEST)), side) if epsilon else Fraction(1)
    return sorted(ends.items(), key=lambda pair: (pair[1], pair[0] == "max_lift"))


def _steps(certificate: Data, masses: list[int]) -> list[list[float]]:
    """Where entries begin to count differently, a hair too high, which allows more."""
    ends = sorted({end for _, end in _ends(certificate, 1)})
    return [[min(1.0, float(min(Fraction(1), end * n / sum(masses))) * (1 + UNIT)) for n in masses] for end in ends]


def _rows_of_parts(certificate: Data, table: Table, symbols: list[int]) -> list[tuple[list[float], bool]]:
    """Rows on the parts of entries between steps: with b = P(s|x) within limits l and u, a lift is at most t for all b
    where the part of v below t P(x) times l and the part above it times u are at most t times the sum of P l."""
    low, high = _limits(certificate, table)
    records = [sum(row[x] for row in table) for x in symbols]
    ends, rows = dict(_ends(certificate, 1)), list[tuple[list[float], bool]]()
    places, loose = sorted(set(ends.values())), {"max_lift": 1, "min_lift_inverse": -1}
    for name, s, _, number in certificate["proof"]["rows"]:
        kind = {"upper": "max_lift", "lower": "min_lift_inverse"}[name]
        if number != 0:
            raise ValueError("not a row of the notion")
        sign = loose[kind]
        below, above = (low, high) if sign > 0 else (high, low)
        exact = dict(_ends(certificate, sign))[kind]  # allows more than exp(epsilon) does
        mean = exact * sum(n * below[s][x] for n, x in zip(records, symbols)) / sum(records)
        row = []
        for k in range(len(places) + 1):
            part = below if k <= places.index(ends[kind]) else above
            row += [float(sign * (part[s][x] - mean) / FULL) for x in symbols]
        rows.append((row, False))
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
        if not lower[symbol] <= point <= upper[symbol]:
            raise ValueError("a box is split outside itself")  # there the chords below prove nothing
        boxes.append(tightened([*lower[:symbol], point, *lower[symbol + 1 :]], upper[:]))
        boxes[number] = (lower, [*upper[:symbol], min(point, upper[symbol]), *upper[symbol + 1 :]])
    return boxes


def _value(lower: list[float], upper: list[float], space: Any, multipliers: Any, prices: list[float]) -> float:
    """A lower limit of H(v) - prices . v over a box: chords of -t log t, then weak duality."""
    slopes, constant, size = [], 0.0, 0.0
    for low, high in zip(lower, upper, strict=True):
        at_low, at_high = (-t * math.log(t) if t > 0 else 0.0 for t in (low, high))
        slope = (at_high - at_low) / (high - low) if high > low else 0.0
        constant += min(at_low - slope * low, at_high - slope * high)
        size += abs(at_low) + abs(at_high) + 2 * abs(slope) * high
        slopes.append(slope)
    cost = [slopes[k] - price for k, price in zip(space[3], prices, strict=True)]
    return _least(lower, upper, space, multipliers, cost) + constant - (len(cost) + 8) * UNIT * size


def _least(lower: list[float], upper: list[float], space: Any, multipliers: Any, cost: list[float]) -> float:
    """A lower limit of cost . v over the allowed posteriors of a box, whatever the multipliers (weak duality)."""
    rows, steps, groups, _ = space
    if steps:  # entries count by the parts that lie between two steps
        edges = [[0.0] * len(cost), *steps, [1.0] * len(cost)]
        parts = list(itertools.pairwise(edges))
        lower, upper = ([_part(v, a, b) for ends in parts for v, a, b in zip(box, *ends)] for box in (lower, upper))
        cost = cost * len(parts)
    total, error = cost[:], [2 * abs(c) for c in cost]
    for number, given in multipliers:
        row, is_equal = rows[number]
        y = given if is_equal else max(given, 0.0)
        total = [c + y * entry for c, entry in zip(total, row)]
        error = [e + abs(y * entry) for e, entry in zip(error, row)]
    total = [c - (len(multipliers) + 4) * UNIT * e for c, e in zip(total, error)]
    if groups:  # boxes are about sums over groups, which cost as little as their cheapest member
        total = [min(total[x] for x in members) for members in groups]
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
    size += max(abs(c - price) for c in total) * len(total) if steps else 0.0  # parts are differences
    return price + math.fsum(terms) - 8 * UNIT * size


def _part(value: float, low: float, high: float) -> float:
    return min(max(value, low), high) - low


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) == 2 else sys.exit("usage: python checker.py certificate.json")
    try:
        with open(path, encoding="utf-8") as stream:
            results = check(read(stream.read()))
    except (OSError, ValueError, RecursionError, AttributeError) as error:
        sys.exit(f"FAILED: no certificate can be read ({type(error).__name__})")
    for subject, passed, text in results:
        # What hides in a text is spelt out: no certificate can steer a terminal.
        print(f"{'ok' if passed else 'not checked' if passed is None else 'FAILED'}: {subject}: {ascii(text)[1:-1]}")
    passed_all = all(passed is not False for _, passed, _ in results)
    sys.exit(not (passed_all and ("leakage", True) in [result[:2] for result in results]))
