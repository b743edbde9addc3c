"""The exported SQL draws the same bits on DuckDB, Spark and PostgreSQL."""

from __future__ import annotations

import csv
import io
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet as dc
from discreet.drawing.thresholds import draws_of
from discreet.releasing.engines.export import export_sql
from tests.conftest import missing
from tests.releases import awkward_table, by_id, mechanisms, rename_of

KEY = dc.ReleaseKey.from_seed(6)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return awkward_table(500, seed=6)


@pytest.fixture(scope="module")
def kinds(table: pa.Table) -> dict[str, dc.Mechanism]:
    return mechanisms(table)


def subkeys(mechanism: dc.Mechanism) -> list[tuple[int, str]]:
    return [(k, KEY.subkey(draw.column, mechanism.fingerprint)) for k, draw in enumerate(draws_of(mechanism))]


def wanted(table: pa.Table, mechanism: dc.Mechanism) -> list[dict[str, Any]]:
    return by_id(dc.release(table, mechanism, key=KEY, id="name", rename=rename_of(mechanism)), "name")


def statements(mechanism: dc.Mechanism, sql: str) -> list[str]:
    return export_sql(mechanism, sql, table="people", id="name", rename=rename_of(mechanism))


def test_duckdb_runs_it(table: pa.Table, kinds: dict) -> None:
    for name, mechanism in kinds.items():
        connection = duckdb.connect()
        connection.register("people", table)
        connection.execute("CREATE TABLE discreet_key (draw INTEGER, subkey VARCHAR)")
        connection.executemany("INSERT INTO discreet_key VALUES (?, ?)", subkeys(mechanism))
        *tables, query = statements(mechanism, "duckdb")
        for statement in tables:
            connection.execute(statement)
        assert by_id(connection.sql(query).to_arrow_table(), "name") == wanted(table, mechanism), name
        connection.close()


def test_spark_runs_it(table: pa.Table, kinds: dict, spark: Any) -> None:
    spark.createDataFrame(table.to_pandas()).createOrReplaceTempView("people")
    for name, mechanism in kinds.items():
        spark.createDataFrame(subkeys(mechanism), "draw int, subkey string").createOrReplaceTempView("discreet_key")
        *tables, query = statements(mechanism, "spark")
        for statement in tables:
            spark.sql(statement)
        assert by_id(spark.sql(query).toArrow(), "name") == wanted(table, mechanism), name


def server_programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    for folder in [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]:
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    return Path(found).parent if found else None


@pytest.fixture(scope="module")
def postgres() -> Iterator[list[str]]:
    """A server on loopback in a temporary folder; the beginning of a psql command that talks to it."""
    programs = server_programs()
    if programs is None or shutil.which("psql") is None:
        missing("PostgreSQL is not installed")
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # the server refuses to run as root
    if user:
        shutil.chown(folder, "postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    data = folder / "data"
    subprocess.run(
        [*user, programs / "initdb", "-D", data, "-A", "trust", "-U", "discreet", "-E", "UTF8", "--locale", "C.UTF-8"],
        check=True, capture_output=True, cwd=folder,
    )  # fmt: skip
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    subprocess.run(
        [*user, programs / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"],
        check=True, stdout=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    time.sleep(0.2)
    try:
        yield ["psql", "-h", "127.0.0.1", "-p", port, "-U", "discreet", "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
    finally:
        subprocess.run(
            [*user, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=True,
            stdout=subprocess.DEVNULL, cwd=folder,
        )  # fmt: skip
        shutil.rmtree(folder, ignore_errors=True)


def literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"


def test_postgres_runs_it(table: pa.Table, kinds: dict, postgres: list[str]) -> None:
    columns = ["name", "job", "sex", "ill", "age"]
    rows = ", ".join(
        "(" + ", ".join(literal(row[c]) for c in columns) + ")" for row in table.select(columns).to_pylist()
    )
    people = (
        "CREATE TEMPORARY TABLE people (name TEXT, job TEXT, sex TEXT, ill BIGINT, age BIGINT);\n"
        f"INSERT INTO people VALUES {rows};\n"
    )
    for name, mechanism in kinds.items():
        keys = "CREATE TEMPORARY TABLE discreet_key (draw INTEGER, subkey TEXT);\n" + "".join(
            f"INSERT INTO discreet_key VALUES ({k}, '{subkey}');\n" for k, subkey in subkeys(mechanism)
        )
        *tables, query = statements(mechanism, "postgres")
        script = people + keys + ";\n".join(tables) + f";\nCOPY ({query}) TO STDOUT (FORMAT csv, HEADER);\n"
        done = subprocess.run(postgres, input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = sorted(csv.DictReader(io.StringIO(done.stdout, newline="")), key=lambda row: row["name"])
        assert found == wanted(table, mechanism), name


def test_values_outside_the_mechanism_fail(table: pa.Table, kinds: dict, postgres: list[str]) -> None:
    *tables, query = statements(kinds["optimal"], "postgres")
    script = (
        "CREATE TEMPORARY TABLE people (name TEXT, job TEXT);\nINSERT INTO people VALUES ('a', 'spy');\n"
        "CREATE TEMPORARY TABLE discreet_key (draw INTEGER, subkey TEXT);\n"
        f"INSERT INTO discreet_key VALUES (0, '{'0' * 32}');\n" + ";\n".join(tables) + f";\n{query};\n"
    )
    done = subprocess.run(postgres, input=script, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "outside the mechanism" in done.stderr
    assert "spy" not in done.stderr


def test_no_key_is_part_of_the_text(kinds: dict) -> None:
    for mechanism in kinds.values():
        for sql in ("duckdb", "spark", "postgres"):
            text = "\n".join(statements(mechanism, sql))
            assert all(subkey not in text for _, subkey in subkeys(mechanism))


def test_unknown_dialects_are_refused(kinds: dict) -> None:
    with pytest.raises(dc.errors.InputError, match="duckdb, postgres, spark"):
        export_sql(kinds["optimal"], "oracle", table="people", id="name")
