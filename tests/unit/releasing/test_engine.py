"""An engine from outside the package: one class with ``opened`` and ``draw``, and its line in the registry."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.drawing.lookup import key_values
from discreet.releasing.engines import ENGINES
from discreet.releasing.engines.base import Drawing, Drawn
from discreet.releasing.request import Request
from discreet.tables.session import DuckDBTable, Limits, open_table
from tests.releases import awkward_table, mechanisms, rename_of


class OneByOne:
    """Draws row by row in Python: slow, and the plainest reading of what a draw is."""

    name: ClassVar[str] = "one-by-one"
    writes_folder: ClassVar[bool] = False

    def __init__(self, table: DuckDBTable) -> None:
        self.table = table

    @classmethod
    @contextlib.contextmanager
    def opened(cls, request: Request, spill: Path | None) -> Iterator[OneByOne]:
        limits = Limits(request.memory_limit, None if spill is None else str(spill))
        with open_table(request.table, places=True, limits=limits) as table:
            yield cls(table)

    def draw(self, drawing: Drawing, target: Path | None) -> Drawn:
        plan, mechanism = drawing.plan, drawing.plan.mechanism
        assert plan.record is not None
        assert target is not None
        rows = self.table.relation.order("discreet_file, discreet_row").to_arrow_table().to_pylist()
        symbols = self.table.relation.order("discreet_file, discreet_row").project(
            ", ".join(
                f'{self.table.dialect.symbol(c, self.table.kinds[c], mechanism.bins.get(c))} AS "{c}"'
                for c in plan.looked_up
            )
        )
        looked_up = symbols.to_arrow_table().to_pylist()
        published: dict[str, list[Any]] = {name: [] for _, name in plan.output}
        places = [
            {key_values(s, d.draw.inputs, mechanism.bins): k for k, s in enumerate(d.draw.symbols)}
            for d in drawing.tables
        ]
        released = [
            (n, place) for n, joined in enumerate(drawing.tables) for place in range(joined.draw.draw.n_columns)
        ]
        for row, found in zip(rows, looked_up):
            for what, name in plan.output:
                if isinstance(what, str):
                    published[name].append(row[what])
                    continue
                n, place = released[what]
                draw = drawing.tables[n].draw
                number = places[n][tuple(found[c] for c in draw.inputs)]
                label = draw.label(drawing.keys.columns[n], number, str(row[plan.record]))
                values = draw.draw.values
                published[name].append(label if values is None else values[label][place])
        pq.write_table(pa.table(published), target)
        return Drawn(None, len(rows))


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, OneByOne.name, (OneByOne.__module__, OneByOne.__name__))
    assert OneByOne.__module__ in sys.modules


@pytest.mark.usefixtures("registered")
def test_an_engine_from_outside_gives_the_same_release_and_claims(tmp_path: Path) -> None:
    """Every kind of mechanism, through the same checks, transaction and certificate."""
    table = awkward_table(300)
    pq.write_table(table, tmp_path / "in.parquet")
    made = mechanisms(table)
    # By default some are released in values and others as labels; these are asked for in the other way.
    asked = [(mechanism, None) for mechanism in made.values()] + [(made["optimal"], False), (made["attributes"], True)]
    for mechanism, as_values in [*asked, (made["two columns"], True)]:
        results = []
        for engine in ("duckdb", OneByOne.name):
            output = tmp_path / f"{engine}.parquet"
            given = {
                "id": "number",
                "keep": ["weight"],
                "uncovered": ["weight"],
                "seed": 3,
                "rename": None if as_values else rename_of(mechanism),
                "as_values": as_values,
                "force": True,
                "private_certificate": tmp_path / "private.json",  # few records stand behind some of the mechanisms
            }
            dc.release(tmp_path / "in.parquet", mechanism, output=output, engine=engine, **given)
            certificate = dc.Certificate.from_json(f"{output}.certificate.json").to_dict()
            assert certificate["engine"] == engine
            digests = {name: value for name, value in certificate["digests"].items() if name != "output"}  # of bytes
            results.append((pq.read_table(output).to_pylist(), digests, certificate["achieved"]))
            assert dc.verify(tmp_path / "private.json", tmp_path / "in.parquet", output)
        assert results[0] == results[1]


def test_an_unknown_engine_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    table = awkward_table(50)
    mechanism = mechanisms(table)["merging"]
    with pytest.raises(dc.errors.InputError, match="'auto', 'duckdb', 'spark'"):
        dc.release(table, mechanism, engine="one-by-one")
