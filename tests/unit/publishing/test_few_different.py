"""Tables of few different records: shares are kept, each class is counted, and draws can be redone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.beliefs import default_model
from discreet.publishing.fitting import Counted, Settings, designed, fit, learn_classes
from discreet.publishing.quality import quality_of
from discreet.publishing.reading import PILOT_ONE_IN, Subject, read_subject
from discreet.publishing.roles import roles_of
from discreet.tables import open_table
from discreet.twins.distance import Distance
from discreet.twins.draw import appearing
from discreet.twins.secret import SecretRule
from tests.unit.publishing.made_up import few_different, people

NOTION = dc.LIP(0.5, confidence=0.9)
LARGE = few_different(16_000)
TABLE = few_different()
SETTINGS = Settings(NOTION, default_model, "boosting")
RULE = SecretRule(("income",))

#: Draws that the spread of shares is taken from: it is known to a tenth or so.
DRAWS = 20

#: Standard errors that a share is off by in one of a million draws at the most.
FAR = 5


def subject_of(table: pa.Table, seed: int, secret: str = "income") -> Subject:
    with open_table(table, places=True) as opened:
        return read_subject(opened, roles_of(opened, secret), ReleaseKey.from_seed(seed))


def shift_of(found: Counted) -> float:
    """By how much the share of a class changes at the most, on average over the draw."""
    mechanism = found.fitted.mechanism
    channel = np.asarray(mechanism.channel)[:, np.argsort(mechanism.own_places)]
    share = found.sizes / found.sizes.sum()
    return float(np.abs(share @ channel - share).max())


@pytest.mark.parametrize("seed", range(8))
def test_every_class_keeps_its_share_on_average(seed: int) -> None:
    found = fit(subject_of(TABLE, seed), RULE, SETTINGS, seed)
    counted = np.asarray(found.joint.counts).sum(axis=0)
    assert shift_of(found) < 1e-12
    assert (counted > 0.8 * found.sizes).all()  # some 0.95, whichever records are set aside


@pytest.mark.parametrize("seed", range(1, 5))
def test_values_keep_their_shares_within_the_errors_that_are_stated(seed: int) -> None:
    found = dc.publish(LARGE, "income", notion=NOTION, seed=seed)
    shares = [share for column in found.quality.columns.values() for share in column.shares]
    assert len(shares) > 12
    assert all(abs(after - before) <= FAR * error for _, before, after, error in shares)
    assert found.attack.verdict == "not broken"


def test_shares_vary_between_draws_as_much_as_is_stated() -> None:
    subject = subject_of(TABLE, 10)
    found = fit(subject, RULE, SETTINGS, 10)
    rng, distance, far = np.random.default_rng(0), Distance(subject.cells, {}), []
    for _ in range(DRAWS):
        hashes = np.array([rng.bytes(32).hex() for _ in range(len(subject))], dtype="S64")
        mechanism, names = found.fitted.mechanism, subject.records.canonical
        sources = appearing(hashes, found.classes, mechanism, distance, names, one_for_one=False).sources
        kept = quality_of(subject.cells, [cells.taken(sources) for cells in subject.cells])
        shares = [share for column in kept.columns.values() for share in column.shares]
        far += [(after - before) / error for _, before, after, error in shares if error]
    assert 0.8 < np.std(far) < 1.2
    assert max(map(abs, far)) < FAR


def test_rows_in_order_keep_shares_exactly_and_are_redrawn() -> None:
    found = dc.publish(TABLE, "income", notion=NOTION, seed=1, shuffle=False)
    assert all(column.largest[1] == 0 for column in found.quality.columns.values())
    assert found.attack.verdict != "broken"
    assert dc.verify(found.certificate, TABLE, found.table, key=found.key).level == "redrawn"


def test_the_same_key_gives_the_same_rows_and_counts_whatever_their_order() -> None:
    found = dc.publish(TABLE, "income", notion=NOTION, seed=1)
    order = np.random.default_rng(5).permutation(TABLE.num_rows)
    moved = dc.publish(TABLE.take(order), "income", notion=NOTION, seed=1)
    assert moved.table.equals(found.table)
    assert (np.asarray(moved.joint.counts) == np.asarray(found.joint.counts)).all()
    for table in (TABLE, TABLE.take(order)):
        verdict = dc.verify(found.certificate, table, found.table, key=found.key)
        assert verdict.level == "redrawn", verdict.reasons


def test_other_secrets_of_equal_records_are_noticed() -> None:
    found = dc.publish(TABLE, "income", notion=NOTION, seed=1)
    incomes = np.array(TABLE["income"].to_pylist())
    incomes[0] = "low" if incomes[0] == "high" else "high"
    other = TABLE.set_column(2, "income", pa.array(incomes))
    assert dc.verify(found.certificate, other, found.table, key=found.key).level == "failed"


def test_equal_records_share_their_fold_and_are_set_aside_one_by_one() -> None:
    subject = subject_of(TABLE, 3)
    assert subject.one_by_one
    tuples, sizes = subject.records.tuples, np.bincount(subject.records.tuples)
    folds = np.bincount(tuples, subject.folds) / sizes
    assert set(folds.tolist()) == {0.0, 1.0}
    aside, expected = np.bincount(tuples, subject.pilot), sizes / PILOT_ONE_IN
    assert (np.abs(aside - expected) <= FAR * np.sqrt(expected) + 1).all()
    assert not subject_of(people(), 3, "ill").one_by_one


def test_classes_that_nothing_is_counted_of_are_refused() -> None:
    """Their records would else be published as those of the commonest class."""
    subject = subject_of(TABLE, 3)
    learned = learn_classes(subject, RULE, SETTINGS, 3)
    joint = fit(subject, RULE, SETTINGS, 3).joint
    cells = np.asarray(joint.counts).copy()
    sizes = cells.sum(axis=0)
    cells[:, 0] = 0
    lacking = dc.Joint.from_counts(cells, sensitive=joint.sensitive, useful=joint.useful)
    with pytest.raises(dc.errors.UnusableColumnError, match=f"{sizes[0]:,} records are in classes of which none is"):
        designed(subject, RULE, SETTINGS, learned, lacking, sizes)
