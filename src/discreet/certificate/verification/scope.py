"""What a verification of a published table looked at, what it did not, and what would have to be added."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from discreet.certificate.verification.verdict import Finding

__all__ = ["KEY", "RELEASED", "TABLE", "scope_of"]

#: What can be given with a certificate, as the command calls it, and the certificate that its owner alone has.
TABLE, RELEASED, KEY, PRIVATE = "--table", "--released", "--key-file", "the private certificate"


class Step(NamedTuple):
    """A check by the subject of its finding, in words, and what it needs; of some publications by Spark too."""

    subject: str
    words: str
    needs: tuple[str, ...] = ()
    is_of_spark: bool = True


#: From what a certificate tells by itself to what the key tells.
STEPS = (
    Step("form", "the certificate by itself"),
    Step("released rows", "columns and rows of the published table", (RELEASED,)),
    Step("leakage", "the promise, on counts of classes", (PRIVATE,)),
    Step("counts", "that these are counts of the table", (PRIVATE, TABLE), is_of_spark=False),
    Step(
        "released rows that are rows of the table",
        "that published rows are rows of the table",
        (PRIVATE, TABLE, RELEASED),
    ),
    Step("redraw", "that the key draws these rows", (PRIVATE, TABLE, RELEASED, KEY), is_of_spark=False),
)

PUBLIC = (
    "The private certificate is its owner's. Without it no more than consistent is reached: --require consistent asks "
    "for that."
)


def scope_of(content: dict[str, Any], findings: Sequence[Finding], given: Collection[str]) -> tuple[str, ...]:
    """Sentences on what was checked of a certificate of a whole table; none of others, or where something failed."""
    if "publication" not in content or any(finding.passed is False for finding in findings):
        return ()
    made = {finding.subject for finding in findings if finding.passed}
    is_public = "private_publication" not in content
    known = {*given} if is_public else {*given, PRIVATE}
    steps = [step for step in STEPS if step.is_of_spark or content["publication"]["engine"] != "spark"]
    done = [step.words for step in steps if step.subject in made]
    left = [_left(step, known) for step in steps if step.subject not in made]
    said = [f"Checked: {'; '.join(done)}."] + ([f"Not checked: {'; '.join(left)}."] if left else [])
    return (*said, *([PUBLIC] if is_public else []))


def _left(step: Step, known: Collection[str]) -> str:
    """A check that was not made, with what to add."""
    *most, last = [need for need in step.needs if need not in known] or [""]
    added = f"{', '.join(most)} and {last}" if most else last
    return f"{step.words} (give {added})" if added else step.words
