"""Work beside other work: begun now, and waited for where its result is needed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["begun"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def begun(work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Future[Result]:
    """The result of work in a thread of its own, which nobody waits for unless it is asked.

    >>> begun(max, 1, 2).result()
    2
    """
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work, *given, **named)
    pool.shutdown(wait=False)
    return future
