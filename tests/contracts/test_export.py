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
import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet._support.visible import is_hidden
from discreet.drawing.thresholds import draws_of
from discreet.releasing.engines.export import _literal, export_sql
from discreet.tables.dialect import DUCKDB, POSTGRES, SPARK
from tests.conftest import missing
from tests.releases import AWKWARD, awkward_table, by_id, mechanisms, rename_of

KEY = dc.ReleaseKey.from_seed(6)

#: Labels that would steer a terminal, be replaced by Spark, or mean something else to a server with other settings.
HOSTILE = [
    "${env:HOME}", "${spark.app.name}", "$${x}{y}", "\\${env:HOME}", "c\\", "\\' OR 1=1 --", "\\u0041", "abc", "ABC",
    "\x1b[2J\x9b", "turn\u202eed", "\u200d\u200b", "a\r\nb\u2028", "\ufeff", "\U000e0001\U000e0101", "", " ",
]  # fmt: skip


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return awkward_table(500, seed=6)


@pytest.fixture(scope="module")
def kinds(table: pa.Table) -> dict[str, dc.Mechanism]:
    made = mechanisms(table)
    values = {f"{name}, in values": m.in_values() for name, m in made.items() if name not in ("oue", "attributes")}
    return made | values | {"attributes, in values": made["attributes"].in_values()}


@pytest.fixture(scope="module")
def hostile() -> tuple[pa.Table, dc.Mechanism]:
    """A table of such labels and a mechanism that releases them as they are, or as another one."""
    rng = np.random.default_rng(9)
    job = rng.integers(0, len(HOSTILE), 400)
    table = pa.table(
        {
            "name": [f"person {n}" for n in range(400)],
            "job": [HOSTILE[k] for k in job],
            "ill": (rng.random(400) < 0.3 + 0.02 * job).astype(int),
        }
    )
    return table, dc.design(dc.Joint.from_table(table, "ill", "job"), dc.LIP(0.4), "grr").mechanism


def subkeys(mechanism: dc.Mechanism) -> list[tuple[int, str]]:
    return [(k, KEY.subkey(draw.column, mechanism.fingerprint)) for k, draw in enumerate(draws_of(mechanism))]


def wanted(table: pa.Table, mechanism: dc.Mechanism) -> list[dict[str, Any]]:
    rename = None if mechanism.is_in_values else rename_of(mechanism)
    given = dc.release(table, mechanism, key=KEY, id="name", rename=rename, as_values=mechanism.is_in_values)
    return by_id(given, "name")


def _as_csv(row: dict[str, Any]) -> dict[str, str]:
    return {name: "no value" if value is None else str(value) for name, value in row.items()}


