"""Writes ``house.json``: what every engine releases, certifies, exports and designs for fixed inputs and seeds.

The table of contents of a behaviour that a change of structure must leave alone. Mechanisms are stored beside their
releases, because integers draw alike on every machine while a design in floats may differ in its last digits.

    python -m tests.golden.make_house
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dc
from discreet.cli.app import run
from tests.releases import awkward_table, mechanisms, rename_of

STORED = Path(__file__).with_name("house.json")
ROWS = 1_500
SEED = 11

#: What a certificate claims. Versions, digests of the certificate itself and new fields are left out.
CLAIMS = (
    "notion", "achieved", "nmi", "bound", "bound_evidence", "rows", "reads_sensitive", "columns", "order",
    "checked_on", "unseen", "persons", "covered", "not_covered", "public_counts", "private_mechanism",
)  # fmt: skip

DESIGNS = {
    "17 x 5": (dc.Joint.random(5, 17, seed=3), [dc.LIP(0.5), dc.LDP(1.0), dc.ALIP.split(2.0, 0.65), dc.MaxLift(0.7)]),
    "counted": (
        dc.Joint.from_counts([[30, 15, 5, 9], [10, 15, 25, 2], [4, 4, 8, 7]]),
        [dc.LIP(0.3), dc.L1Lift(eps_upper=0.2), dc.Chi2Lift(eps_upper=0.3), dc.PerfectPrivacy()],
    ),
    "attributes": (
        dc.Joint.from_counts([[2, 1, 1, 5], [1, 4, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)]),
        [dc.SRLIP(0.4), dc.AlphaLift(3, eps_upper=0.2)],
    ),
}

#: How a table is released besides by id: the name, and the options.
VARIANTS: dict[str, dict[str, Any]] = {
    "by number": {"id": "number"},
    "by text, kept": {"id": "name", "keep": ["uuid", "weight"], "uncovered": ["uuid", "weight"]},
    "by place": {"keep": ["number"], "uncovered": ["number"]},
    "shuffled": {"shuffle": True, "keep": ["weight"], "uncovered": ["weight"]},
}


#: The mechanism that is made of integers alone, and so needs no storing.
WIDE = "grr on 100 values"


def wide_mechanism(table: pa.Table) -> dc.Mechanism:
    """A hundred values, each released as any of them."""
    joint = dc.Joint.from_table(table, "ill", "age")
    weights = np.full((joint.n_useful, joint.n_useful), 2**60 // (2 * joint.n_useful), dtype=np.int64)
    np.fill_diagonal(weights, 0)
    np.fill_diagonal(weights, 2**60 - weights.sum(axis=1))
    return dc.Mechanism.from_weights(
        weights,
        useful=joint.useful,
        released=joint.useful,
        p_useful=joint.p_useful,
        sensitive_columns=["ill"],
        useful_columns=["age"],
        notion=dc.LIP(2.0).to_dict(),
        method="grr",
    )


def fixed_mechanisms(table: pa.Table) -> dict[str, dc.Mechanism]:
    """One mechanism of every kind."""
    return {**mechanisms(table), WIDE: wide_mechanism(table)}


def stored_mechanisms(table: pa.Table, content: dict[str, Any]) -> dict[str, dc.Mechanism]:
    """The same as they were stored."""
    stored = {kind: dc.Mechanism.from_dict(mechanism) for kind, mechanism in content["mechanisms"].items()}
    return {**stored, WIDE: wide_mechanism(table)}


def digest(rows: Any) -> str:
    """SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()


def rows_of(released: Any) -> list[dict[str, Any]]:
    """Rows of a frame, or of a file."""
    table = pq.read_table(released) if isinstance(released, str | Path) else released
    return table.to_pylist()  # type: ignore[no-any-return]


@contextlib.contextmanager
def any_file() -> Iterator[None]:
    """Files alike, whatever their bytes: random orders and draws by place depend on these."""
    with mock.patch("discreet.tables.digest.files_digest", return_value="0" * 64):
        yield


def released(table: pa.Table, made: dict[str, dc.Mechanism], folder: Path) -> Iterator[tuple[str, str]]:
    """(what, digest) of releases by DuckDB: frames in memory, and Parquet to Parquet."""
    source = folder / "table.parquet"
    pq.write_table(table, source, row_group_size=400)
    for kind, mechanism in made.items():
        for name, options in VARIANTS.items():
            given = {**options, "seed": SEED, "rename": rename_of(mechanism), "as_values": False}
            yield f"{kind}, {name}, memory", digest(rows_of(dc.release(table, mechanism, **given)))
            target = folder / "released.parquet"
            with any_file():
                dc.release(source, mechanism, output=target, force=True, **given)
            yield f"{kind}, {name}, files", digest(rows_of(target))


