"""A thousand seeded mutations of certificates, proofs and releases, against `verify` with all kinds of evidence.

Whoever forges seals anew: digests are made again where that helps. What must hold:

- with the key, or under a signature, nothing that was changed passes;
- without them, what is verified is true: an oracle decides the stated notion on the counts at hand, with other code
  than the checker's, and the verdict says that released cells were not checked;
- no mutation ends in anything but a verdict or an error in our own words.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import discreet as dc
from discreet import Joint
from discreet._support.errors import DiscreetError
from discreet.certificate import Certificate, checker
from discreet.certificate.record import sealed
from discreet.core import labels
from discreet.notions.base import from_dict
from discreet.releasing import Request, run
from tests.releases import awkward_table, mechanisms, rename_of

MUTATIONS, HONEST = 1_000, 200
ROWS = 400


@dataclass
class Case:
    """A release of one kind of mechanism, with everything that belongs to it."""

    folder: Path
    private: dict[str, Any]
    key: dc.ReleaseKey
    signer: str
    signature: str

    @property
    def table(self) -> Path:
        return self.folder / "in.parquet"

    @property
    def output(self) -> Path:
        return self.folder / "out.parquet"


def made(folder: Path, mechanism: dc.Mechanism, table: pa.Table, shuffle: bool) -> Case:
    """With a kept column and an id, or in a random order without one."""
    folder.mkdir()
    pq.write_table(table, folder / "in.parquet")
    secret = Ed25519PrivateKey.generate()
    text = secret.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    (folder / "signing").write_bytes(text)
    (folder / "signing").chmod(0o600)
    signer = secret.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    kept = "weight" if mechanism.useful_columns == ("job", "sex") else "sex"
    given: dict[str, Any] = {"shuffle": True} if shuffle else {"id": "uuid"}
    proof = dc.design(Joint.from_table(table, "ill", "job"), dc.LIP(0.3)).proof.to_dict()
    done = run(
        Request.of(folder / "in.parquet", mechanism, key=dc.ReleaseKey.fresh(), keep=[kept], uncovered=[kept],
                   output=folder / "out.parquet", rename=rename_of(mechanism), sign=folder / "signing",
                   private_certificate=folder / "private.json",
                   proof=proof if mechanism.method == "optimal" and mechanism.useful_columns == ("job",) else None,
                   **given)
    )  # fmt: skip
    signature = (folder / "out.parquet.certificate.json.sig").read_text()
    return Case(folder, json.loads((folder / "private.json").read_text()), done.key, signer, signature)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    table = awkward_table(ROWS, seed=3)
    folder = tmp_path_factory.mktemp("mutations")
    return [
        made(folder / f"{number}-{shuffle}", mechanism, table, shuffle)
        for number, mechanism in enumerate(mechanisms(table).values())
        for shuffle in (False, True)
    ]


# Mutations of plain data.


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into plain data."""
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, part in parts:
        yield (*path, name)
        yield from places(part, (*path, name))


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        data = data[name]
    return data


def other(value: Any, rng: random.Random) -> Any:
    """A value near to one, or of another type."""
    if rng.random() < 0.15:
        return rng.choice([None, True, 0, -1, 1.5, "x", [], {}, [value], str(value), 10**40, 1e308])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-value, 1, -1, value, 7, -2 * value, 2**40])
    if isinstance(value, float):
        return value * rng.choice([-1, 0, 0.5, 2, 1.001, 1e9]) + rng.choice([0, 0, 1e-3, -1])
    if isinstance(value, str) and value:
        k = rng.randrange(len(value))
        return value[:k] + rng.choice("0123456789abcdefx-.") + value[k + 1 :]
    return rng.choice(["x", 0, None, [], {}, False])


def mutated(data: dict[str, Any], rng: random.Random) -> str:
    """One change somewhere; where counts and proofs are long, not always there."""
    tops = [name for name in data if name != "certificate_digest"]
    top = rng.choice(tops)
    path = rng.choice([(top,), *((top, *rest) for rest in places(data[top]))])
    holder, name = at(data, path[:-1]), path[-1]
    how = rng.choice(["change", "change", "change", "remove", "add", "swap"])
    if how == "remove":
        del holder[name]
    elif how == "add" and isinstance(holder, dict):
        holder[f"{name}x"] = copy.deepcopy(holder[name])
    elif how == "add":
        holder.append(copy.deepcopy(holder[name]))
    elif how == "swap" and len(holder) > 1:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        with_ = rng.choice([k for k in keys if k != name])
        holder[name], holder[with_] = holder[with_], holder[name]
    else:
        holder[name] = other(holder[name], rng)
    return f"{how} {'.'.join(map(str, path))}"


