"""Beliefs that are counted: what a table says of each of its own records.

Exact for the table's own people, and tempting: nearly every record of many columns is the only one of its kind, so its
counted belief is its own secret. Whoever knows a person's useful values then learns from how often they appear. It is
here to be compared with.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet._support.codes import joined_codes
from discreet.publishing.fitting import Counted, Fitted, Settings, count, design_classes
from discreet.publishing.reading import Subject
from discreet.twins.draw import channel_of
from discreet.twins.secret import SecretRule

__all__ = ["fit_counted"]


def fit_counted(subject: Subject, rule: SecretRule, settings: Settings) -> Counted:
    """Classes of records with equal counted beliefs, and the design on them; promises about the table alone."""
    subject = subject.all_counted  # nothing is a sample here
    secret = rule.read(subject.table, subject.turns)
    n_tuples, n_labels = subject.records.n_tuples, len(secret.labels)
    counts = np.bincount(subject.records.tuples * n_labels + secret.codes, minlength=n_tuples * n_labels)
    reduced = counts.reshape(n_tuples, n_labels)
    reduced = reduced // np.gcd.reduce(reduced, axis=1)[:, None]
    classes = joined_codes(reduced)[subject.records.tuples]
    names = [f"C{k + 1}" for k in range(int(classes.max()) + 1)]
    settings = replace(settings, notion=settings.notion.on_counts(), model="counted")
    joint = count(secret, classes, names, subject, rule)
    sizes = np.bincount(classes, minlength=len(names))
    made = design_classes(joint, settings, sizes)
    fitted = Fitted(None, None, None, rule, made, channel_of(made.mechanism, joint), settings)
    return Counted(fitted, None, classes, joint, subject.turns, sizes)
