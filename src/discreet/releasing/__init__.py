"""Releases: a table drawn from a mechanism, by DuckDB or Spark, the same bits either way."""

# SPDX-License-Identifier: Apache-2.0
from discreet.releasing.pipeline import Released, release_table

__all__ = ["Released", "release_table"]
