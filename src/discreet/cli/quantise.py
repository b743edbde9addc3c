"""``discreet quantise``: merge useful values so that what can occur together gives less away."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet._support import files
from discreet._support.errors import InputError
from discreet.cli.options import Format, TableOptions, say_private, show
from discreet.cli.streams import say

if TYPE_CHECKING:
    from discreet.core.joint import Joint
    from discreet.quantising import Quantisation, QuantisationPath

__all__ = ["quantise"]

Method = Literal["agglomerative", "exact", "suppression", "binning", "funnel"]
Repeated = Parameter(negative="", consume_multiple=False)
PLOTS = (".svg", ".png", ".pdf")


def quantise(
    source: TableOptions,
    *,
    objective: Literal["uncertainty-reduction", "maximin", "indistinguishable"] = "uncertainty-reduction",
    utility: Literal["resolution", "distortion"] = "resolution",
    method: Annotated[tuple[Method, ...], Repeated] = ("agglomerative", "exact"),
    codeword: Literal["centroid", "midpoint", "member"] = "midpoint",
    missing: Annotated[tuple[str, ...], Repeated] = (),
    weight: Annotated[tuple[float, ...], Repeated] = (),
    k: int | None = None,
    mechanism: Path | None = None,
    convergence: Path | None = None,
    output: Annotated[tuple[Path, ...], Parameter(name=["--output", "-o"], negative="", consume_multiple=False)] = (),
    force: Annotated[bool, Parameter(negative="")] = False,
    format: Format = "text",
) -> int:
    """Merge useful values so that the sensitive values they can occur with are many, or cannot be told apart.

    For small tables, where probabilities mean little: only which pairs occur counts. Leakages are in bits.

    Parameters
    ----------
    objective
        Leave many sensitive values, tell nothing about them without error, or both.
    utility
        What is kept: small blocks, or small distances of values to their block's codeword.
    method
        The paper's algorithms, optima with bounds, or a baseline; repeat the option for several.
    codeword
        Of the distortion: middle or mean of a block, or one of its members.
    missing
        Of the distortion: MARK=NUMBER takes a mark that is no number, such as ?, for that number. Repeatable.
    weight
        Weight of the utility: shows where each path stops. Repeatable.
    k
        Also choose the partition of least cost that leaves k sensitive values in every block.
    mechanism
        With --k: file that the chosen partition is written to, as a mechanism.
    convergence
        File for a plot of the Lagrangian after each step of the first method, for the given weights.
    output
        File for the result: .svg, .png or .pdf for a plot, .csv or .json for the numbers. Repeatable.
    force
        Replace existing output files.
    format
        Text for people, JSON for programs.
    """
    from discreet.quantising import quantise as make_path
    from discreet.reporting.text.quantisation import quantisation_text

    targets = [path for path in (*output, mechanism, convergence) if path is not None]
    for path in output:
        if path.suffix.lower() not in (*PLOTS, ".csv", ".json"):
            raise InputError(f"cannot tell the format of {str(path)!r}. Use .svg, .png, .pdf, .csv or .json.")
    if convergence is not None and convergence.suffix.lower() not in PLOTS:
        raise InputError(f"cannot tell the format of {str(convergence)!r}. Use .svg, .png or .pdf.")
    if mechanism is not None and k is None:
        raise InputError("--mechanism writes the partition that --k chooses: give --k.")
    files.check_targets(targets, force=force, never=source.files)
    joint = source.joint()
    values = _values(joint, missing) if utility == "distortion" or "binning" in method else None
    paths = [
        make_path(joint, objective, utility, values, name, codeword=codeword, weight=weight[0] if weight else 1.0)
        for name in method
    ]
    chosen = None if k is None else _leaving(paths, k)
    data: dict[str, Any] = {
        "paths": [path.to_dict() | _stops(path, weight) for path in paths],
        "chosen": None if chosen is None else chosen.to_dict(),
    }
    _write(output, paths, data)
    if convergence is not None:
        from discreet.figures import convergence_figure, figure_bytes

        figure = convergence_figure(paths[0], weight or (1.0,))
        files.write_bytes(convergence, figure_bytes(figure, convergence.suffix[1:].lower()))
    if mechanism is not None and chosen is not None:
        chosen.mechanism.to_json(mechanism)
    show(format, data, quantisation_text(paths, weight, chosen) if format == "text" else None)
    if mechanism is not None and chosen is not None:
        say_private(mechanism, chosen.mechanism)
    for path in targets:
        say(f"written to {path}")
    return 0


def _values(joint: Joint, missing: tuple[str, ...]) -> list[Any]:
    """Labels as numbers; marks that are none need one on purpose."""
    stands_for: dict[str, float] = {}
    for text in missing:
        mark, equals, number = text.rpartition("=")
        try:
            if not equals:
                raise ValueError
            stands_for[mark] = float(number)
        except ValueError:
            raise InputError(f"--missing {text!r} is not MARK=NUMBER.") from None
    result: list[Any] = []
    for label in joint.useful:
        text = "" if label is None else str(label)
        try:
            result.append(stands_for[text] if text in stands_for else float(text))
        except ValueError:
            raise InputError(
                "a useful value is not a number, so it has no distance to others. Take a mark such as ? for a number "
                "on purpose, with --missing ?=-9, or use --utility resolution."
            ) from None
    return result


def _leaving(paths: list[QuantisationPath], k: int) -> Quantisation:
    """The point of least cost that leaves k sensitive values in every block."""
    enough = [(path, point) for path in paths for point in path.points if point.k >= k]
    if not enough:
        most = max(point.k for path in paths for point in path.points)
        raise InputError(f"no partition found leaves {k} sensitive values in every block; the most is {most}.")
    resolution = paths[0].utility == "resolution"
    return min((point for _, point in enough), key=lambda p: p.largest_block if resolution else p.distortion or 0.0)


def _stops(path: QuantisationPath, weights: tuple[float, ...]) -> dict[str, Any]:
    return {
        "stops": [{"weight": w, "step": path.points.index(path.best(w)), "changes": path.changes(w)} for w in weights]
    }


def _write(output: tuple[Path, ...], paths: list[QuantisationPath], data: dict[str, Any]) -> None:
    for target in output:
        kind = target.suffix.lower()
        if kind == ".json":
            from discreet._support import jsonable

            files.write_text(target, jsonable.dumps(data) + "\n")
        elif kind == ".csv":
            rows = [{"method": path.method, **point} for path in paths for point in path.to_dict()["points"]]
            stream = io.StringIO()
            writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            files.write_text(target, stream.getvalue())
        else:
            from discreet.figures import figure_bytes, quantisation_figure

            files.write_bytes(target, figure_bytes(quantisation_figure(paths), kind[1:]))
