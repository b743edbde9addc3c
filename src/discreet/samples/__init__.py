"""Built-in sample data, so that every example runs without a download."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib import resources
from typing import Any

__all__ = ["adult", "names"]


def names() -> tuple[str, ...]:
    """Names of the samples, which the command line takes as ``sample:NAME``."""
    return ("adult",)


def adult() -> Any:
    """UCI Adult (census income), all 32,561 records of its training part, seven columns, as an Arrow table.

    The package ships the counts of the combinations; they are spread out into records here. ``?`` marks a
    missing occupation and is kept as a value. Source: Becker, B. and Kohavi, R. (1996), Adult, UCI Machine
    Learning Repository, doi:10.24432/C5XW20, licence CC BY 4.0.

    Examples
    --------
    >>> adult().num_rows
    32561
    """
    import duckdb

    with (
        resources.as_file(resources.files(__name__) / "adult_counts.parquet") as path,
        duckdb.connect(config={"temp_directory": ""}) as connection,  # it fits into memory, and never spills
    ):
        counts = connection.read_parquet(str(path))
        records = counts.project("* EXCLUDE (count), unnest(range(count)) AS copy").project("* EXCLUDE (copy)")
        return records.to_arrow_table()
