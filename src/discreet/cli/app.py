"""The ``discreet`` command: dispatch, exit codes, and errors without tracebacks.

Exit codes: 0 fine, 1 the privacy budget is not met or a verification fails, 2 wrong usage or configuration,
3 unusable data; 70 a bug in discreet, 130 interrupted.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from cyclopts import App, CycloptsError

from discreet._support.errors import DiscreetError, DiscreetWarning
from discreet._support.version import version
from discreet.cli.audit import audit
from discreet.cli.certify import certify, verify
from discreet.cli.compare import compare
from discreet.cli.demo import demo
from discreet.cli.design import design
from discreet.cli.export import export
from discreet.cli.frontier import frontier
from discreet.cli.quantise import quantise
from discreet.cli.release import release
from discreet.cli.report import report
from discreet.cli.reproduce import reproduce
from discreet.cli.sign import sign
from discreet.cli.streams import print_debug, say

__all__ = ["app", "main", "run"]

INTERNAL_ERROR, INTERRUPTED = 70, 130

app = App(
    name="discreet",
    help="Publish a table without publishing its secret. Exit codes: 0 fine, 1 the privacy budget is not met, "
    "2 wrong usage, 3 unusable data. --debug shows tracebacks.",
    version=version,
    help_format="plaintext",
)
for command in (
    audit, design, compare, frontier, quantise, release, certify, sign, verify, report, export, reproduce, demo,
):  # fmt: skip
    app.command(command)


def run(tokens: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    debug = "--debug" in tokens
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter still gets the rest
    arguments = [token for token in tokens if token != "--debug"]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always", DiscreetWarning)
            result = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CycloptsError as error:
        return _fail(str(error), 2, debug)
    except DiscreetError as error:
        return _fail(str(error), error.exit_code, debug)
    except BrokenPipeError:
        # The reader of our output went away; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"cannot write the result: {error.strerror or type(error).__name__}.", 2, debug)
    except KeyboardInterrupt:
        return _fail("interrupted.", INTERRUPTED, False)
    except Exception as error:
        message = f"{type(error).__name__}. This is a bug in discreet: please report it with the output of --debug."
        return _fail(message, INTERNAL_ERROR, debug)


def _fail(message: str, code: int, debug: bool) -> int:
    if debug:
        print_debug()
    say(f"discreet: error: {message.strip()}")
    return code


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    """Our own warnings; what a library says to programmers is not for whoever runs a command."""
    if issubclass(category, DiscreetWarning):
        say(f"discreet: warning: {message}")


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))
