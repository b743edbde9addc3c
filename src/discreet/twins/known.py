"""Classes of a table's records, kept so that they can be told again when something else is published of the same ones.

Classes follow from models that are not kept; what is kept is a small number for every different record, in the order of
their digests. They are those of one table: of other records nothing is known.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._support.numeric import IntArray
from discreet.twins.records import Records
from discreet.twins.store import packed, state_of, unpacked

__all__ = ["KnownClasses"]


@dataclass(frozen=True)
class KnownClasses:
    """The class of every record of a table.

    Attributes
    ----------
    columns : tuple of str
        The useful ones, which tell records apart.
    records : str
        Digest of all records.
    packed : str
        Classes of the different ones.
    """

    columns: tuple[str, ...]
    records: str
    packed: str

    @classmethod
    def of(cls, columns: Sequence[str], records: Records, classes: IntArray) -> KnownClasses:
        """Those of records that were read by these columns."""
        return cls(tuple(columns), records.content, packed(state_of(records, classes), "<u2"))

    def read(self, records: Records) -> IntArray | None:
        """The class of each row of the same records, in any order; None of others."""
        if records.content != self.records:
            return None
        result: IntArray = unpacked(self.packed, "<u2", records.n_tuples)[records.tuples]
        return result

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"columns": list(self.columns), "records": self.records, "packed": self.packed}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> KnownClasses:
        """What `to_dict` gave."""
        return cls(tuple(stored["columns"]), str(stored["records"]), str(stored["packed"]))
