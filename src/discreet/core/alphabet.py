"""Alphabets of any size: distinct labels in their order, of which one is made only where it is looked at."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["Alphabet", "Cells", "Tuples"]


class Alphabet(Sequence[Any]):
    """Distinct labels, each a plain Python value once it is looked at; what makes one vouches for both.

    `Joint.useful` is the tuple of all of them, for who needs every label; a million of those cost seconds.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def label(self, place: int) -> Any:
        """The label at a place from 0 on."""

    @abstractmethod
    def listed(self) -> list[Any]:
        """All labels."""

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(self.label(k) for k in range(*place.indices(len(self))))
        return self.label(range(len(self))[place])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.listed())


class Tuples(Alphabet):
    """Labels of several columns: tuples whose parts are looked up by code.

    >>> import numpy as np
    >>> pairs = Tuples([["a", "b"], [7, None]], np.array([[0, 1, 1], [1, 0, 1]]))
    >>> pairs[0], list(pairs)
    (('a', None), [('a', None), ('b', 7), ('b', None)])
    """

    def __init__(self, parts: Sequence[Sequence[Any]], codes: NDArray[np.integer[Any]]) -> None:
        self.parts, self.codes = tuple(parts), codes

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def label(self, place: int) -> tuple[Any, ...]:
        return tuple(part[int(code)] for part, code in zip(self.parts, self.codes[:, place]))

    def listed(self) -> list[Any]:
        columns = (map(list(part).__getitem__, codes.tolist()) for part, codes in zip(self.parts, self.codes))
        return list(zip(*columns))


class Cells(Alphabet):
    """The distinct values of a column, held by an array of Arrow's."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def label(self, place: int) -> Any:
        return self.values[place].as_py()

    def listed(self) -> list[Any]:
        values: list[Any] = self.values.to_pylist()
        return values
