"""A publication up to its promise: beliefs, classes and the design on (S, class); it can be applied to later tables."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet._support import progress, validate
from discreet._support.errors import InputError, UnusableColumnError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers import Design, design
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion
from discreet.publishing.beliefs import Beliefs, learn
from discreet.publishing.classes import FEWEST_CLASSES, Classes, classes_for, make_classes
from discreet.publishing.features import Encoder
from discreet.publishing.reading import Subject
from discreet.twins.cells import Cells
from discreet.twins.distance import checked_weight
from discreet.twins.draw import channel_of
from discreet.twins.secret import Secret, SecretRule
from discreet.utilities import Accuracy, Invariant

__all__ = [
    "Counted",
    "Fitted",
    "Learned",
    "Settings",
    "check_weights",
    "count",
    "design_classes",
    "designed",
    "fit",
    "joint_of",
    "learn_classes",
    "redesigned",
    "weights_of",
]

#: Expected records of the rarest label in a class, below which limits say too little.
FEWEST_OF_LABEL = 25

#: Fewest records of a class without confidence, and with it.
FEWEST_COUNTED, FEWEST_SURE = 100, 400


@dataclass(frozen=True)
class Settings:
    """How a table is fitted.

    Attributes
    ----------
    notion : Notion
        The promise, with the confidence that this try has.
    make : callable
        From features and a seed to an estimator.
    model : str
        Its name.
    per_fold : int or None
        Classes of a fold; left out, as many as the records allow.
    finer : float
        How many times as many.
    margin : float or None
        Nats by which the design stays inside of the promise.
    n_folds : int
        Models, each trained without its fold.
    """

    notion: Notion
    make: Callable[..., Any]
    model: str
    per_fold: int | None = None
    finer: float = 1.0
    margin: float | None = None
    n_folds: int = 2


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learned from a table and decided on it.

    Attributes
    ----------
    encoder, beliefs, classes : Encoder, Beliefs or None, Classes or None
        From cells to features, to beliefs, to classes; None where beliefs were counted.
    rule : SecretRule
        How the secret is read.
    design : Design
        Of the mechanism between classes, on the counts of (S, class).
    mechanism : Mechanism
        The same as a channel from classes to classes.
    settings : Settings
        How all that was made.
    """

    encoder: Encoder | None
    beliefs: Beliefs | None
    classes: Classes | None
    rule: SecretRule
    design: Design
    mechanism: Mechanism
    settings: Settings

    def classes_of(self, columns: Sequence[Cells], folds: IntArray) -> tuple[FloatArray, IntArray]:
        """Beliefs and classes of the records of this table or a later one."""
        assert self.encoder is not None
        assert self.beliefs is not None
        assert self.classes is not None
        found = self.beliefs.of(self.encoder.features(columns), folds)
        return found, self.classes.of(found, folds)


