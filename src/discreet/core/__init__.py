"""The nouns: joints, ranges, labels, partitions."""

# SPDX-License-Identifier: Apache-2.0
