"""Beliefs and classes: no record's own S enters them, and limits of what classes say cover the truth."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.beliefs import default_model
from discreet.publishing.classes import (
    FEWEST_CLASSES,
    LEAST_COUNTED,
    LEAST_PART,
    MOST_CLASSES,
    classes_for,
    make_classes,
)
from discreet.publishing.features import MOST_CODES, Encoder, features_of
from discreet.publishing.fitting import Settings, fit
from discreet.publishing.pilot import rule_from
from discreet.publishing.reading import Subject, read_subject
from discreet.publishing.roles import roles_of
from discreet.tables import open_table
from discreet.twins.cells import cells_of
from discreet.twins.secret import SecretRule
from tests.unit.publishing.made_up import people

KEY = ReleaseKey.from_seed(3)


def subject_of(table: pa.Table, **options: object) -> Subject:
    with open_table(table, places=True) as opened:
        return read_subject(opened, roles_of(opened, "ill", **options), KEY)


def with_duplicates(n: int = 1500) -> pa.Table:
    """Every tenth record three times, with secrets of their own."""
    table = people(n, seed=1).select(["age", "job", "town", "ill"])
    again = table.take(np.arange(0, n, 10).repeat(2))
    return pa.concat_tables([table, again])


def test_every_class_is_published_as_often_as_it_is_there_on_average() -> None:
    """Among all records, also those of the pilot, which are published and not counted."""
    settings = Settings(dc.LIP(0.5, confidence=0.9), default_model, "boosting")
    found = fit(subject_of(people()), SecretRule(("ill",)), settings, seed=5)
    mechanism = found.fitted.mechanism
    channel = np.asarray(mechanism.channel)[:, np.argsort(mechanism.own_places)]
    share = np.bincount(found.classes, minlength=len(channel)) / len(found.classes)
    assert share @ channel == pytest.approx(share, abs=1e-12)
    assert np.abs(found.joint.p_useful - share).max() > 1e-4


def test_no_records_own_secret_enters_what_is_believed_of_it() -> None:
    """With duplicates: flipping one record's S changes no belief or class of it, nor of any equal record."""
    table = with_duplicates()
    settings = Settings(dc.LIP(0.5), default_model, "boosting")
    rule = SecretRule(("ill",))
    first = fit(subject_of(table), rule, settings, seed=5)
    moved_classes, changed_others = 0, 0
    some = np.random.default_rng(0).choice(1500, 6, replace=False)
    for row in some.tolist():
        secrets = table.column("ill").to_pylist()
        secrets[row] = "no" if secrets[row] == "yes" else "yes"
        flipped = table.set_column(table.column_names.index("ill"), "ill", pa.array(secrets))
        subject = subject_of(flipped)
        again = fit(subject, rule, settings, seed=5)
        equal = subject.records.tuples == subject.records.tuples[row]
        assert (again.beliefs[equal] == first.beliefs[equal]).all()
        moved_classes += int((again.classes[equal] != first.classes[equal]).sum())
        changed_others += int((again.beliefs != first.beliefs).any())
    assert moved_classes == 0  # edges of a fold's classes follow from models of the other folds alone
    assert changed_others == len(some)  # else the test would see nothing


def test_equal_records_share_fold_and_class() -> None:
    subject = subject_of(with_duplicates())
    found = fit(subject, SecretRule(("ill",)), Settings(dc.LIP(0.5), default_model, "boosting"), seed=5)
    for values in (subject.folds, subject.pilot, found.classes):
        for t in np.unique(subject.records.tuples)[:200].tolist():
            assert len(set(values[subject.records.tuples == t].tolist())) == 1


def test_limits_of_classes_cover_what_is_true() -> None:
    """Given X: over many draws of S from a known law the limits of P(s | class) miss no more often than they may."""
    table = people(3000, seed=2).select(["age", "job", "left", "ill"])
    age, job = np.array(table["age"]), np.array(table["job"])
    chance = 0.15 + 0.35 * (age > 50) + 0.25 * (job == "smith")
    rng = np.random.default_rng(0)
    missed, runs = 0, 60
    for _ in range(runs):
        drawn = pa.array(np.where(rng.random(3000) < chance, "yes", "no"))
        subject = subject_of(table.set_column(3, "ill", drawn))
        notion = dc.LIP(0.5, confidence=0.8)
        found = fit(subject, SecretRule(("ill",)), Settings(notion, default_model, "boosting"), seed=1)
        counted = subject.turns >= 0
        sizes = np.bincount(found.classes[counted], minlength=found.joint.n_useful)
        truth = np.bincount(found.classes[counted], chance[counted], minlength=found.joint.n_useful) / sizes
        low, high = notion.limits(found.joint).floats
        missed += bool(((truth < low[1]) | (truth > high[1])).any())
    assert missed <= 20  # of 60 at 80 %: 12 on average at most; 20 or more with a chance of 0.9 %