@dataclass(frozen=True, eq=False)
class Counted:
    """Records in their classes, what is believed of each, which secret each counts for, -1 for none; sizes of classes.

    Sizes are of all records, whether they are counted or not.
    """

    fitted: Fitted
    beliefs: FloatArray | None
    classes: IntArray
    joint: Joint
    turns: IntArray
    sizes: IntArray


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned before anything was counted: from cells to classes, and the classes of those learned from.

    Attributes
    ----------
    encoder, beliefs, classes : Encoder, Beliefs, Classes
        From cells to features, to beliefs, to classes.
    told : ndarray of float
        Beliefs about each record.
    own : ndarray of int
        Class of each record.
    secret : Secret
        Of each record.
    """

    encoder: Encoder
    beliefs: Beliefs
    classes: Classes
    told: FloatArray
    own: IntArray
    secret: Secret


def fit(subject: Subject, rule: SecretRule, settings: Settings, seed: int) -> Counted:
    """Learn beliefs, make classes, count them and design what moves between them."""
    learned = learn_classes(subject, rule, settings, seed)
    joint = count(learned.secret, learned.own, learned.classes.labels, subject, rule)
    sizes = np.bincount(learned.own, minlength=joint.n_useful)
    return designed(subject, rule, settings, learned, joint, sizes)


def learn_classes(
    subject: Subject, rule: SecretRule, settings: Settings, seed: int, counted: int | None = None
) -> Learned:
    """Learn beliefs and make classes; ``counted`` records in all, where the subject is a sample of them."""
    secret = rule.read(subject.table, subject.turns)
    n_counted = int((subject.turns >= 0).sum()) if counted is None else counted
    per_fold = settings.per_fold or _per_fold(subject, rule, secret, settings, n_counted)
    encoder = Encoder(subject.cells)
    features = encoder.features(subject.cells)
    secrets, places = _secrets(rule, subject, secret)
    order = np.lexsort((secret.codes, subject.records.tuples))
    beliefs = learn(features, secrets, places, subject.folds, order, settings.make, seed)
    told = beliefs.of(features, subject.folds)
    fewest = FEWEST_COUNTED if settings.notion.confidence is None else FEWEST_SURE
    with progress.stage("making classes"):
        counts = subject.turns[order] >= 0
        classes = make_classes(told[order], subject.folds[order], counts, per_fold, fewest=fewest, seed=seed)
    return Learned(encoder, beliefs, classes, told, classes.of(told, subject.folds), secret)


def designed(
    subject: Subject, rule: SecretRule, settings: Settings, learned: Learned, joint: Joint, sizes: IntArray
) -> Counted:
    """Design what moves between classes on their counts; ``sizes`` are theirs among all records."""
    made = design_classes(joint, settings, sizes)
    channel = channel_of(made.mechanism, joint)
    fitted = Fitted(learned.encoder, learned.beliefs, learned.classes, rule, made, channel, settings)
    return Counted(fitted, learned.told, learned.own, joint, subject.turns, sizes)


def redesigned(counted: Counted, settings: Settings, after: Earlier | None = None) -> Counted:
    """The same classes and counts under other settings of the design, or after what was published before."""
    made = design_classes(counted.joint, settings, counted.sizes, after)
    channel = channel_of(made.mechanism, counted.joint)
    return replace(counted, fitted=replace(counted.fitted, design=made, mechanism=channel, settings=settings))


def design_classes(joint: Joint, settings: Settings, sizes: IntArray, after: Earlier | None = None) -> Design:
    """The channel between classes under which most records stay as they are, and every class as common as it is.

    As common among all records, that is: those that are not counted are published too.
    """
    _check_labels(joint)
    _check_counted(joint, sizes)
    options: dict[str, Any] = {} if settings.margin is None else {"margin": settings.margin}
    options |= {} if after is None else {"after": after}
    utility = Invariant(Accuracy(), dict(zip(joint.useful, sizes.tolist())))
    return design(joint, settings.notion, utility=utility, **options)


def count(secret: Secret, classes: IntArray, names: Sequence[str], subject: Subject, rule: SecretRule) -> Joint:
    """Counts of (S, class) among the records that count."""
    counted = subject.turns >= 0
    cells = np.bincount(
        (secret.codes * len(names) + classes)[counted], minlength=len(secret.labels) * len(names)
    ).reshape(len(secret.labels), len(names))
    return joint_of(secret.labels, names, cells, rule)


def joint_of(labels: Sequence[str], names: Sequence[str], cells: IntArray, rule: SecretRule) -> Joint:
    """Counts of labels and classes, without labels that no record counts for."""
    there = cells.sum(axis=1) > 0
    labels = [label for label, occurs in zip(labels, there) if occurs]
    return Joint.from_counts(
        cells[there], sensitive=labels, useful=list(names), sensitive_columns=rule.columns, useful_columns=["class"]
    )


def _per_fold(subject: Subject, rule: SecretRule, secret: Secret, settings: Settings, counted: int) -> int:
    """As many classes as records, and those of the rarest label among the pilot's, allow."""
    sure = settings.notion.confidence is not None
    found = classes_for(int(counted * settings.finer), len(secret.labels), is_sure=sure, n_folds=settings.n_folds)
    if not sure or not subject.pilot.any():
        return found
    each = [Secret.of(texts) for texts in rule.columns_of(subject.table)]
    shares = [np.bincount(own.codes[subject.pilot], minlength=len(own.labels)) for own in each]
    rarest = min(int(share.min()) for share in shares) / int(subject.pilot.sum()) / len(each)
    return int(np.clip(counted * rarest / FEWEST_OF_LABEL / settings.n_folds, min(FEWEST_CLASSES, found), found))


def _secrets(rule: SecretRule, subject: Subject, secret: Secret) -> tuple[list[IntArray], list[IntArray]]:
    """Codes of every secret of each record, and the places of its labels among all."""
    if rule.n_turns == 1:
        return [secret.codes], [np.arange(len(secret.labels))]
    codes, places = [], []
    place = {label: k for k, label in enumerate(secret.labels)}
    for texts in rule.columns_of(subject.table):
        own = Secret.of(texts)
        known = np.array([place.get(label, -1) for label in own.labels])
        if (known < 0).any():
            raise UnusableColumnError(
                "a sensitive column has labels that no counted record has. Cut it (bins, --bins)."
            )
        codes.append(own.codes)
        places.append(known)
    return codes, places


def _check_labels(joint: Joint) -> None:
    if joint.n_sensitive < 2:
        raise UnusableColumnError(
            f"the sensitive column {' + '.join(joint.sensitive_columns)} has only one value, so there is nothing to "
            "protect. Choose another column."
        )


def _check_counted(joint: Joint, sizes: IntArray) -> None:
    """Refuse classes that nothing is known about: their records would be published as those of any other class."""
    lacking = int(sizes[np.asarray(joint.counts).sum(axis=0) == 0].sum())
    if lacking:
        raise UnusableColumnError(
            f"{lacking:,} records are in classes of which none is counted, since few records are different. Publish "
            "without confidence (dc.LIP(0.5), --confidence 0), or with another key."
        )


def check_weights(weights: Any) -> dict[str, float]:
    """Weights as they were given, refused before anything is read where they are none."""
    if weights is not None and not isinstance(weights, Mapping):
        raise InputError(
            f"weights must be a mapping of columns to numbers, such as {{'age': 2.0}}, got {type(weights).__name__}."
        )
    for name, weight in (weights or {}).items():
        if not isinstance(name, str):
            raise InputError(f"weights must name columns by their texts, got {name!r}.")
        checked_weight(name, weight)
    return dict(weights or {})


def weights_of(weights: Mapping[str, float] | None, useful: Sequence[str]) -> dict[str, float]:
    """Weights of columns, all of which are published."""
    given = check_weights(weights)
    unknown = [name for name in given if name not in useful]
    if unknown:
        raise InputError(
            f"weights (--weight, --same) name {unknown[0]!r}, which is not a published column."
            f"{validate.closest(unknown[0], useful)}"
        )
    return given
