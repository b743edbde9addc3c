"""Methods that keep a value or draw another one."""

# SPDX-License-Identifier: Apache-2.0
