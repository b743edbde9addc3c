"""Names that options choose from, as the registries have them: a page of help imports no registry.

A test compares them, so that no name is missing.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

__all__ = ["ENGINES", "METHODS", "MODELS", "NOTIONS", "UTILITIES"]

#: Notions that the options can describe, in the order of `Notion.registry`.
NOTIONS = ("lip", "alip", "ldp", "max-lift", "perfect", "l1", "chi2", "alpha-lift", "srlip")

#: The best methods first; then those for other notions than LIP, and last those that read S.
METHODS = (
    "auto",
    "optimal",
    "subset-response",
    "max-truth",
    "tight-rr",
    "oue",
    "grr",
    "subset-merging",
    "watchdog",
    "independent-attributes",
    "optimal-with-sensitive",
    "conditional-reporting",
)

#: What a design may keep as much of as it can, in the order of their registry.
UTILITIES = ("information", "accuracy", "distance")

#: Models of attacks, in the order of their registry.
MODELS = ("boosting", "neighbours", "logistic", "bayes", "counting")

#: Engines that draw, or the one that holds the table.
ENGINES = ("auto", "duckdb", "spark")
