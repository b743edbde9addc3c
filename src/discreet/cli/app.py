"""The ``discreet`` command: dispatch, exit codes, and errors without tracebacks.

Exit codes: 0 fine, 1 the privacy budget is not met or a verification fails, 2 wrong usage or configuration,
3 unusable data; 70 a bug in discreet, 130 interrupted, 143 told to end.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import App, CycloptsError

from discreet._support.errors import DiscreetError, DiscreetWarning
from discreet._support.version import version
from discreet.cli.progress import Watching
from discreet.cli.streams import print_debug, say, say_error

__all__ = ["app", "main", "run"]

INTERNAL_ERROR, INTERRUPTED, ENDED = 70, 130, 143

#: Whether the process was told to end, as a scheduler does it.
_is_told_to_end = threading.Event()

app = App(
    name="discreet",
    help="Publish a table without publishing its secret. Exit codes: 0 fine, 1 the privacy budget is not met, "
    "2 wrong usage, 3 unusable data.",
    help_epilogue="Every command also takes --quiet (nothing on stderr but errors: no progress, notes or warnings), "
    "--log FILE (append what is done, when, and the seconds it took, to a file that its owner alone may read) and "
    "--debug (show tracebacks).",
    version=version,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # which would end without a word
)

#: File and function of each command, and its line of the overview, for which no command is imported: the first of its
#: docstring.
COMMANDS = {
    "audit:audit": "Measure how much the useful columns tell about the sensitive ones.",
    "design:design": "Design a mechanism that keeps a privacy notion and loses as little as the method can.",
    "compare:compare": "Design with every method that serves a notion, and show what each keeps, leaks and reads, best first.",
    "frontier:frontier": "Sweep the budget: what is kept of the useful columns, and what leaks, under several methods.",
    "quantise:quantise": "Merge useful values so that the sensitive values they can occur with are many, or cannot be told apart.",
    "release:release": "Release a table: every useful value replaced by a draw from the mechanism.",
    "certify:certify": "Certify that a mechanism keeps its promise on a table; exit code 1 where it does not.",
    "sign:sign": "Sign a certificate with an Ed25519 key of OpenSSH; verify --signer and ssh-keygen -Y verify check it.",
    "certify:verify": "Verify a certificate; exit code 1 where anything fails or the level asked for is not reached.",
    "report:report": "Write a report for those who decide on a release: the verdict, what it protects, keeps and changes, its limits.",
    "export:export": "Give the draw as SQL: lookup tables and one query, the same bits as a release.",
    "reproduce:reproduce": "Compute the figures and stated numbers of the papers anew, and say which agree.",
    "demo:demo": "Tell the whole story on the built-in Adult data: audit, compare, design, release, certify, verify, report.",
}
for path, line in COMMANDS.items():
    app.command(f"discreet.cli.{path}", name=path.split(":")[1], help=line)


def run(tokens: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    debug = "--debug" in tokens
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter still gets the rest

    def watched() -> int:
        watching, arguments = Watching.taken_from([token for token in tokens if token != "--debug"])
        with watching.over(_named(arguments)) as finish:
            code = _coded(lambda: _called(arguments), debug)
            finish(code)
        return code

    return _coded(watched, debug)


def _called(arguments: Sequence[str]) -> int:
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", DiscreetWarning)
        _load_named(arguments)
        result = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _coded(work: Callable[[], int], debug: bool) -> int:
    """The exit code of some work; what stopped it is said without a traceback."""
    try:
        return work()
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
        return _fail(
            "interrupted: nothing half-done is left.", ENDED if _is_told_to_end.is_set() else INTERRUPTED, False
        )
    except Exception as error:
        message = f"{type(error).__name__}. This is a bug in discreet: please report it with the output of --debug."
        return _fail(message, INTERNAL_ERROR, debug)


def _named(arguments: Sequence[str]) -> str:
    """The command that is asked for, or a name for none: a word that is no command may be anything."""
    return next((token for token in arguments[:1] if token in app), "-")


def _load_named(arguments: Sequence[str]) -> None:
    """Import the commands that are named: whichever is asked for has its whole docstring as its help."""
    for path in COMMANDS:
        name = path.split(":")[1]
        if name in arguments:
            app[name].help = str(app[name].default_command.__doc__)


def _fail(message: str, code: int, debug: bool) -> int:
    if debug:
        print_debug()
    say_error(f"discreet: error: {message.strip()}")
    return code


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    """Our own warnings; what a library says to programmers is not for whoever runs a command."""
    if issubclass(category, DiscreetWarning):
        say(f"discreet: warning: {message}")


def _end(*_: object) -> None:
    """What SIGTERM does: the same as an interruption by hand, so that files are put in order first."""
    _is_told_to_end.set()
    raise KeyboardInterrupt


def main() -> None:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(sys.argv[1:]))
