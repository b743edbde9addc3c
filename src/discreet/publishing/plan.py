"""How a table was published, kept for later ones: model, classes, design and the roles of columns.

What is stored holds trained models, which Python stores as code to be run. A code of the key stands over it, and is
checked before anything is read: only whoever has the key of the publication can have written it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import pickle
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._support import files
from discreet._support.errors import InputError
from discreet._support.version import version
from discreet.drawing.keys import ReleaseKey
from discreet.notions import Notion
from discreet.publishing.beliefs import default_model
from discreet.publishing.fitting import Fitted
from discreet.publishing.roles import Roles

if TYPE_CHECKING:
    from discreet.publishing.publication import Publication

__all__ = ["PublicationPlan", "load_plan"]

FORMAT = "discreet-plan/1"

#: Bytes of a file that are read at most.
MOST_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class PublicationPlan:
    """What `Publication.apply` takes to later tables.

    Attributes
    ----------
    roles : Roles
        What becomes of each column.
    notion : Notion
        The promise.
    fitted : Fitted
        Model, classes and design.
    weights : dict of str to float
        Of columns, for the distance between twins.
    key : ReleaseKey
        The secret of the first draw, which folds follow from.
    """

    roles: Roles
    notion: Notion
    fitted: Fitted = field(repr=False)
    weights: Mapping[str, float]
    key: ReleaseKey = field(repr=False)

    def apply(self, table: Any, *, key: Any = None, seed: int | None = None, **options: Any) -> Publication:
        """Publish a later table; see `Publication.apply`."""
        from discreet.publishing.front import publish_later

        return publish_later(self, table, key=self.key if key is None and seed is None else key, seed=seed, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a private file that `load_plan` reads with the same key."""
        files.write_text(path, self.text(), private=True)

    def text(self) -> str:
        """What `save` writes."""
        self.check_fitted()
        fitted = replace(self.fitted, settings=replace(self.fitted.settings, make=default_model))  # used no more
        held = pickle.dumps((self.roles, self.notion, fitted, dict(self.weights)), protocol=5)
        body = {
            "format": FORMAT,
            "versions": _versions(),
            "plan": base64.b64encode(zlib.compress(held)).decode(),
        }
        return json.dumps({**body, "code": _code(body, self.key)})

    @property
    def n_turns(self) -> int:
        """Secrets of which every record counts for one."""
        return self.fitted.rule.n_turns

    def check_fitted(self) -> None:
        """Refuse what no later table can be published by."""
        if self.fitted.beliefs is None:
            raise InputError("counted beliefs are about one table's own records. Publish the later table by itself.")


def load_plan(path: str | os.PathLike[str], key: Any) -> PublicationPlan:
    """Read what `PublicationPlan.save` wrote.

    Parameters
    ----------
    path : path
        Of the plan.
    key : ReleaseKey, bytes or path
        Of the publication: a plan that somebody else wrote is not read.
    """
    name, secret = os.fspath(path), ReleaseKey.of(key)
    body = _body(name)
    given = body.pop("code", "")
    if not (isinstance(given, str) and hmac.compare_digest(given.encode(), _code(body, secret).encode())):
        raise InputError(f"{name!r} was not written with this key, or has been changed since. Nothing of it is read.")
    _check_versions(name, body["versions"])
    roles, notion, fitted, weights = pickle.loads(zlib.decompress(base64.b64decode(body["plan"])))
    return PublicationPlan(roles, notion, fitted, weights, secret)


def _body(name: str) -> dict[str, Any]:
    try:
        with Path(name).open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        found = json.loads(content) if len(content) <= MOST_BYTES else None
    except OSError as error:
        raise InputError(f"cannot read the plan {name!r}: {error.strerror}.") from None
    except (ValueError, binascii.Error, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{name!r} is not a plan of a publication.")
    return found


def _code(body: Mapping[str, Any], key: ReleaseKey) -> str:
    """A code that the key's owner alone can make."""
    content = json.dumps(body, sort_keys=True).encode()
    return hmac.new(key.derive("plan"), content, hashlib.sha256).hexdigest()


def _versions() -> dict[str, str]:
    from importlib import metadata

    return {"discreet": version(), "scikit-learn": metadata.version("scikit-learn")}


def _check_versions(name: str, stored: Mapping[str, str]) -> None:
    """Models of another version may say something else, or nothing."""
    here = _versions()
    other = [package for package in here if stored.get(package) != here[package]]
    if other:
        listed = ", ".join(f"{package} {stored.get(package)} (here {here[package]})" for package in other)
        raise InputError(f"{name!r} was written with {listed}. Install what it needs, or publish the table by itself.")
