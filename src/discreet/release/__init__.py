"""Releases: a table drawn from a mechanism, by DuckDB or Spark, the same bits either way."""

# SPDX-License-Identifier: Apache-2.0
from discreet.release.front import Released, release, release_table
from discreet.release.keys import ReleaseKey

__all__ = ["ReleaseKey", "Released", "release", "release_table"]
