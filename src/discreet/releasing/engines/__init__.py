"""Who draws: DuckDB, Spark, or an engine of the user's own."""

# SPDX-License-Identifier: Apache-2.0
