"""The certificate of a release: what the mechanism keeps on this table, and what was published, with digests."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

from discreet._support import jsonable
from discreet._support.errors import DiscreetWarning, InvalidMechanismError
from discreet.certificate import Certificate, certify
from discreet.certificate.record import trusted
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.releasing.checks import Checked
from discreet.releasing.plan import Plan
from discreet.releasing.prepared import Prepared
from discreet.tables.dialect import plain_kind
from discreet.tables.digest import file_digest, part_digests
from discreet.tables.session import DuckDBTable, Limits, open_table

__all__ = ["NOT_PRIVATE", "certified", "codebook_text", "output_digest", "promised"]

NOT_PRIVATE = "reproducible, not private"


def promised(ready: Prepared) -> Certificate:
    """What the mechanism keeps on the counts of the table, decided in integers: no row is needed for it."""
    plan, checked, proof = ready.plan, ready.checked, ready.request.proof
    if checked.has_sensitive:
        made = certify(plan.mechanism, checked.joint, plan.notion, proof=proof, after=ready.after)
    else:
        made = trusted(plan.mechanism, checked.joint, plan.notion)
    if proof is not None and made["bound"] is None:
        warnings.warn(
            "the proof (proof, --proof) proves no limit on this table and after what was published before, so the "
            "certificate states no bound. Take the proof that was designed for both (design --ledger).",
            DiscreetWarning,
            stacklevel=2,
        )
    return made


def certified(
    ready: Prepared, base: Certificate, written: Path, output: str | dict[str, str], codebook: str | None, spill: Path
) -> Certificate:
    """The certificate, private part included, of what was written under a temporary name.

    ``base`` is `promised`, ``output`` the digest of what was written.
    """
    request, plan, checked = ready.request, ready.plan, ready.checked
    joint = checked.joint
    table = ready.engine.table if isinstance(ready.engine.table, DuckDBTable) else None
    published = [name for _, name in plan.output]
    limits = Limits(request.memory_limit, str(spill))
    with open_table(written, published, limits=limits, beside=table) as released:
        rows = released.count()
    digests = _digests(ready, base, output, codebook)
    hidden = {"keyed_digests": request.key.keyed_digests(digests)} if ready.hides_mechanism else {}
    stated = base.with_fields(
        rows={"input": joint.records, "output": rows},
        digests=digests,
        private_mechanism=ready.hides_mechanism,
        columns=_columns(ready),
        order="shuffle" if plan.shuffle else "input",
        engine=ready.engine.name,
        key={
            "fingerprint": request.key.fingerprint,
            "mac": "",
            "draw": "private" if request.key.is_private else NOT_PRIVATE,
        },
        checked_on="this table" if checked.has_sensitive else "the design only (trusted)",
        unseen=_unseen(plan, checked),
        **ready.beside.to_dict(),
        persons=None if ready.persons is None else ready.persons.to_dict(),
        **_value_types(ready),
        versions={**base["versions"], "duckdb": _duckdb_version()},
        input_key=request.key.input_key,
        **hidden,
    )
    if request.public_counts:
        stated = stated.with_public_counts(None if ready.persons is None else ready.persons.fewest)
    return stated.with_fields(key={**stated["key"], "mac": request.key.mac(stated.authenticated())})


def output_digest(written: Path) -> str | dict[str, str]:
    """Of a file its digest, of a folder that of each file."""
    return part_digests(written) if written.is_dir() else file_digest(written)


def _digests(ready: Prepared, base: Certificate, output: Any, codebook: str | None) -> dict[str, Any]:
    """Of the mechanism, the release, the table and the codebook."""
    return {
        "mechanism": base["digests"]["mechanism"],
        "output": output,
        "input": None if ready.content is None else {"of": ready.content.of, "hmac": ready.input_digest},
        "codebook": None if codebook is None else hashlib.sha256(codebook.encode()).hexdigest(),
    }


def _columns(ready: Prepared) -> dict[str, Any]:
    """Which columns were read, and which are published as what."""
    plan = ready.plan
    return {
        "input": list(ready.engine.table.kinds),
        "sensitive": list(plan.mechanism.sensitive_columns),
        "useful": list(plan.useful),
        "id": plan.id,
        "person": plan.person,
        "released": list(plan.released),
        "kept": list(plan.kept),
        "published": [name for _, name in plan.output],
    }


def _value_types(ready: Prepared) -> dict[str, Any]:
    """In values: the types that the released columns have in the table, in DuckDB's words."""
    plan, kinds = ready.plan, ready.engine.table.kinds
    if not plan.is_in_values:
        return {}
    sources = [column for draw in plan.draws for column in draw.outputs]
    bins = plan.mechanism.bins
    return {
        "value_types": {n: "VARCHAR" if c in bins else plain_kind(kinds[c]) for n, c in zip(plan.released, sources)}
    }


def _unseen(plan: Plan, checked: Checked) -> dict[str, Any] | None:
    """What unknown values were treated as, and how many rows carried one."""
    stands_for = next(iter(checked.suppressed.values()), None)
    if stands_for is None:
        return None
    useful = stands_for[-len(plan.useful) :]
    label = useful if len(useful) > 1 else useful[0]
    return {"treated_as": labels.encode(label), "rows": checked.suppressed_rows}


def codebook_text(mechanism: Mechanism, joint: Joint) -> str | None:
    """P(x | y) on a counted table as JSON, or None where the mechanism lists no released values.

    Rounded to three digits: with all of them, and the weights, the exact counts of x could be worked out.
    """
    try:
        book = mechanism.codebook(joint)
    except InvalidMechanismError:
        return None
    shown = {
        y: [{"useful": labels.encode(x), "probability": round(p, 3)} for x, p in row.items() if p >= 0.0005]
        for y, row in book.items()
    }
    return jsonable.dumps({"format": "discreet-codebook/1", "codebook": shown}) + "\n"


def _duckdb_version() -> str:
    import duckdb

    return str(duckdb.__version__)