def mutated_proof(data: dict[str, Any], rng: random.Random) -> str:
    """Boxes, points, multipliers and prices pushed outside, made negative or equal; a bound that is too good."""
    proof, kind = data["proof"], rng.choice(["split", "split", "multiplier", "price", "bound", "row", "largest"])
    if kind == "split":
        proof["splits"].append([0, 0, rng.choice([-1.0, -1e-12, 0.0, 0.3, 1.0, 1.5, 1e300])])
        if proof["multipliers"]:
            proof["multipliers"].append(rng.choice(proof["multipliers"]))
    elif kind == "multiplier" and proof["multipliers"]:
        vector = rng.choice(proof["multipliers"])
        vector.append([rng.randrange(max(1, len(proof["rows"]))), rng.choice([-5.0, 1e9, 1.7e308, 0.0, -1e-9])])
    elif kind == "price" and proof["prices"]:
        k = rng.randrange(len(proof["prices"]))
        proof["prices"][k] = rng.choice([proof["prices"][k - 1], -proof["prices"][k], proof["prices"][k] + 0.05, 1e6])
    elif kind == "row":
        rng.choice(proof["rows"])[rng.randrange(4)] = rng.choice(["upper", "lower", "ratio", "equal", 0, 1, 99])
    elif kind == "largest":
        rng.choice(proof[rng.choice(["largest", "smallest"])]).append([0, rng.choice([-1e6, 1e6, 1.0])])
    data["bound"] = f"{float(data['nmi']) + rng.choice([0, 1e-4, 1e-2]) * rng.random():.6f}"
    data["bound_evidence"] = "proof"
    return f"proof: {kind}"


RELEASES: dict[str, Callable[[pa.Table, random.Random], pa.Table]] = {}


def change(function: Callable[[pa.Table, random.Random], pa.Table]) -> Callable[[pa.Table, random.Random], pa.Table]:
    RELEASES[function.__name__] = function
    return function


@change
def cell(table: pa.Table, rng: random.Random) -> pa.Table:
    name = rng.choice(table.column_names)
    values = table.column(name).to_pylist()
    k = rng.randrange(len(values))
    values[k] = rng.choice([v for v in values if v != values[k]])
    return table.set_column(table.column_names.index(name), name, pa.array(values, table.schema.field(name).type))


@change
def two_cells(table: pa.Table, rng: random.Random) -> pa.Table:
    """Two different cells of a column change places."""
    name = rng.choice(table.column_names)
    values = table.column(name).to_pylist()
    k = rng.randrange(len(values))
    j = rng.choice([j for j, v in enumerate(values) if v != values[k]])
    values[k], values[j] = values[j], values[k]
    return table.set_column(table.column_names.index(name), name, pa.array(values, table.schema.field(name).type))


@change
def order(table: pa.Table, rng: random.Random) -> pa.Table:
    places = list(range(table.num_rows))
    rng.shuffle(places)
    return table.take(pa.array(places))


