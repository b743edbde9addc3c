"""Tables and mechanisms that tests of releases share."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pyarrow as pa

from discreet import LIP, SRLIP, Joint, Mechanism, design

AWKWARD = ["it's", 'say "x", y', "é 😀", "two\nlines", "tab\there", "back\\slash", "null", None]


def awkward_table(rows: int, seed: int = 0) -> pa.Table:
    """Useful values of every awkward kind, ids of three types, and columns to keep; in no order."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, len(AWKWARD), rows)
    ill = (rng.random(rows) < 0.2 + 0.07 * job).astype(np.int64)
    age = rng.integers(0, 100, rows)
    numbers = rng.permutation(rows).astype(np.int64) - rows // 2
    return pa.table(
        {
            "number": numbers,
            "name": [f"person {n}, 'of' \"{n % 7}\"" for n in numbers.tolist()],
            "uuid": [str(uuid.UUID(int=int(n) + rows)) for n in numbers.tolist()],
            "job": pa.array([AWKWARD[k] for k in job], pa.string()),
            "sex": pa.array([("f", "m")[k] for k in rng.integers(0, 2, rows)]),
            "ill": ill,
            "age": age,
            "weight": rng.random(rows),
        }
    )


def mechanisms(table: pa.Table) -> dict[str, Mechanism]:
    """One mechanism of every kind, designed on the table."""
    job = Joint.from_table(table, "ill", "job")
    both = Joint.from_table(table, "ill", ["job", "sex"])
    age = Joint.from_table(table, "ill", "age", bins={"age": [18, 40, 65]})
    years = Joint.from_table(table, "ill", "age")
    return {
        "optimal": design(job, LIP(0.3)).mechanism,
        "merging": design(job, LIP(0.3), "subset-merging").mechanism,
        "grr on 100 values": design(years, LIP(0.05), "grr").mechanism,
        "oue": design(job, LIP(0.3), "oue").mechanism,
        "conditional reporting": design(job, LIP(0.3), "conditional-reporting").mechanism,
        "two columns": design(both, LIP(0.3)).mechanism,
        "attributes": design(both, SRLIP(0.8), "independent-attributes").mechanism,
        "binned": design(age, LIP(0.02)).mechanism,
    }


def rename_of(mechanism: Mechanism) -> str | None:
    """The name that a release needs where several useful columns become one."""
    return "both" if len(mechanism.useful_columns) > 1 and mechanism.kind != "attributes" else None


def by_id(table: Any, column: str) -> list[dict[str, Any]]:
    """Rows sorted by their id."""
    return table.sort_by(column).to_pylist()  # type: ignore[no-any-return]
