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
from discreet.cli.overview import ASKS_FOR_OVERVIEW, COMMANDS, EVERY_COMMAND, PURPOSE, overview
from discreet.cli.progress import Watching
from discreet.cli.streams import print_debug, print_lines, say, say_error

__all__ = ["app", "main", "run"]

INTERNAL_ERROR, INTERRUPTED, ENDED = 70, 130, 143

#: Whether the process was told to end, as a scheduler does it.
_is_told_to_end = threading.Event()

app = App(
    name="discreet",
    help=PURPOSE,
    help_epilogue=EVERY_COMMAND,
    version=version,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,  # which would end without a word
)

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
    if list(arguments) in ASKS_FOR_OVERVIEW:
        print_lines(overview(_others()))
        return 0
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
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):  # of rich, where the reader of a page of help went away
            raise
        return 0
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


def _others() -> dict[str, str]:
    """Commands that were added from outside, with the first lines of their help."""
    own = {path.split(":")[1] for path in COMMANDS}
    added = (name for name in app if name not in own and not name.startswith("-"))
    return {name: (app[name].help.strip().splitlines() or [""])[0] for name in added}


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
    """Run the command line of the process."""
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(sys.argv[1:]))
