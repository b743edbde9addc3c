"""``discreet demo``: the whole story on built-in data."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet import _files, _json, samples
from discreet.designers import design
from discreet.errors import InputError
from discreet.joint import Joint
from discreet.notions import ALIP
from discreet.report.summary import audit_summary
from discreet.report.text import audit_text, design_text, frontier_text, make_console
from discreet.sweeps import frontier

__all__ = ["demo"]

EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)
CHOSEN = 1.0
LAM = 0.65
METHODS = ("watchdog", "subset-merging", "optimal")


def demo(*, output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("demo-output")) -> int:
    """Audit the built-in Adult data, design mechanisms for it and show the trade-off.

    The question: may a census office publish people's occupation without giving their family relationship away?

    Parameters
    ----------
    output
        Directory that audit.json, mechanism.json, tradeoff.csv and tradeoff.svg are written to.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {str(output)!r}: {error.strerror}.") from None
    console = make_console(sys.stdout)
    joint = Joint.from_table(samples.adult(), sensitive="relationship", useful="occupation")
    notion = ALIP.split(CHOSEN, LAM)

    console.rule("1. Audit: what does occupation give away?", align="left")
    summary = audit_summary(joint, notion)
    console.print(audit_text(summary))
    _files.write_text(output / "audit.json", _json.dumps(summary) + "\n")

    console.rule("2. Design: mechanisms that keep the promise", align="left")
    designs = [design(joint, notion, method) for method in METHODS]
    for result in designs:
        console.print(design_text(result))
        console.print()
    best = max(designs, key=lambda result: result.nmi)
    best.mechanism.to_json(output / "mechanism.json")

    console.rule(f"3. Trade-off: epsilon in total, {LAM:g} of it for falling beliefs", align="left")
    swept = frontier(joint, ALIP.split, EPSILONS, METHODS, lams=[LAM])
    console.print(frontier_text(swept))
    swept.save(output / "tradeoff.csv")
    files = ["audit.json", "mechanism.json", "tradeoff.csv"]
    if importlib.util.find_spec("matplotlib") is not None:  # the extra "plots"
        swept.save(output / "tradeoff.svg")
        files.append("tradeoff.svg")
    console.print(
        f"\n{best.method} keeps {100 * best.nmi:.1f} % of occupation at epsilon {CHOSEN:g}. "
        f"Look into {output} at {', '.join(files)}."
    )
    return 0
