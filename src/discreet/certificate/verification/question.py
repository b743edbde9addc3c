"""The queries that judge pairs of rows, as text.

Every pair is joined with the entry of the mechanism that its value and its label have. Tables ``discreet_symbols*`` and
``discreet_entries*`` (`drawing.entries`) and variables with the sub-keys must stand in the connection.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet.drawing.thresholds import Thresholds
from discreet.tables.dialect import DUCKDB, literal

__all__ = ["COUNTED", "MATCHED", "Question", "key_name"]

#: What is counted of all pairs, by name.
COUNTED = {
    "rows": "true",
    "strange": "NOT there_",
    "missing": "stands_ IS NULL",
    "changed": "changed_",
    "moved": "place_ IS DISTINCT FROM stands_",
    "wrong": "NOT coalesce(drawn_, false)",
}

#: A row of the release with its partner.
MATCHED = "there_ AND stands_ IS NOT NULL"


@dataclass(frozen=True)
class Question:
    """What is asked of pairs of rows.

    Attributes
    ----------
    draws : tuple of Thresholds
        One for each released column.
    has_key : bool
        Whether labels are compared with what the key draws.
    by_person : bool
        Whether records of one person share their draws, so that persons are counted instead of records.
    """

    draws: tuple[Thresholds, ...]
    has_key: bool
    by_person: bool

    def labelled(self, rows: str) -> str:
        """The same rows with labels ``y*``, where cells ``c*_*`` hold values; null where no label has such values."""
        for number, draw in enumerate(self.draws):
            cells = [f"c{number}_{k}" for k in range(draw.draw.n_columns if draw.draw.values is not None else 0)]
            if cells:
                same = " AND ".join(f"c.{cell} IS NOT DISTINCT FROM z.v{k}" for k, cell in enumerate(cells))
                rows = (
                    f"SELECT c.* EXCLUDE ({', '.join(cells)}), z.y AS y{number} FROM ({rows}) AS c "
                    f"LEFT JOIN discreet_values{number} AS z ON {same}"
                )
        return rows

    def judging(self, pairs: str) -> str:
        """A query over pairs of rows (see `Link`): numbers of `COUNTED` for every entry, -1 where there is none."""
        numbers = range(len(self.draws))
        entries = [f"{self._entry(number)} AS e{number}" for number in numbers]
        joins = "".join(self._symbols(number) + self._entries(number) for number in numbers)
        found = f"SELECT p.*, {', '.join([*entries, *self._hashed()])} FROM ({self.labelled(pairs)}) AS p{joins}"
        drawn = " AND ".join(map(self._is_drawn, numbers)) if self.has_key else "true"
        counted = [f"count(*) FILTER (WHERE {test}) AS {name}" for name, test in COUNTED.items()]
        counted += [f"{self._records} FILTER (WHERE {MATCHED}) AS n", *self._ones()]
        names, sets = (", ".join(text.format(number) for number in numbers) for text in ("e{}", "(e{})"))
        return (
            f"SELECT {names}, {', '.join(counted)} FROM (SELECT *, {drawn} AS drawn_ FROM ({found})) "
            f"GROUP BY GROUPING SETS ({sets})"
        )

    def drawing(self, rows: str) -> str:
        """A query for rows of the table (with ``k_*`` and ``id_``) and the labels ``y*`` that the key draws."""
        made = rows
        for number, draw in enumerate(self.draws):
            found = f"FROM ({made}) AS p{self._symbols(number)}"
            if draw.bits is not None:
                made = f"SELECT p.*, {self._bits(number)} AS y{number} {found}"
                continue
            hashed = f"SELECT p.*, w{number}.r AS r_, {self._u(number)} AS u_ {found}"
            entries = f"(SELECT * FROM discreet_entries{number} WHERE low < high)"
            made = (
                f"SELECT h.* EXCLUDE (r_, u_), v.y AS y{number} FROM ({hashed}) AS h "
                f"ASOF LEFT JOIN {entries} AS v ON h.r_ = v.r AND h.u_ >= v.low"
            )
        return made

    @property
    def _records(self) -> str:
        return "count(DISTINCT id_)" if self.by_person else "count(*)"

    def _symbols(self, number: int) -> str:
        """The join that finds the row of the mechanism by which a record is drawn."""
        names = [DUCKDB.identifier("k_" + column) for column in self.draws[number].inputs]
        same = [f"p.{name} IS NOT DISTINCT FROM w{number}.i{k}" for k, name in enumerate(names)]
        return f" LEFT JOIN discreet_symbols{number} AS w{number} ON {' AND '.join(same)}"

    def _entries(self, number: int) -> str:
        """The join that finds the entry of that row which has the label of a record."""
        if self.draws[number].bits is not None:
            return ""
        on = f"w{number}.r = v{number}.r AND p.y{number} = v{number}.y"
        return f" LEFT JOIN discreet_entries{number} AS v{number} ON {on}"

    def _entry(self, number: int) -> str:
        """The number of the entry that a record has; of bits, that of its row."""
        draw = self.draws[number]
        if draw.bits is None:
            return f"coalesce(v{number}.e, -1)"
        whole = f"regexp_full_match({DUCKDB.as_text(f'p.y{number}')}, '[01]{{{len(draw.symbols)}}}')"
        return f"CASE WHEN {whole} THEN coalesce(w{number}.r, -1) ELSE -1 END"

    def _hashed(self) -> list[str]:
        """What labels are judged by: the thresholds around u, and u itself where it decides anything."""
        made = []
        for number, draw in enumerate(self.draws if self.has_key else ()):
            if draw.bits is not None:
                made.append(f"{self._bits(number)} AS u{number}_")
                continue
            sure = f"v{number}.low = '{'0' * draw.digits}' AND v{number}.high = 'g' AND p.id_ IS NOT NULL"
            made.append(f"CASE WHEN {sure} THEN v{number}.low ELSE {self._u(number)} END AS u{number}_")
            made += [f"v{number}.low AS low{number}_", f"v{number}.high AS high{number}_"]
        return made

    def _is_drawn(self, number: int) -> str:
        if self.draws[number].bits is not None:
            return f"u{number}_ = y{number}"
        return f"u{number}_ >= low{number}_ AND u{number}_ < high{number}_"

    def _bits(self, number: int) -> str:
        """The string of bits that the key draws."""
        true, other = self.draws[number].bits or ("", "")
        return " || ".join(
            f"CASE WHEN {self._u(number, k)} < CASE WHEN w{number}.r = {k} THEN '{true}' "
            f"ELSE '{other}' END THEN '1' ELSE '0' END"
            for k in range(len(self.draws[number].symbols))
        )

    def _u(self, number: int, bit: int | None = None) -> str:
        text = f"getvariable({literal(key_name(number, bit))}) || w{number}.d || p.id_"
        return f"substr({DUCKDB.sha256(text)}, 1, {self.draws[number].digits})"

    def _ones(self) -> list[str]:
        """How often each place of a string of bits holds a one."""
        made = []
        for number, draw in enumerate(self.draws):
            text = DUCKDB.as_text(f"y{number}")
            for k in range(len(draw.symbols) if draw.bits is not None else 0):
                is_one = f"{MATCHED} AND substr({text}, {k + 1}, 1) = '1'"
                made.append(f"{self._records} FILTER (WHERE {is_one}) AS o{number}_{k}")
        return made


def key_name(number: int, bit: int | None = None) -> str:
    """Variable of a connection that holds a sub-key: no query text does."""
    return f"discreet_key{number}" if bit is None else f"discreet_key{number}_{bit}"
