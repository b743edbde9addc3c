"""One try at a publication: fit, couple, draw, attack."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from discreet._support import progress
from discreet._support.errors import BrokenByAttackError, DiscreetWarning, InputError
from discreet._support.numeric import IntArray
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.publishing.beliefs import default_model, stronger_model
from discreet.publishing.counted import fit_counted
from discreet.publishing.entering import Entering
from discreet.publishing.fitting import Counted, Settings, fit, redesigned
from discreet.publishing.reading import Subject
from discreet.publishing.telling import most_telling
from discreet.twins.cells import Cells, cells_of
from discreet.twins.distance import Distance
from discreet.twins.draw import appearing
from discreet.twins.records import Digests
from discreet.twins.secret import Secret, SecretRule

if TYPE_CHECKING:
    from discreet.publishing.attack.record import Attack

__all__ = [
    "SHARES",
    "Made",
    "Tried",
    "Wishes",
    "attacks_on",
    "draw_key",
    "first_not_broken",
    "made_in_memory",
    "made_with",
    "order_key",
    "seed_of",
    "told",
]

#: Parts of alpha that the tries have: were all of them made, all limits would still hold at once.
SHARES = (0.8, 0.15, 0.05)

#: Part of the budget that the last try stays inside of the promise by.
MARGIN = 0.25

#: How many times as far as an attack came beyond the promise a design stays inside of it, where that is not too far.
FARTHER = 1.5

#: How many times as many classes later tries make, of two labels and of more: beliefs in many spread more widely.
FINER, FINER_OF_MANY = (1.0, 1.5, 2.0), (1.0, 2.0, 4.0)

#: What helps first where rows keep their order.
IN_ORDER = (
    "Rows keep their order, which tells something where they are sorted by S or by useful columns: leave shuffle=False "
    "(--keep-order) out. "
)

#: Findings of an attack that an error tells.
MOST_REASONS = 3


@dataclass(frozen=True)
class Wishes:
    """What a caller wants of a publication.

    Attributes
    ----------
    notion : Notion
        The promise.
    model : object or None
        An estimator with ``fit`` and ``predict_proba``.
    classes : int or None
        Classes in all.
    weights : mapping of str to float
        Of columns, for the distance between twins.
    counted : bool
        Whether beliefs are counted instead of learned.
    margin : float or None
        Nats by which every design stays inside of the promise.
    keeps_order : bool
        Whether rows are published in their order, so that readers can tell whose each is.
    """

    notion: Notion
    model: Any = None
    classes: int | None = None
    weights: Mapping[str, float] | None = None
    counted: bool = False
    margin: float | None = None
    keeps_order: bool = False

    def __post_init__(self) -> None:
        check_model(self.model)

    @property
    def budget(self) -> float:
        """The largest of the promise, nats."""
        return max(bound.epsilon for bound in self.notion.bounds)

    def settings(self, number: int, n_labels: int = 2, inside: float = 0.0) -> Settings:
        """Those of a try, from 0 on: later ones are stronger; designs stay ``inside`` of the promise by nats."""
        notion, confidence = self.notion, self.notion.confidence
        if confidence is not None and not self.counted:
            notion = replace(notion, confidence=1 - (1 - confidence) * SHARES[number])  # type: ignore[type-var]
        make, name = (default_model, "boosting") if number == 0 else (stronger_model, "boosting and a forest")
        if self.model is not None:
            make, name = partial(_copied, self.model), type(self.model).__name__
        is_last = number == len(SHARES) - 1
        margin = (self.margin or 0.0) + max(MARGIN * self.budget if is_last else 0.0, inside)
        return Settings(
            notion,
            make,
            name,
            per_fold=None if self.classes is None else max(1, round(self.classes / 2)),
            finer=(FINER if n_labels == 2 else FINER_OF_MANY)[number],
            margin=margin if margin > 0 else None,
        )


def check_model(model: Any) -> None:
    """Refuse what is no estimator before anything is read."""
    if isinstance(model, type):
        raise InputError(f"model must be an estimator, not its class: give an instance, as in {model.__name__}().")
    if model is not None and not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        raise InputError(
            f"model must have fit and predict_proba, as classifiers of scikit-learn, got {type(model).__name__}."
        )


def _copied(model: Any, features: Any, seed: int) -> Any:
    """A fresh copy of somebody's estimator."""
    return deepcopy(model)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tried:
    """What one try made.

    Attributes
    ----------
    counted : Counted
        What was fitted, and every record's class.
    attacks : tuple of Attack
        One for each secret.
    number : int
        Of the try, from 1 on.
    """

    counted: Counted
    attacks: tuple[Attack, ...]
    number: int = 1

    @property
    def attack(self) -> Attack:
        """The one that came closest to breaking the promise."""
        return max(self.attacks, key=lambda one: (one.verdict == "broken", one.verdict == "undecided", _reach(one)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Made(Tried):
    """What one try made in memory.

    Attributes
    ----------
    twins : str
        A digest of who stood opposite whom.
    sources : ndarray of int
        Of each row the row that it appears as.
    hashes : ndarray of bytes
        What the draw followed from.
    """

    twins: str
    sources: IntArray
    hashes: Digests


T = TypeVar("T", bound=Tried)


def first_not_broken(
    attempt: Callable[[Settings, T | None], T],
    wishes: Wishes,
    n_labels: int,
    late: Callable[[], bool],
    subject: Subject,
) -> T:
    """Try until an attack does not break the promise, at most a few times.

    What is broken by little is drawn again by a design that stays farther inside, on the same classes: their limits
    hold for any design. Else a stronger model has classes of its own, and its own part of alpha. Where the attack
    cannot decide, later tries may make it; the last of these is what is published. Where all are broken, an error says
    which columns of the ``subject`` tell most.
    """
    made: T | None = None
    undecided: T | None = None
    strength, inside, tries = 0, 0.0, 0
    while strength < (1 if wishes.counted else len(SHARES)) and (made is None or not late()):
        tries += 1
        with progress.stage(
            "publishing" if tries == 1 else f"publishing: try {tries}, since an attack found too much in the last"
        ):
            again = made if inside else None
            made = replace(attempt(wishes.settings(strength, n_labels, inside), again), number=tries)
        if made.attack.verdict == "not broken":
            return made
        undecided = made if made.attack.verdict == "undecided" else undecided
        is_little = made.attack.verdict == "broken" and made.attack.beyond * FARTHER < MARGIN * wishes.budget
        if is_little and not inside and not wishes.counted:
            inside = FARTHER * made.attack.beyond
        else:
            strength, inside = strength + 1, 0.0
    assert made is not None
    if undecided is not None:
        return undecided
    raise BrokenByAttackError(
        f"an attack breaks {wishes.notion} in what would be published ({_tried(tries, strength, wishes)}): "
        f"{told(made.attack)}. Nothing is published. {_advice(wishes, subject, made)}",
        made.attack,
    )


def _tried(tries: int, strength: int, wishes: Wishes) -> str:
    """How many tries there were, and what the last one had that the first had not."""
    had = ["a stronger model"] if strength > 1 and wishes.model is None else []
    had += ["more classes"] if strength > 1 and wishes.classes is None else []
    had += ["more margin"] if strength > 2 else []
    listed = " and ".join([", ".join(had[:-1]), had[-1]] if len(had) > 1 else had)
    return "1 try" if tries == 1 else f"{tries} tries{', the last with ' if had else ''}{listed}"


def _advice(wishes: Wishes, subject: Subject, made: Tried) -> str:
    """What helps where every try is broken."""
    names = () if wishes.counted else most_telling(subject.cells, made.counted.classes, made.counted.joint)
    telling = f" ({', '.join(names)})" if names else ""
    first = "Learn beliefs instead of counting them" if wishes.counted else "Give a stronger model (model= in Python)"
    return (
        f"{IN_ORDER if wishes.keeps_order else ''}{first}, drop the columns that tell most{telling}, or promise a "
        "larger budget."
    )


def made_in_memory(
    subject: Subject,
    rule: SecretRule,
    wishes: Wishes,
    key: ReleaseKey,
    connection: Any,
    late: Callable[[], bool],
    entry: Entering | None = None,
) -> Made:
    """The first try that no attack breaks, and that keeps the promise with all that a ledger has."""

    def attempt(settings: Settings, before: Made | None) -> Made:
        if before is not None:
            counted = redesigned(before.counted, settings)
        elif wishes.counted:
            counted = fit_counted(subject, rule, settings)
        else:
            counted = fit(subject, rule, settings, seed_of(key))
        if entry is not None:
            counted = entry.within(subject, counted)
        return made_with(subject, counted, wishes, key, connection)

    n_labels = len(rule.read(subject.table, subject.turns).labels)
    return first_not_broken(attempt, wishes, n_labels, late, subject)


def made_with(subject: Subject, counted: Counted, wishes: Wishes, key: ReleaseKey, connection: Any) -> Made:
    """Draw with what was fitted, and attack the result."""
    mechanism = counted.fitted.mechanism
    hashes = subject.records.hashes(connection, draw_key(key, mechanism))
    drawn = appearing(
        hashes,
        counted.classes,
        mechanism,
        Distance(subject.cells, wishes.weights),
        subject.records.canonical,
        one_for_one=wishes.keeps_order,
    )
    after = [cells.taken(drawn.sources) for cells in subject.cells]
    attacks = attacks_on(subject, subject.cells, after, counted, wishes, seed_of(key))
    return Made(counted=counted, twins=drawn.digest, sources=drawn.sources, hashes=hashes, attacks=attacks)


def draw_key(key: ReleaseKey, mechanism: Mechanism) -> str:
    """The secret that every record's draw follows from."""
    return key.derive("twins", mechanism.fingerprint).hex()


def order_key(key: ReleaseKey, mechanism: Mechanism, content: str) -> str:
    """The secret that the order of published rows follows from.

    It is another one for another table (``content``), also under one key and mechanism: in one order, two tables could
    be put beside each other, and rows that are equal in both are true.
    """
    return key.derive("twins-order", mechanism.fingerprint, content).hex()


def attacks_on(
    subject: Subject, before: Sequence[Cells], after: Sequence[Cells], counted: Counted, wishes: Wishes, seed: int
) -> tuple[Attack, ...]:
    """Attack what would be published, once for every secret; rows of a person are in one half.

    Where rows keep their order, readers see beside each where it stands, and how often it occurs.
    """
    from discreet.publishing.attack.measuring import attacked
    from discreet.publishing.attack.standing import standing_beside
    from discreet.publishing.attack.written import times_of

    rule = counted.fitted.rule
    secrets = [Secret.of(texts) for texts in rule.columns_of(subject.table)]
    person = subject.roles.person
    persons = None if person is None else cells_of(person, subject.table.column(person)).codes
    sides = [(*times_of(table), *standing_beside(table)) if wishes.keeps_order else () for table in (before, after)]
    found = []
    with progress.stage("attacking what would be published"), warnings.catch_warnings():
        warnings.simplefilter("error", DiscreetWarning)
        for number, secret in enumerate(secrets):
            told = None
            if counted.beliefs is not None:
                places = counted.fitted.beliefs.places[number] if counted.fitted.beliefs is not None else slice(None)
                told = counted.beliefs[:, places] * len(secrets)
            found.append(
                attacked(
                    before,
                    after,
                    secret.codes,
                    secret.labels,
                    notion=wishes.notion,
                    seed=seed,
                    beside=(sides[0], sides[1]),
                    beliefs=told,
                    persons=persons,
                    sensitive=rule.columns if len(secrets) == 1 else (rule.columns[number],),
                )
            )
    return tuple(found)


def told(attack: Attack) -> str:
    """The first findings of an attack."""
    more = len(attack.reasons) - MOST_REASONS
    shown = " ".join(attack.reasons[:MOST_REASONS])
    return shown.rstrip(".") + (f", and {more} more" if more > 0 else "")


def _reach(attack: Attack) -> float:
    """The largest log-lift that it found in what would be published, of either sign."""
    return max(attack.after.log_max_lift, -attack.after.log_min_lift)


def seed_of(key: ReleaseKey) -> int:
    """A number for models and clusters, which follows from the key."""
    return int.from_bytes(key.derive("models")[:4], "big")
