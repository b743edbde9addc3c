"""The report of a release decision as one HTML file that asks the network for nothing, and for notebooks."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import functools
import hashlib
import math
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from discreet._support.errors import InputError
from discreet.reporting import chart, formats, shown, words
from discreet.reporting.model import Decision

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["LONGEST_NAME", "check_installed", "notebook_html", "page_html", "report_html", "style"]

#: Characters of a name that a page shows; the rest is in its tooltip.
LONGEST_NAME = 160

#: Changes of belief, as absolute logarithms, at which a heat map turns to its next shade.
SHADES = (0.05, 0.25, 0.5, 1.0, 2.0)

#: Parts of a bar narrower than this percentage carry no text.
NARROWEST_TEXT = 9


def report_html(decision: Decision | Mapping[str, Any]) -> str:
    """One HTML file for a release decision: no request leaves it, and it reads without its script as well.

    Parameters
    ----------
    decision : Decision or dict
        What `discreet.reporting.decision` built, or its ``to_dict()``.
    """
    return page_html("page.html", decision if isinstance(decision, Decision) else Decision.from_dict(decision))


def page_html(template: str, content: Any) -> str:
    """A template for a whole file, which allows its own script and nothing else; ``content`` is its ``d``."""
    script = _static("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    return _environment().get_template(template).render(d=content, style=style(), script=script, policy=policy)


def notebook_html(decision: Decision | Mapping[str, Any]) -> str:
    """The same without a script, to stand among other output."""
    given = decision if isinstance(decision, Decision) else Decision.from_dict(decision)
    return _environment().get_template("notebook.html").render(d=given, style=style())


def check_installed() -> None:
    """An `InputError` where the library behind the templates is missing; to be asked before long work."""
    _environment()


def style() -> str:
    """The style sheet of the page."""
    return _static("report.css")


@functools.cache
def _environment() -> Environment:
    """Templates in which everything is escaped, and what hides or turns the text is spelt out."""
    try:
        import jinja2
    except ImportError:
        raise InputError("reports in HTML need jinja2: pip install 'discreet[report]'.") from None
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _resource("templates", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        name: getattr(formats, name) for name in ("brief", "nats", "percent", "short", "times", "visible", "yes")
    } | {"shade": _shade}
    environment.globals |= {
        "LONGEST_NAME": LONGEST_NAME,
        "NARROWEST_TEXT": NARROWEST_TEXT,
        "chart_of": chart.chart_of,
        "more_words": formats.more_words,
        "shown": shown,
        "words": words,
    }
    return environment


def _finished(value: Any) -> Any:
    """Texts made visible; markup that a macro made has been through this already."""
    return formats.visible(value) if type(value) is str else value


def _shade(lift: float) -> str:
    """The class of a cell of the heat map."""
    change = math.log(lift) if lift > 0 else -math.inf
    shade = sum(abs(change) > step for step in SHADES)
    return "" if shade == 0 else f"{'u' if change > 0 else 'd'}{shade}"


def _static(name: str) -> str:
    return _resource("static", name)


def _resource(folder: str, name: str) -> str:
    return (resources.files("discreet.reporting") / folder / name).read_text(encoding="utf-8")
