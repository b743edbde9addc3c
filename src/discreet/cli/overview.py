"""The first page of help, which needs nothing imported: what there is, one line for each command."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping

__all__ = ["ASKS_FOR_OVERVIEW", "COMMANDS", "EVERY_COMMAND", "PURPOSE", "overview"]

PURPOSE = (
    "Publish a table without publishing its secret. Exit codes: 0 fine, 1 the privacy budget is not met, "
    "2 wrong usage, 3 unusable data."
)

EVERY_COMMAND = (
    "Every command also takes --quiet (nothing on stderr but errors: no progress, notes or warnings), "
    "--log FILE (append what is done, when, and the seconds it took, to a file that its owner alone may read) and "
    "--debug (show tracebacks)."
)

#: File and function of each command, and its line of the overview: the first of its docstring.
COMMANDS = {
    "publish:publish": "Publish a whole table without its secret: all useful columns together, under one promise, and attacked.",
    "audit:audit": "Measure how much the useful columns tell about the sensitive ones.",
    "design:design": "Design a mechanism that keeps a privacy notion and loses as little as the method can.",
    "compare:compare": "Design with every method that serves a notion, and show what each keeps, leaks and reads, best first.",
    "frontier:frontier": "Sweep the budget: what is kept of the useful columns, and what leaks, under several methods.",
    "quantise:quantise": "Merge useful values so that the sensitive values they can occur with are many, or cannot be told apart.",
    "release:release": "Release a table: every useful value replaced by a draw from the mechanism.",
    "ledger:ledger": "Show what a ledger says was published, whether it is whole, and how far inside of a promise all releases stay.",
    "attack:attack": "Try to learn the sensitive columns from a release of any tool; exit code 1 where a promise is broken.",
    "certify:certify": "Certify that a mechanism keeps its promise on a table; exit code 1 where it does not.",
    "sign:sign": "Sign a certificate with an Ed25519 key of OpenSSH; verify --signer and ssh-keygen -Y verify check it.",
    "certify:verify": "Verify a certificate; exit code 1 where anything fails or the level asked for is not reached.",
    "report:report": "Write a report for those who decide on a release: the verdict, what it protects, keeps and changes, its limits.",
    "export:export": "Give the draw as SQL: lookup tables and one query, the same bits as a release.",
    "reproduce:reproduce": "Compute the figures and stated numbers of the papers anew, and say which agree.",
    "demo:demo": "Tell the whole story on the built-in Adult data: audit, compare, design, release, verify, report, publish.",
}

OPTIONS = {
    "COMMAND --help": "What a command does, and all of its options.",
    "--version": "The version of discreet.",
}

#: Command lines that ask for this page.
ASKS_FOR_OVERVIEW: tuple[list[str], ...] = ([], ["--help"], ["-h"])

#: Letters in a line at the most; longer ones are hard to read.
WIDEST = 120


def overview(others: Mapping[str, str] | None = None) -> str:
    """All commands in the order of the work, as wide as the terminal; ``others`` were added from outside."""
    width = min(WIDEST, shutil.get_terminal_size().columns)
    commands = {path.split(":")[1]: line for path, line in COMMANDS.items()} | dict(others or {})
    lines = ["Usage: discreet COMMAND", "", *textwrap.wrap(PURPOSE, width), ""]
    lines += [*_listed(commands, width), "", *_listed(OPTIONS, width), "", *textwrap.wrap(EVERY_COMMAND, width)]
    return "\n".join(lines)


def _listed(entries: Mapping[str, str], width: int) -> Iterator[str]:
    """Names, and what they stand for behind them."""
    indent = 4 + max(map(len, entries))
    for name, text in entries.items():
        opening = f"  {name}".ljust(indent)
        yield from textwrap.wrap(text, max(width, indent + 20), initial_indent=opening, subsequent_indent=" " * indent)
