"""Releases: a table drawn from a mechanism, by DuckDB or Spark, the same bits either way."""

# SPDX-License-Identifier: Apache-2.0
from discreet.releasing.front import Released, release_table
from discreet.releasing.keys import ReleaseKey

__all__ = ["ReleaseKey", "Released", "release_table"]
