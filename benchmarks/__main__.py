"""``make bench``: all benchmarks, or those named (audit, merging, sweep)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys

# One core: the limits are stated for it, and threads of a BLAS would blur the ratios.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks import audit, merging, sweep
from benchmarks.common import show

BENCHMARKS = {"sweep": sweep, "merging": merging, "audit": audit}


def main() -> None:
    chosen = sys.argv[1:] or list(BENCHMARKS)
    show([row for name in chosen for row in BENCHMARKS[name].rows()])


main()