@change
def sorted_rows(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.sort_by(rng.choice(table.column_names))


@change
def row_dropped(table: pa.Table, rng: random.Random) -> pa.Table:
    k = rng.randrange(table.num_rows)
    return table.take(pa.array([j for j in range(table.num_rows) if j != k]))


@change
def row_doubled(table: pa.Table, rng: random.Random) -> pa.Table:
    return pa.concat_tables([table, table.slice(rng.randrange(table.num_rows), 1)])


@change
def column_added(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.append_column("note", table.column(0))


@change
def column_renamed(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.rename_columns([f"{name}_" if k == 0 else name for k, name in enumerate(table.column_names)])


@change
def column_dropped(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.drop_columns([rng.choice(table.column_names)])


@change
def columns_swapped(table: pa.Table, rng: random.Random) -> pa.Table:
    return table.select(table.column_names[::-1])


@change
def type_changed(table: pa.Table, rng: random.Random) -> pa.Table:
    name = rng.choice(table.column_names)
    column = table.column(name)
    new = column.cast(pa.string()) if not pa.types.is_string(column.type) else pc.cast(column, pa.binary())
    return table.set_column(table.column_names.index(name), name, new)


def seal(data: Any, output: Path | None) -> Any:
    """What a forger can make again without key and signature."""
    try:
        if isinstance(data.get("mechanism"), dict) and not data.get("private_mechanism"):
            data["digests"]["mechanism"] = checker.digest(data["mechanism"])
        if output is not None:
            data["digests"]["output"] = hashlib.sha256(output.read_bytes()).hexdigest()
        return sealed(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return data


def fitted(data: dict[str, Any], table: pa.Table) -> None:
    """The certificate told of a changed release."""
    data["rows"]["output"] = data["rows"]["input"] = table.num_rows
    data["columns"]["published"] = table.column_names
    known = {*data["columns"]["kept"], *data["columns"]["released"], data["columns"]["id"]}
    for name in table.column_names:
        if name not in known:
            data["columns"]["kept"].append(name)
            data["not_covered"].append({"column": name, "values": 2, "reason": "harmless"})


# What must hold.


def is_true(data: dict[str, Any], case: Case, with_table: bool) -> bool:
    """Whether the notion holds on the counts at hand, and the stated figures are those found; not by the checker."""
    mechanism, notion = dc.Mechanism.from_dict(data["mechanism"]), from_dict(data["notion"])
    if with_table:
        columns = list(mechanism.sensitive_columns), list(mechanism.useful_columns)
        joint = Joint.from_table(case.table, *columns, bins=mechanism.bins)
    else:
        counts = data["counts"]
        cells = [[0] * len(counts["useful"]) for _ in counts["sensitive"]]
        for s, x, n in counts["cells"]:
            cells[s][x] += n
        names = {name: [labels.decode(v) for v in counts[name]] for name in ("sensitive", "useful")}
        joint = Joint.from_counts(cells, **names)
    right = notion.holds(joint, mechanism) and joint.records == data["rows"]["input"] == data["rows"]["output"]
    right &= mechanism.notion == data["notion"]
    kept = dc.measures.nmi(joint, mechanism) if joint.n_useful > 1 else 0.0
    right &= abs(kept - float(data["nmi"])) < 1e-5
    if mechanism.kind != "bits":
        seen = joint.through(mechanism)
        most, least = dc.measures.max_lift(seen).max(), dc.measures.min_lift(seen).min()
        right &= abs(math.log(most) - float(data["achieved"]["log_max_lift"])) < 1e-5
        low = float(data["achieved"]["log_min_lift"])
        right &= low == -math.inf if least == 0 else abs(math.log(least) - low) < 1e-5
    return bool(right)


def judge(case: Case, data: Any, output: Path, evidence: str, what: str) -> None:
    """One mutation before one kind of reader."""
    given: dict[str, Any] = {
        "nothing": {},
        "table": {"table": case.table},
        "release": {"released": output},
        "both": {"table": case.table, "released": output},
        "key": {"table": case.table, "released": output, "key": case.key},
        "signature": {"released": output, "signer": case.signer, "signature": case.signature},
        "all": {"table": case.table, "released": output, "key": case.key, "signer": case.signer,
                "signature": case.signature},
    }[evidence]  # fmt: skip
    try:
        verdict = dc.verify(data, **given)
    except DiscreetError:
        return
    if evidence in ("key", "signature", "all"):
        assert verdict.level == "failed", (what, evidence, verdict)
    elif verdict:
        assert is_true(data, case, "table" in given), (what, evidence, verdict)
        unchecked = {finding.subject for finding in verdict.findings if finding.passed is None}
        assert "released cells" in unchecked, (what, evidence)


PRIVATE_ALONE = ("counts", "proof", "input_key")


def one_mutation(cases: list[Case], seed: int) -> None:
    rng = random.Random(seed)
    case = rng.choice(cases)
    data = copy.deepcopy(case.private)
    if rng.random() < 0.3:
        data = Certificate(data).public.to_dict()
    original = Certificate(data).public.to_dict()
    evidence = rng.choice(["nothing", "table", "release", "both", "both", "key", "signature", "all"])
    kind = rng.choice(["certificate", "certificate", "proof", "release", "both"])
    output, what = case.output, ""
    if kind in ("release", "both"):
        name = rng.choice(list(RELEASES))
        table = RELEASES[name](pq.read_table(case.output), rng)
        if table.equals(pq.read_table(case.output)):
            return
        output, what = case.folder / f"forged-{seed}.parquet", name
        pq.write_table(table, output)
        if kind == "both":
            fitted(data, table)
    elif kind == "proof" and "proof" in data:
        what = mutated_proof(data, rng)
    else:
        what = mutated(data, rng)
    if rng.random() < 0.8:
        data = seal(data, output if output != case.output else None)
    if data == case.private or (output == case.output and _public(data) == original):
        evidence = evidence if evidence in ("nothing", "table", "release", "both") else "both"  # a private part alone
    try:
        judge(case, data, output, evidence, f"seed {seed}: {what}")
    finally:
        if output != case.output:
            output.unlink()


def _public(data: Any) -> Any:
    try:
        return Certificate(data).public.to_dict()
    except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
        return None


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_mutations_never_pass(part: int, cases: list[Case]) -> None:
    for seed in range(part, MUTATIONS, 4):
        one_mutation(cases, seed)


def test_some_mutations_never_pass(cases: list[Case]) -> None:
    for seed in range(10_000, 10_060):
        one_mutation(cases, seed)


@pytest.mark.long
def test_honest_ones_pass(cases: list[Case]) -> None:
    """Each kind before each reader, 200 in all."""
    levels = {"nothing": "verified", "table": "verified", "release": "verified", "both": "verified", "key": "redrawn"}
    passed = 0
    for number in range(HONEST):
        case, evidence = cases[number % len(cases)], list(levels)[number // len(cases) % len(levels)]
        given = {"table": case.table} if evidence in ("table", "both", "key") else {}
        given |= {"released": case.output} if evidence in ("release", "both", "key") else {}
        given |= {"key": case.key} if evidence == "key" else {}
        signed = {"signer": case.signer, "signature": case.signature} if number % 2 else {}
        wanted = levels[evidence]
        if evidence == "both" and case.private["order"] == "shuffle" and not signed:
            wanted = "consistent"  # rows cannot be matched
        if signed and evidence != "key" and case.private["private_mechanism"]:
            wanted = "consistent"  # what is signed of the mechanism is a digest under the key
        verdict = dc.verify(case.private, **given, **signed)
        passed += verdict.level == wanted
        assert verdict.level == wanted, (number, evidence, verdict)
    assert passed == HONEST