def statements(mechanism: dc.Mechanism, sql: str) -> list[str]:
    rename = None if mechanism.is_in_values else rename_of(mechanism)
    return export_sql(mechanism, sql, table="people", id="name", rename=rename)


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
        script = (
            people + keys + ";\n".join(tables) + f";\nCOPY ({query}) TO STDOUT (FORMAT csv, HEADER, NULL 'no value');\n"
        )
        done = subprocess.run(postgres, input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = sorted(csv.DictReader(io.StringIO(done.stdout, newline="")), key=lambda row: row["name"])
        assert found == [_as_csv(row) for row in wanted(table, mechanism)], name


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


def run_duckdb(setup: str, table: pa.Table, mechanism: dc.Mechanism) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute(setup)
        connection.execute("CREATE TABLE discreet_key (draw INTEGER, subkey VARCHAR)")
        connection.executemany("INSERT INTO discreet_key VALUES (?, ?)", subkeys(mechanism))
        *tables, query = statements(mechanism, "duckdb")
        for statement in tables:
            connection.execute(statement)
        return by_id(connection.sql(query).to_arrow_table(), "name")


@pytest.mark.parametrize(
    "setup",
    [
        "CREATE TABLE people AS FROM given",
        "CREATE TABLE people (name VARCHAR, job VARCHAR COLLATE NOCASE, ill BIGINT); INSERT INTO people FROM given",
        "CREATE TABLE people (name VARCHAR, job VARCHAR COLLATE NOCASE.NOACCENT, ill BIGINT); "
        "INSERT INTO people FROM given",
        "SET default_collation = 'nocase'; CREATE TABLE people AS FROM given",
    ],
)
def test_duckdb_draws_hostile_labels_whatever_the_collation(setup: str, hostile: tuple) -> None:
    table, mechanism = hostile
    assert run_duckdb(setup, table, mechanism) == wanted(table, mechanism)


def test_a_value_that_differs_in_case_is_outside(hostile: tuple) -> None:
    """A collation that ignores case must not find the row of another value."""
    setup = "CREATE TABLE people (name VARCHAR, job VARCHAR COLLATE NOCASE, ill BIGINT); INSERT INTO people FROM given"
    table = pa.table({"name": ["x"], "job": ["aBc"], "ill": [0]})
    with pytest.raises(duckdb.Error, match="outside the mechanism"):
        run_duckdb(setup, table, hostile[1])


def test_spark_draws_hostile_labels(hostile: tuple, spark: Any) -> None:
    table, mechanism = hostile
    assert spark.conf.get("spark.sql.variable.substitute") == "true"
    assert spark.sql("SELECT '${spark.app.name}' AS x").collect()[0].x == "discreet"  # it does substitute
    spark.createDataFrame(table.to_pandas()).createOrReplaceTempView("people")
    spark.createDataFrame(subkeys(mechanism), "draw int, subkey string").createOrReplaceTempView("discreet_key")
    *tables, query = statements(mechanism, "spark")
    for statement in tables:
        spark.sql(statement)
    assert by_id(spark.sql(query).toArrow(), "name") == wanted(table, mechanism)


@pytest.mark.parametrize("conforming", ["on", "off"])
@pytest.mark.parametrize("kind", ["TEXT", "TEXT COLLATE blind"])
def test_postgres_draws_hostile_labels(conforming: str, kind: str, hostile: tuple, postgres: list[str]) -> None:
    """Backslashes mean the same whatever the setting says, and a collation that ignores case changes nothing."""
    table, mechanism = hostile
    rows = ", ".join(
        "("
        + ", ".join(f"convert_from(decode('{row[c].encode().hex()}', 'hex'), 'UTF8')" for c in ("name", "job"))
        + ")"
        for row in table.to_pylist()
    )
    *tables, query = statements(mechanism, "postgres")
    script = (
        "CREATE COLLATION IF NOT EXISTS blind "
        "(provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n"
        f"SET standard_conforming_strings = {conforming};\nSET escape_string_warning = off;\n"
        f"CREATE TEMPORARY TABLE people (name TEXT, job {kind});\nINSERT INTO people VALUES {rows};\n"
        "CREATE TEMPORARY TABLE discreet_key (draw INTEGER, subkey TEXT);\n"
        f"INSERT INTO discreet_key VALUES (0, '{subkeys(mechanism)[0][1]}');\n" + ";\n".join(tables) + ";\n"
        f"SELECT encode(convert_to(name || ':' || job, 'UTF8'), 'hex') FROM ({query}) AS released;\n"
    )
    done = subprocess.run([*postgres, "-At"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = sorted(bytes.fromhex(line).decode() for line in done.stdout.split())
    assert found == sorted(f"{row['name']}:{row['job']}" for row in wanted(table, mechanism))


@pytest.mark.parametrize("sql", ["duckdb", "postgres", "spark"])
def test_the_text_holds_nothing_that_hides(sql: str, hostile: tuple, kinds: dict) -> None:
    for mechanism in (hostile[1], *kinds.values()):
        text = "\n".join(statements(mechanism, sql)).replace("\n", "")
        assert not any(map(is_hidden, text))
        assert sql != "spark" or "${" not in text


def test_ordinary_labels_are_written_as_they_are() -> None:
    plain = [label for label in AWKWARD if label is not None and not any(map(is_hidden, label)) and "\\" not in label]
    assert len(plain) == 4
    for label in plain:
        quoted = "'" + label.replace("'", "''") + "'"
        assert _literal(DUCKDB, label) == _literal(POSTGRES, label) == quoted
        assert _literal(SPARK, label) == "'" + label.replace("'", "\\'") + "'"
    assert _literal(POSTGRES, "back\\slash") == "E'back\\\\slash'"


@pytest.mark.parametrize("sql", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize(
    "name", ["bell\x07", "turn\u202e", "two\nlines", "nul\0", "${env:HOME}", "{table}", "per\u200csian"]
)
def test_names_are_taken_literally_or_refused(sql: str, name: str, kinds: dict) -> None:
    mechanism = kinds["optimal"]
    of_column = dc.Mechanism.from_dict({**mechanism.to_dict(), "useful_columns": [name]})
    for made, given in (
        (mechanism, {"table": name, "id": "id"}),
        (mechanism, {"table": "t", "id": name}),
        (mechanism, {"table": "t", "id": "id", "rename": name}),
        (of_column, {"table": "t", "id": "id", "rename": "job"}),
    ):
        if name in ("{table}", "per\u200csian") or (name == "${env:HOME}" and sql != "spark"):
            assert name in export_sql(made, sql, **given)[-1]
        else:
            with pytest.raises(dc.errors.InputError, match="variable" if "$" in name else "invisible"):
                export_sql(made, sql, **given)


def test_postgres_has_no_character_0(hostile: tuple) -> None:
    stored = hostile[1].to_dict()
    labels = [label if label != "abc" else "a\0c" for label in stored["useful"]]
    mechanism = dc.Mechanism.from_dict({**stored, "useful": labels})
    with pytest.raises(dc.errors.InputError, match="character 0"):
        statements(mechanism, "postgres")


def test_no_key_is_part_of_the_text(kinds: dict) -> None:
    for mechanism in kinds.values():
        for sql in ("duckdb", "spark", "postgres"):
            text = "\n".join(statements(mechanism, sql))
            assert all(subkey not in text for _, subkey in subkeys(mechanism))


def test_unknown_dialects_are_refused(kinds: dict) -> None:
    with pytest.raises(dc.errors.InputError, match="duckdb, postgres, spark"):
        export_sql(kinds["optimal"], "oracle", table="people", id="name")
