"""Publishing: a release with its certificate and codebook beside it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet._support import files, jsonable
from discreet._support.errors import InputError, InvalidMechanismError
from discreet.certificate import Certificate, certify
from discreet.certificate.record import trusted
from discreet.core import labels
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Mechanism
from discreet.releasing.pipeline import Released, release_table
from discreet.tables.digest import table_digest
from discreet.tables.files import is_spark, table_files
from discreet.tables.session import open_rows

__all__ = ["Published", "publish", "release", "sidecar"]

NOT_PRIVATE = "reproducible, not private"


@dataclass(frozen=True)
class Published:
    """A release and, where it was written to a file, its certificate."""

    released: Released
    certificate: Certificate | None = None


def release(
    table: Any,
    mechanism: Mechanism,
    *,
    key: Any = None,
    seed: int | None = None,
    id: str | None = None,
    keep: Sequence[str] | Literal["all"] = (),
    output: str | os.PathLike[str] | None = None,
    engine: str = "auto",
    **options: Any,
) -> Any:
    """Release a table: every useful value replaced by a draw from the mechanism.

    Before a row is drawn, the pairs (S, X) of this very table are counted and the promise is checked on them in
    integers; a release that would break it is refused.

    Parameters
    ----------
    table : frame or path
        pandas, Polars, Arrow, a DuckDB relation, a Spark DataFrame, or a path of CSV or Parquet files.
    mechanism : Mechanism
        What is drawn from.
    key : ReleaseKey, bytes or path, optional
        The secret of the draw: the same key, mechanism, record and value always give the same release, so that
        repeated releases tell nothing new. Another key or another mechanism draws anew, and several draws together
        tell more than one. Left out: a fresh key.
    seed : int, optional
        Instead of a key, for tests: the release can be repeated by anyone and protects nobody.
    id : str, optional
        Column of unique integers or texts; left out, the place of a row serves where it is stable.
    keep : list of str or "all"
        Further columns to publish as they are. They are not covered by the promise, and are audited.
    output : path, optional
        Where the table is written, with its certificate and codebook beside it; left out, frames come back as frames.
    engine : "auto", "duckdb" or "spark"
        Who does the work.
    **options
        ``rename`` of the released column; ``shuffle`` for a keyed random order; ``unseen="suppress"`` and
        ``suppress_as``; ``notion`` to check instead of the mechanism's own; ``trust_design`` where the table has no S;
        ``publish_id``, ``publish_sensitive``; ``audit`` of kept columns; ``force``, ``memory_limit``, ``master``;
        ``certificate``, ``private_certificate`` and ``proof`` as `publish` takes them.

    Returns
    -------
    frame or path
        The released table, of the kind that was given; ``output`` where that was given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet import LIP, Joint, design
    >>> table = pa.table({"ill": [0, 1, 0, 1, 1, 0] * 20, "job": ["a", "b", "b", "a", "b", "c"] * 20})
    >>> mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.5)).mechanism
    >>> release(table, mechanism, seed=1).column_names
    ['job']
    """
    return publish(
        table, mechanism, key=key, seed=seed, id=id, keep=keep, output=output, engine=engine, **options
    ).released.table


def publish(
    table: Any,
    mechanism: Mechanism,
    *,
    key: Any = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    certificate: bool = True,
    private_certificate: str | os.PathLike[str] | None = None,
    proof: Mapping[str, Any] | None = None,
    **options: Any,
) -> Published:
    """Release a table and certify the release.

    Beside an output appear ``OUTPUT.certificate.json``, which is public, and ``OUTPUT.codebook.json``, P(x | y) of
    every released value. ``private_certificate`` names a file for the counts and the ``proof`` of the bound, which only
    its owner may read.
    """
    secret = ReleaseKey.of(key, seed)
    if private_certificate is not None and (output is None or not certificate):
        raise InputError("a private certificate belongs to a release that is written to a file and certified.")
    if output is not None:
        _check_targets(
            table, Path(output), private_certificate, force, [key] if isinstance(key, str | os.PathLike) else []
        )
    made: list[Certificate] = []

    def beside(done: Released, temporary: Path) -> None:
        assert output is not None
        if certificate:
            full = _certificate(done, done.source, temporary, proof)
            made.append(full)
            if private_certificate is not None:
                full.to_json(private_certificate)
            full.public.to_json(sidecar(output, "certificate"))
        codebook = _codebook(done.plan.mechanism)
        if codebook is not None:
            files.write_text(sidecar(output, "codebook"), codebook)

    try:
        done = release_table(table, mechanism, key=secret, output=output, force=force, beside=beside, **options)
    except BaseException:
        if made and output is not None and not os.path.exists(output):
            _remove(sidecar(output, "certificate"), sidecar(output, "codebook"), private_certificate)
        raise
    return Published(done, made[0] if made else None)


def _check_targets(table: Any, output: Path, private: Any, force: bool, others: Sequence[Any]) -> None:
    """All files that a release writes are different ones, none of them is read, and none is lost without force."""
    read = [*(table_files(os.fspath(table)) if isinstance(table, str | os.PathLike) else []), *others]
    sides = [sidecar(output, "certificate"), sidecar(output, "codebook")]
    written = [output, *sides, *([] if private is None else [Path(private)])]
    real = [os.path.realpath(path) for path in written]
    if len(set(real)) < len(real):
        raise InputError("the output, its certificate, its codebook and the private certificate need different names.")
    if set(real[1:]) & {os.path.realpath(path) for path in read}:
        raise InputError("a certificate or codebook would replace a file that the release reads. Choose another name.")
    for path in written[1:]:
        # Sidecars of an output that is gone are stale; those of one that is there go with it.
        files.check_target(path, force=force or (path in sides and not output.exists()), never=read)


def _remove(*paths: str | os.PathLike[str] | None) -> None:
    for path in paths:
        if path is not None:
            with contextlib.suppress(OSError):
                os.unlink(path)


def sidecar(output: str | os.PathLike[str], what: str) -> Path:
    """Name of the file beside an output.

    >>> sidecar("jobs.parquet", "certificate").name
    'jobs.parquet.certificate.json'
    """
    target = Path(output)
    return target.with_name(f"{target.name}.{what}.json")


def _codebook(mechanism: Mechanism) -> str | None:
    """P(x | y) as JSON, or None where the mechanism does not know P(x) or lists no released values.

    Rounded to three digits: with all of them, and the weights, the exact counts of x could be worked out.
    """
    try:
        book = mechanism.codebook()
    except InvalidMechanismError:
        return None
    shown = {
        y: [{"useful": labels.encode(x), "probability": round(p, 3)} for x, p in row.items() if p >= 0.0005]
        for y, row in book.items()
    }
    return jsonable.dumps({"format": "discreet-codebook/1", "codebook": shown}) + "\n"


def _certificate(done: Released, table: Any, written: Path, proof: Mapping[str, Any] | None) -> Certificate:
    plan, joint = done.plan, done.checked.joint
    if done.checked.has_sensitive:
        base = certify(plan.mechanism, joint, plan.notion, proof=proof)
    else:
        base = trusted(plan.mechanism, joint, plan.notion)
    published = [name for _, name in plan.output]
    with open_rows(written, published) as source:
        digests = {"mechanism": plan.mechanism.fingerprint, "output": table_digest(source.relation, published)}
        rows = int(source.aggregate("count(*) AS n").column(0)[0].as_py())
    salt = done.key.derive("input-digest").hex()
    columns: list[str] = []
    if not is_spark(table):
        with open_rows(table, _all_columns(table)) as source:
            columns = list(source.columns)
            digests["input"] = table_digest(source.relation, columns, salt)
    stands_for = next(iter(done.checked.suppressed.values()), None)
    return base.with_fields(
        rows={"input": joint.records, "output": rows},
        digests=digests,
        columns={
            "input": columns,
            "sensitive": list(plan.mechanism.sensitive_columns),
            "useful": list(plan.useful),
            "id": plan.record,
            "released": list(plan.released),
            "kept": list(plan.kept),
            "published": published,
        },
        order="shuffle" if plan.shuffle else "input",
        engine=done.engine,
        key={"fingerprint": done.key.fingerprint, "draw": "private" if done.key.is_private else NOT_PRIVATE},
        checked_on="this table" if done.checked.has_sensitive else "the design only (trusted)",
        unseen=None if stands_for is None else _unseen(done, stands_for),
        not_covered=jsonable.plain(done.kept),
        versions={**base["versions"], "duckdb": _duckdb_version()},
        input_salt=salt,
    )


def _unseen(done: Released, stands_for: tuple[Any, ...]) -> dict[str, Any]:
    useful = stands_for[-len(done.plan.useful) :]
    label = useful if len(useful) > 1 else useful[0]
    return {"treated_as": labels.encode(label), "rows": done.checked.suppressed_rows}


def _all_columns(table: Any) -> list[str] | None:
    from discreet.tables import frames

    return None if isinstance(table, str | os.PathLike) else frames.columns_of(table)


def _duckdb_version() -> str:
    import duckdb

    return str(duckdb.__version__)
