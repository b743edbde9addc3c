"""Plans of publications: kept in a private file, read with the key alone, applied to later tables."""

from __future__ import annotations

import base64
import json
import os
import pickle
import stat
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import InputError
from tests.unit.publishing.made_up import people

JUNE, JULY = (people(6000, seed=seed).select(["age", "job", "town", "ill"]) for seed in (2, 3))
NOTION = dc.LIP(0.8, confidence=0.9)


@pytest.fixture(scope="module")
def june() -> dc.Publication:
    return dc.publish(JUNE, "ill", notion=NOTION, seed=1, margin=0.25, weights={"job": 2.0})


def test_a_kept_plan_publishes_a_later_table_as_the_publication_does(june: dc.Publication, tmp_path: Path) -> None:
    path = tmp_path / "june.plan"
    june.plan.save(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = dc.load_plan(path, june.key)
    first, second = june.apply(JULY), again.apply(JULY)
    assert first.table.equals(second.table)
    assert again.weights == {"job": 2.0}
    assert second.notion == NOTION  # the margin left room
    assert dc.verify(second.certificate, JULY, second.table, key=june.key).level == "redrawn"
    assert dc.load_plan(path, june.key).apply(JUNE).table.equals(june.table)


def test_a_later_table_comes_in_an_order_of_its_own(june: dc.Publication) -> None:
    """In one order two tables could be put beside each other, and what is equal in both is true."""
    ids = pa.array(np.arange(JUNE.num_rows) * 7919 % 100_003 + 0.5)
    first, later = JUNE.append_column("pay", ids), JUNE.append_column("pay", ids).slice(50)
    made = dc.publish(first, "ill", ["age", "job", "pay"], NOTION, seed=1, margin=0.3)
    shown = [table.column("pay").to_pylist() for table in (made.table, made.apply(later).table)]
    once = [{pay for pay in pays if pays.count(pay) == 1} for pays in (shown[0][:1500], shown[1][:1500])]
    place = [{pay: k for k, pay in enumerate(pays)} for pays in (shown[0][:1500], shown[1][:1500])]
    both = sorted(once[0] & once[1], key=place[0].__getitem__)
    assert len(both) > 100
    assert abs(np.corrcoef(np.arange(len(both)), [place[1][pay] for pay in both])[0, 1]) < 0.3


def test_a_plan_is_written_with_the_files_of_a_publication(tmp_path: Path) -> None:
    pq.write_table(JUNE, tmp_path / "june.parquet")
    paths = {"output": tmp_path / "out.parquet", "write_key": tmp_path / "key", "write_plan": tmp_path / "plan"}
    dc.publish(tmp_path / "june.parquet", "ill", notion=NOTION, **paths)
    later = dc.load_plan(tmp_path / "plan", tmp_path / "key").apply(JULY, key=tmp_path / "key")
    assert later.rows == JULY.num_rows
    with pytest.raises(InputError, match="needs a name of its own"):
        dc.publish(JUNE, "ill", notion=NOTION, output=tmp_path / "o.csv", write_plan=tmp_path / "o.csv")
    with pytest.raises(InputError, match="name the output"):
        dc.publish(JUNE, "ill", notion=NOTION, write_plan=tmp_path / "p")


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("ran",)


def test_what_others_wrote_is_not_read(june: dc.Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    june.plan.save("plan")
    stored = json.loads(Path("plan").read_text())
    bomb = base64.b64encode(zlib.compress(pickle.dumps(_Bomb()))).decode()
    for changed in (stored | {"plan": bomb}, stored | {"versions": {}}, stored | {"code": ""}, stored | {"code": 3}):
        Path("other").write_text(json.dumps(changed))
        with pytest.raises(InputError, match="not written with this key"):
            dc.load_plan("other", june.key)
    with pytest.raises(InputError, match="not written with this key"):
        dc.load_plan("plan", dc.ReleaseKey.fresh())
    assert not Path("ran").exists()
    for text in ("", "[]", "{}", "\x00"):
        Path("other").write_text(text)
        with pytest.raises(InputError, match="is not a plan"):
            dc.load_plan("other", june.key)
    with pytest.raises(InputError, match="cannot read the plan"):
        dc.load_plan("nowhere", june.key)


def test_plans_of_other_versions_are_refused(
    june: dc.Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.publishing import plan

    with monkeypatch.context() as older:
        older.setattr(plan, "_versions", lambda: {"discreet": "0.0.1", "scikit-learn": "0.1"})
        june.plan.save(tmp_path / "plan")
    with pytest.raises(InputError, match=r"was written with discreet 0\.0\.1 \(here .*scikit-learn 0\.1"):
        dc.load_plan(tmp_path / "plan", june.key)


def test_a_later_table_that_loses_its_confidence_says_so() -> None:
    tight = dc.publish(JUNE, "ill", notion=NOTION, seed=1)
    settings = tight.fitted.settings
    later = None
    for seed in range(3, 12):
        try:
            later = tight.apply(people(6000, seed=seed).select(["age", "job", "town", "ill"]))
        except dc.errors.BrokenNotionError:
            continue
        break
    assert later is not None
    assert settings.notion.confidence is not None
    assert later.notion.confidence is None
    assert "confidence" not in repr(later)
    (note,) = [note for note in later.notes if "about the counted records alone" in note]
    assert -settings.notion.slack(later.joint, tight.fitted.mechanism) == pytest.approx(
        float(note.split("miss it by ")[1].split()[0]), rel=0.1
    )
    assert note.code == "confidence-lost"
    said = "Nothing is published, since confidence was required .* They miss it by 0.* nats: fit the first table"
    with pytest.raises(dc.errors.BrokenNotionError, match=said) as caught:
        tight.apply(people(6000, seed=seed).select(["age", "job", "town", "ill"]), require="confidence")
    assert caught.value.exit_code == 1


def test_values_that_the_first_table_lacks_are_told_of(june: dc.Publication) -> None:
    town = JULY.column("town").to_pylist()
    strange = pa.array(["Newtown" if k % 50 == 0 else value for k, value in enumerate(town)])
    later = june.apply(JULY.set_column(JULY.column_names.index("town"), "town", strange))
    assert any(note.startswith("values that the first table lacks: town (2.0 % of rows)") for note in later.notes)
    assert not any("first table lacks" in note for note in june.apply(JULY).notes)


def test_counted_beliefs_make_no_plan(june: dc.Publication) -> None:
    counted = replace(june.plan, fitted=replace(june.fitted, beliefs=None))
    with pytest.raises(InputError, match="one table's own records"):
        counted.text()
    with pytest.raises(InputError, match="one table's own records"):
        counted.apply(JULY)


def test_columns_of_another_kind_and_tables_that_are_too_small_are_refused() -> None:
    born = np.datetime64("1950-01-01") + np.random.default_rng(1).integers(0, 20_000, JUNE.num_rows)
    dates = pa.array(born.astype("datetime64[D]"))
    first = JUNE.append_column("born", pa.array([day.strftime("%d.%m.%Y") for day in dates.to_pylist()]))
    made = dc.publish(first, "ill", notion=NOTION, seed=1, margin=0.2)
    for other in (dates, dates.cast(pa.timestamp("us"))):
        with pytest.raises(InputError, match="'born' was text read as dates: day month year in the first table and is"):
            made.apply(JUNE.append_column("born", other))
    with pytest.raises((InputError, dc.errors.BrokenNotionError), match="later table"):
        made.apply(first.slice(0, 120))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"margin": -1}, "margin must be"),
        ({"margin": float("nan")}, "margin must be"),
        ({"classes": 2}, "classes must"),
    ],
)
def test_senseless_wishes_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        dc.publish(JUNE, "ill", **wrong)


