r"""Frequencies of the useful values behind a release: unbiased, with standard errors.

Released counts are multinomial with probabilities :math:`P_Y = C^T P_X`, C the channel. Any left inverse A of
:math:`C^T` gives an unbiased estimate :math:`\hat p = A \hat{P}_Y`; we take the pseudoinverse. There are two questions.
How far is it from the population that the records are a sample of? Its covariance is
:math:`A (\mathrm{diag}(\hat{P}_Y) - \hat{P}_Y \hat{P}_Y^T) A^T / n`. How far is it from the table itself, whose values
are facts? Then only the draw is random, and since A undoes the channel the variances are

.. math:: \frac{1}{n} \Bigl( \sum_y A_{xy}^2 \hat{P}_Y(y) - \hat p(x) \Bigr),

less by :math:`\hat p (1 - \hat p) / n`, the variance of a share in a sample.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError
from discreet._support.numeric import FloatArray
from discreet._support.visible import visible
from discreet.core import labels

__all__ = ["Estimate", "counts_vector", "estimate_frequencies"]

#: Singular values smaller than this share of the largest count as zero: rounding of weights is below 2**-52.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Estimate:
    """Estimated P(x) with standard errors, in the order of ``useful``; entries may lie outside [0, 1] by chance.

    Attributes
    ----------
    standard_errors : ndarray
        As an estimate of the population that the records are a random sample of: errors of sampling and of the draw.
    table_errors : ndarray
        As an estimate of the shares in the table that was released: errors of the draw alone.
    """

    useful: tuple[Any, ...]
    probabilities: FloatArray
    standard_errors: FloatArray
    table_errors: FloatArray
    records: int

    @classmethod
    def of(cls, useful: tuple[Any, ...], shares: FloatArray, squares: FloatArray, records: float) -> Estimate:
        """From unbiased shares and the mean squares of what a record adds to each."""
        sampled, drawn = (np.sqrt(np.maximum(v, 0.0) / records) for v in (squares - shares**2, squares - shares))
        return cls(useful, shares, sampled, drawn, int(records))

    def to_dict(self) -> dict[str, Any]:
        """Values, estimates and errors as plain data."""
        return {
            "useful": [labels.encode(label) for label in self.useful],
            "probabilities": self.probabilities.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "table_errors": self.table_errors.tolist(),
            "records": self.records,
        }

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{labels.text(x)} {p:.4f} +- {e:.4f}"
            for x, p, e in list(zip(self.useful, self.probabilities, self.standard_errors))[:6]
        )
        more = ", ..." if len(self.useful) > 6 else ""
        return visible(f"Estimate({shown}{more}; {self.records} records)")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def estimate_frequencies(
    useful: tuple[Any, ...], released: Sequence[str], channel: FloatArray, released_counts: Any
) -> Estimate:
    """The estimate of a channel of full rank."""
    counts = counts_vector(released, released_counts)
    singular = np.linalg.svd(channel, compute_uv=False)
    if len(singular) < len(useful) or singular.min() <= RANK_TOLERANCE * singular.max():
        raise InvalidMechanismError(
            "the channel has not full rank, so different frequencies of the useful values look the same after it "
            "and no unbiased estimate exists. Use a method such as 'grr', or read the codebook: codebook(joint)."
        )
    total = counts.sum()
    observed = counts / total
    inverse = np.linalg.pinv(channel.T)
    return Estimate.of(useful, inverse @ observed, (inverse**2) @ observed, float(total))


def counts_vector(names: Sequence[str], given: Any) -> FloatArray:
    """Counts in the order of the names, checked."""
    if isinstance(given, Mapping):
        unknown = set(given) - set(names)
        if unknown:
            raise InputError(f"{len(unknown)} of the counted symbols are not released by this mechanism.")
        given = [given.get(name, 0) for name in names]
    counts = np.asarray(given, dtype=np.float64)
    if counts.shape != (len(names),) or not np.isfinite(counts).all() or (counts < 0).any() or counts.sum() <= 0:
        raise InputError(f"counts must be {len(names)} numbers of at least 0 with a positive sum.")
    return counts
