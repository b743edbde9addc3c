"""What ``discreet demo`` does, one step after the other."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from discreet import samples
from discreet._support import files, jsonable
from discreet._support.errors import InputError
from discreet.certificate import Certificate, verify
from discreet.core.joint import Joint
from discreet.designers import Design, compare, design
from discreet.frontiers.sweep import frontier
from discreet.notions import LIP, Notion
from discreet.publishing.front import publish
from discreet.releasing import Released, Request, run
from discreet.releasing.targets import sidecar
from discreet.reporting.audit import audit
from discreet.reporting.decision import decision
from discreet.reporting.html import report_html
from discreet.reporting.markdown import report_markdown
from discreet.reporting.text.audit import audit_text
from discreet.reporting.text.certificate import verdict_text
from discreet.reporting.text.comparison import comparison_text
from discreet.reporting.text.console import make_console
from discreet.reporting.text.design import design_text
from discreet.reporting.text.frontier import frontier_text
from discreet.reporting.text.publication import publication_text
from discreet.reporting.text.release import release_text

__all__ = ["tell"]

EPSILONS = (0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
CHOSEN = 0.5
CURVES = ("watchdog", "subset-merging", "optimal")


def tell(output: Path) -> int:
    """All steps, on the console and in the folder; the exit code."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {str(output)!r}: {error.strerror}.") from None
    console, table, notion = make_console(sys.stdout), samples.adult(), LIP(CHOSEN)
    joint = Joint.from_table(table, sensitive="relationship", useful="occupation")
    _look(console, joint, notion, output)

    console.rule("4. Design: the best mechanism that does not read the secret", align="left")
    best = design(joint, notion)
    console.print(design_text(best))
    best.mechanism.to_json(output / "mechanism.json")

    console.rule(f"5. Release: {table.num_rows:,} rows, drawn and certified", align="left")
    target = output / "released.parquet"
    done = _release(table, best, target)
    console.print(release_text(done.summary(target)))

    console.rule("6. Verify: every claim recomputed, every row drawn again", align="left")
    verdict = verify(output / "certificate.private.json", table, target, key=output / "release.key")
    console.print(verdict_text(verdict, "verified"))
    files.write_text(output / "verdict.json", json.dumps(verdict.to_dict(), indent=2) + "\n")

    console.rule("7. Report: the page that decides", align="left")
    report = _report(best, done.certificate, output)
    console.print(
        f"{100 * best.nmi:.1f} % of occupation is kept, and no mechanism under {notion} can keep more. "
        f"Open {report}; the release is {target}, its certificate {sidecar(target, 'certificate')}."
    )
    if importlib.util.find_spec("sklearn") is not None:  # the extra "tables"
        _publish(console, table, output)
    return 0 if verdict else 1


def _look(console: Console, joint: Joint, notion: Notion, output: Path) -> None:
    """What is given away, what every method keeps, and what more a larger budget would keep."""
    console.rule("1. Audit: what does occupation give away?", align="left")
    audited = audit(joint, notion)
    console.print(audit_text(audited))
    files.write_text(output / "audit.json", jsonable.dumps(audited.to_dict()) + "\n", private=True)  # with counts

    console.rule(f"2. Compare: every method under {notion}", align="left")
    compared = compare(joint, notion)
    console.print(comparison_text(compared.designs, compared.skipped))

    console.rule("3. Trade-off: how much more would a larger budget keep?", align="left")
    swept = frontier(joint, LIP, EPSILONS, CURVES)
    console.print(frontier_text(swept))
    swept.save(output / "tradeoff.csv")
    if importlib.util.find_spec("matplotlib") is not None:  # the extra "plots"
        swept.save(output / "tradeoff.svg")


def _publish(console: Console, table: Any, output: Path) -> None:
    """All other columns together, without income."""
    console.rule("8. Publish: the whole table without income, and attacked", align="left")
    target, private, key = (output / name for name in ("people.parquet", "people.private.json", "people.key"))
    report = output / "people-report.html" if importlib.util.find_spec("jinja2") is not None else None
    key.unlink(missing_ok=True)
    done = publish(
        table, "income", output=target, private_certificate=private, write_key=key, report=report, force=True
    )
    names = {"output": target, "certificate": sidecar(target, "certificate"), "private": private, "key": key}
    names |= {} if report is None else {"report": report}
    console.print(publication_text({**done.to_dict(), **{name: str(path) for name, path in names.items()}}))


def _release(table: Any, best: Design, target: Path) -> Released:
    key_file = target.with_name("release.key")
    key_file.unlink(missing_ok=True)
    return run(
        Request.of(
            table,
            best.mechanism,
            output=target,
            keep=["income"],
            uncovered=["income"],  # it tells about the relationship, and the headline says so
            shuffle=True,  # the built-in table is sorted, which would tell the occupation
            private_certificate=target.with_name("certificate.private.json"),
            proof=best.proof.to_dict(),
            write_key=key_file,
            force=True,
        )
    )


def _report(best: Design, certificate: Certificate | None, output: Path) -> Path:
    page = decision(best, certificate=None if certificate is None else certificate.public)
    pretty = importlib.util.find_spec("jinja2") is not None  # the extra "report"
    report = output / ("report.html" if pretty else "report.md")
    files.write_text(report, report_html(page) if pretty else report_markdown(page), private=True)  # it tells of S
    return report