def test_a_later_table_with_other_sensitive_values_is_refused(june: dc.Publication) -> None:
    """Fewer values, or ones that nothing was learned about: the plan's limits are about others."""
    ill = JULY.column("ill").to_pylist()
    alone = JULY.filter(pa.array([value == "no" for value in ill]))
    place = JULY.column_names.index("ill")
    new = JULY.set_column(place, "ill", pa.array(["?" if k % 5 == 0 else value for k, value in enumerate(ill)]))
    for later in (alone, new):
        with pytest.raises(dc.errors.UnusableColumnError, match="other values in the later table"):
            june.apply(later)


def test_a_later_table_of_other_people_says_what_changes(june: dc.Publication) -> None:
    older = JULY.filter(pa.array([age > 40 for age in JULY.column("age").to_pylist()]))
    more = older.append_column("extra", pa.array(range(older.num_rows)))
    found = june.apply(more, shuffle=False)
    said = " ".join(found.notes)
    assert "not published, as the first table lacks them: extra" in said
    assert "classes are not as common here" in said
    assert "rows keep their order" in said
    assert found.certificate["publication"]["classes"]["coupling"] == "one for one, some repeated"
    assert dc.verify(found.certificate, more, found.table, key=june.key).level == "redrawn"
    assert "classes are not as common here" not in " ".join(june.apply(JULY).notes)
