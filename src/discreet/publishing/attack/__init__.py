"""Attacks on a release: what models, counting and the presence of a tuple tell about S, before and after."""

# SPDX-License-Identifier: Apache-2.0
