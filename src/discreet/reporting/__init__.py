"""Reports: what was measured as plain data, and its rendering as text or JSON."""
# SPDX-License-Identifier: Apache-2.0