def released_by_spark(
    table: pa.Table, made: dict[str, dc.Mechanism], session: Any, folder: Path
) -> Iterator[tuple[str, str]]:
    """(what, digest) of releases by Spark, in the order of ids: a DataFrame has no order of its own."""
    source = folder / "spark.parquet"
    pq.write_table(table, source)
    frame = session.read.parquet(str(source)).repartition(3)
    for kind, mechanism in made.items():
        given = {
            "id": "number",
            "seed": SEED,
            "rename": rename_of(mechanism),
            "as_values": False,
            "keep": ["weight"],
            "uncovered": ["weight"],
        }
        rows = dc.release(frame, mechanism, **given).toArrow().sort_by("number")
        yield f"{kind}, by number, spark", digest(rows_of(rows))
    target = folder / "spark-released"
    with any_file():
        dc.release(source, made["optimal"], output=target, engine="spark", seed=SEED, as_values=False, force=True)
    yield "optimal, by place, spark files", digest(sorted(row["job"] for row in rows_of(target)))


def certified(table: pa.Table, made: dict[str, dc.Mechanism], folder: Path) -> Iterator[tuple[str, Any]]:
    """(what, claims) of the certificates of releases to files."""
    source, target, private = (folder / name for name in ("input.parquet", "certified.parquet", "private.json"))
    pq.write_table(table, source)
    for kind, mechanism in made.items():
        given = {
            "id": "number",
            "seed": SEED,
            "rename": rename_of(mechanism),
            "as_values": False,
            "keep": ["weight"],
            "uncovered": ["weight"],
            "force": True,
        }
        dc.release(source, mechanism, output=target, private_certificate=private, **given)
        stated = json.loads((folder / "certified.parquet.certificate.json").read_text())
        claims = {name: stated[name] for name in CLAIMS}
        # Digests of files, and what follows from them, depend on the version of whoever wrote their bytes.
        claims["key"] = {name: value for name, value in stated["key"].items() if name != "mac"}
        own = json.loads(private.read_text())
        claims["digests"] = {"mechanism": own["digests"]["mechanism"], "output": digest(rows_of(target))}
        yield kind, {**claims, "counts": digest(own["counts"])}


def exported(made: dict[str, dc.Mechanism], folder: Path) -> Iterator[tuple[str, str]]:
    """(what, digest) of exported SQL; what no dialect can hold is left out."""
    for kind, mechanism in made.items():
        stored = folder / "mechanism.json"
        mechanism.to_json(stored)
        for dialect in ("duckdb", "postgres", "spark"):
            name = rename_of(mechanism)
            command = ["export", str(stored), "--sql", dialect, "--id", "number", *(["--as", name] if name else [])]
            with contextlib.redirect_stdout(io.StringIO()) as text:
                assert run(command) == 0
            yield f"{kind}, {dialect}", digest(text.getvalue())


def designed() -> Iterator[tuple[str, dict[str, Any]]]:
    """(what, figures) of designs by every method; ``fingerprint`` is equal on one machine only."""
    for name, (joint, notions) in DESIGNS.items():
        for notion in notions:
            for method in dc.methods(notion):
                found = dc.design(joint, notion, method)
                yield (
                    f"{name}, {notion}, {method}",
                    {
                        "nmi": found.nmi,
                        "bound": found.bound,
                        "status": found.status,
                        "released": found.mechanism.n_released,
                        "fingerprint": found.mechanism.fingerprint,
                    },
                )


def text(content: dict[str, dict[str, Any]]) -> str:
    """JSON with an entry a line."""
    parts = [
        json.dumps(part) + ": {\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items()) + "\n}"
        for part, entries in content.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    from discreet.releasing.engines.spark import spark_session

    table = awkward_table(ROWS)
    made = fixed_mechanisms(table)
    session = spark_session("local[2]")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = {
            "mechanisms": {kind: mechanism.to_dict() for kind, mechanism in made.items() if kind != WIDE},
            "releases": dict(released(table, made, folder)),
            "spark": dict(released_by_spark(table, made, session, folder)),
            "certificates": dict(certified(table, made, folder)),
            "exports": dict(exported(made, folder)),
            "designs": dict(designed()),
        }
    session.stop()
    STORED.write_text(text(content))


if __name__ == "__main__":
    main()