def test_a_stratified_fold_would_feed_secrets_back() -> None:
    """Folds follow from the key and the record alone: they are the same whatever S is."""
    table = with_duplicates()
    other = table.set_column(3, "ill", pa.array(["no"] * table.num_rows))
    first, second = subject_of(table), subject_of(other)
    assert (first.folds == second.folds).all()
    assert (first.pilot == second.pilot).all()
    assert 0.4 < first.folds.mean() < 0.6
    assert 0.02 < first.pilot.mean() < 0.09


def test_classes_are_as_many_as_records_allow() -> None:
    assert classes_for(1000, 2, is_sure=True, n_folds=2) == FEWEST_CLASSES
    assert classes_for(30_000, 2, is_sure=True, n_folds=2) == 12
    assert classes_for(10**7, 2, is_sure=True, n_folds=2) == MOST_CLASSES // 2
    assert classes_for(30_000, 9, is_sure=True, n_folds=2) < classes_for(30_000, 2, is_sure=True, n_folds=2)


def test_quantiles_and_clusters_make_classes_in_each_fold() -> None:
    rng = np.random.default_rng(0)
    folds = rng.integers(0, 2, 2000)
    p = rng.random(2000)
    two = make_classes(np.column_stack([1 - p, p]), folds, folds >= 0, 5, fewest=10, seed=0)
    found = two.of(np.column_stack([1 - p, p]), folds)
    assert two.labels == ["A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "B4", "B5"]
    assert (found // 5 == folds).all()
    for fold in (0, 1):
        sizes = np.bincount(found[folds == fold] - 5 * fold, minlength=5)
        assert sizes.min() >= 0.4 * 1000 / 5 * 0.9
        assert all(p[found == k].max() <= p[found == k + 1].min() for k in range(5 * fold, 5 * fold + 4))
    three = rng.dirichlet([1, 1, 1], 2000)
    made = make_classes(three, folds, folds >= 0, 6, fewest=50, seed=0)
    sizes = np.bincount(made.of(three, folds))
    assert sizes.min() >= 50
    assert len(sizes) == sum(made.sizes) <= 12


@given(st.lists(st.sampled_from([0.02, 0.05, 0.1, 0.3, 0.32, 0.5, 0.8, 0.95]), min_size=12, max_size=40))
def test_two_labels_are_cut_where_classes_differ_least(beliefs: list[float]) -> None:
    p = np.array(sorted(beliefs))
    scale = np.arcsin(np.sqrt(p))

    def within(edges: tuple[float, ...]) -> float:
        parts = [scale[np.searchsorted(edges, p, side="right") == k] for k in range(len(edges) + 1)]
        if min(map(len, parts)) < LEAST_PART * len(p) / 3:
            return np.inf
        return sum(float(((part - part.mean()) ** 2).sum()) for part in parts)

    every = [edges for k in range(3) for edges in itertools.combinations(np.unique(p)[1:], k)]
    folds = np.zeros(len(p), dtype=np.int64)
    classes = make_classes(np.column_stack([1 - p, p]), folds, folds >= 0, 3, fewest=1, seed=0)
    assert classes.edges is not None
    assert within(tuple(classes.edges[0])) == pytest.approx(min(map(within, every)), abs=1e-9)


def test_beliefs_that_are_all_equal_make_one_class() -> None:
    same = np.full((400, 2), 0.5)
    folds = np.arange(400) % 2
    assert make_classes(same, folds, folds >= 0, 5, fewest=10, seed=0).sizes == (1, 1)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_most_records_of_every_class_are_counted(n_labels: int) -> None:
    """Also where all records of some beliefs are set aside, and those beliefs would have classes of their own."""
    rng = np.random.default_rng(0)
    different = rng.dirichlet(np.ones(n_labels), 24)
    which = rng.choice(24, 6000, p=rng.dirichlet(np.full(24, 5.0)))
    beliefs, folds, counted = different[which], which % 2, which % 5 != 1
    counts = np.bincount(make_classes(beliefs, folds, counted, 10, fewest=50, seed=0).of(beliefs, folds), counted)
    sizes = np.bincount(make_classes(beliefs, folds, counted, 10, fewest=50, seed=0).of(beliefs, folds))
    assert (counts >= LEAST_COUNTED * sizes).all()
    careless = np.bincount(make_classes(beliefs, folds, folds >= 0, 10, fewest=50, seed=0).of(beliefs, folds), counted)
    assert careless.min() == 0
    assert len(counts) > 6


def test_rare_labels_are_gathered_until_they_are_common() -> None:
    rng = np.random.default_rng(0)
    values = rng.choice(["a", "b", "c", "d", "e"], 4000, p=[0.6, 0.3, 0.094, 0.004, 0.002])
    table = pa.table({"s": values})
    pilot = np.arange(4000) % 2 == 0
    rule = rule_from(table, ["s"], pilot, each=False, bins=None, least_share=0.01)
    nobody = np.zeros(4000, dtype=bool)
    assert rule_from(table, ["s"], nobody, each=False, bins=None, least_share=0.01).gathered == rule.gathered
    assert set(rule.gathered) == {"c", "d", "e"}
    assert rule_from(table, ["s"], pilot, each=False, bins=None, least_share=0.005).gathered == ("e", "d")
    assert rule_from(table, ["s"], pilot, each=False, bins=None, least_share=0.0).gathered == ()


def test_features_of_many_values_are_places_and_common_codes() -> None:
    names = [f"v{k:04d}" for k in range(MOST_CODES + 50)]
    made = features_of([cells_of("x", pa.array([*names, *names[:20], None]))])
    assert made.matrix.shape == (len(names) + 21, 7)  # place, how common, code of the commonest, letters that vary
    assert made.is_category.tolist() == [False, False, True, True, True, True, True]
    assert np.nanmax(made.matrix[:, 2]) == MOST_CODES
    assert np.isnan(made.matrix[-1]).all()


def test_later_tables_are_read_under_the_codes_of_the_first() -> None:
    first = [cells_of("x", pa.array(["a", "b", "c"])), cells_of("n", pa.array([1, 2, 3]))]
    encoder = Encoder(first)
    later = [cells_of("x", pa.array(["c", "new", "a"])), cells_of("n", pa.array([9, 1, 1]))]
    found = encoder.features(later).matrix
    assert found[:, 1].tolist() == [9, 1, 1]
    assert found[0, 0] == 2
    assert np.isnan(found[1, 0])
    assert found[2, 0] == 0


@pytest.mark.parametrize(
    ("values", "is_id"),
    [
        ([f"R{k:05d}" for k in range(300)], True),
        ([f"name {k % 290}" for k in range(300)], True),
        (list(range(1000, 1300)), True),
        ([f"P{k // 3:04d}" for k in range(300)], False),
        ([str(k) for k in range(300)], True),
        ([f"town {k % 100}" for k in range(300)], False),
        ([k * 1.5 for k in range(300)], False),
        ([f"{k * 37 % 1000},{k % 100:02d} €" for k in range(300)], False),
        (np.random.default_rng(0).permutation(10**6)[:300].tolist(), False),
    ],
)
def test_ids_are_found(values: list, is_id: bool) -> None:
    table = people(300).append_column("x", pa.array(values))
    with open_table(table, places=True) as opened:
        roles = roles_of(opened, "ill", "all", (), None)
        assert ("x" in roles.ids) is is_id
        assert ("x" in roles.useful) is not is_id
        named = roles_of(opened, "ill", ["x", "age"], (), None)
    assert named.useful == ("x", "age")
    assert named.ids == ()


def test_ids_of_persons_repeat_and_are_found_by_their_name() -> None:
    table = people(300).append_column("resident_id", pa.array([f"P{k // 3:04d}" for k in range(300)]))
    table = table.append_column("street", pa.array([f"street {k % 120}" for k in range(300)]))
    with open_table(table, places=True) as opened:
        roles = roles_of(opened, "ill", "all", (), None)
    assert roles.ids == ("resident_id",)
    assert roles.telling == ("town", "street")
