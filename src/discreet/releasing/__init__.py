"""Releases: a table drawn from a mechanism, by DuckDB or Spark, the same bits either way."""

# SPDX-License-Identifier: Apache-2.0
from discreet.releasing.api import release
from discreet.releasing.pipeline import Released, run
from discreet.releasing.request import Request

__all__ = ["Released", "Request", "release", "run"]
