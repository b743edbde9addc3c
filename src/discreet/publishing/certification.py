"""The certificate of a published table: the promise on classes, what was kept, and what lets its owner redo the draw.

The public part says what is promised, how classes were made and how much is unchanged. The private one adds the counts
of (S, class), the class of every record, how the secret is read, and the attack.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support import jsonable
from discreet.certificate import Certificate, certify
from discreet.certificate.record import private_mac
from discreet.core.joint import Joint
from discreet.drawing.keys import ReleaseKey, input_hmac
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.publishing.fitting import Counted
from discreet.publishing.quality import Quality
from discreet.publishing.reading import PILOT_ONE_IN, Subject
from discreet.tables.digest import Content
from discreet.twins.store import packed, state_of

__all__ = ["certified", "promised", "redo_of"]

NOT_PRIVATE = "reproducible, not private"


def promised(mechanism: Mechanism, joint: Joint, notion: Notion, proof: Any) -> Certificate:
    """What the channel between classes keeps on their counts, decided in integers; refused where it breaks it."""
    return certify(mechanism, joint, notion, proof=proof)


def certified(
    base: Certificate,
    subject: Subject,
    *,
    key: ReleaseKey,
    content: Content,
    output: str | dict[str, str] | None,
    published: Sequence[str],
    inputs: Sequence[str],
    how: Mapping[str, Any],
    private: Mapping[str, Any],
    quality: Quality,
    weights: Mapping[str, float],
    rows: int,
    redo: Mapping[str, str],
    is_shuffled: bool,
    engine: str,
    after: list[str | None] | None = None,
) -> Certificate:
    """The whole certificate.

    ``output`` is the digest of what was written, ``redo`` what drawing again needs, ``after`` what a ledger says was
    published before.
    """
    roles = subject.roles
    publication: dict[str, Any] = {
        "columns": {
            "input": list(inputs),
            "sensitive": list(roles.sensitive),
            "useful": list(published),
            "dropped": list(roles.dropped),
            "ids": list(roles.ids),
            "person": [] if roles.person is None else [roles.person],
        },
        "rows": rows,
        "unchanged": _share(quality.unchanged),
        "columns_unchanged": {name: _share(kept.unchanged) for name, kept in quality.columns.items()},
        "classes": {**how, "folds": int(subject.folds.max()) + 1, "pilot_one_in": PILOT_ONE_IN},
        "weights": {name: f"{weight:g}" for name, weight in weights.items()},
        "order": "shuffle" if is_shuffled else "input",
        "engine": engine,
        "key": {
            "fingerprint": key.fingerprint,
            "mac": "",
            "draw": "private" if key.is_private else NOT_PRIVATE,
        },
        "digests": {
            "output": output,
            "input": {"of": content.of, "hmac": input_hmac(key.input_key, content.digest)},
        },
    }
    if after is not None:
        publication["after"] = after
    kept = {
        **redo,
        **{name: value if isinstance(value, str) else jsonable.dumps(value) for name, value in private.items()},
    }
    stated = base.with_fields(publication=publication, private_publication=kept, input_key=key.input_key)
    own = {**publication["key"], "mac": key.mac(stated.authenticated())}
    kept["mac"] = private_mac(key, kept, own["mac"])
    return stated.with_fields(publication={**publication, "key": own}, private_publication=kept)


def redo_of(subject: Subject, counted: Counted, twins: str) -> dict[str, str]:
    """What drawing again in memory needs: the class of every different record, and who stood opposite whom."""
    by_row = subject.one_by_one
    return {
        "classes": packed(state_of(subject.records, counted.classes, by_row=by_row), "<u2"),
        "turns": packed(state_of(subject.records, counted.turns + 1, by_row=by_row), "u1"),
        "coupling": twins,
    }


def _share(value: float) -> str:
    """A share as certificates write numbers, rounded down."""
    return f"{np.floor(value * 1e6) / 1e6:.6f}"
