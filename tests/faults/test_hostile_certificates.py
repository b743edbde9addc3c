"""What a hostile reader tried on certificates and releases, each attempt as a test; who forges seals anew."""

from __future__ import annotations

import copy
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet.certificate import checker
from discreet.certificate.record import sealed
from discreet.releasing import Request, run
from tests.releases import awkward_table

FULL = 2**60


def forged(data: dict[str, Any], output: Path | None = None) -> dict[str, Any]:
    """Digests of the mechanism, of the output and of the certificate itself made anew."""
    data = copy.deepcopy(data)
    data["digests"]["mechanism"] = checker.digest(data["mechanism"])
    if output is not None:
        data["digests"]["output"] = hashlib.sha256(output.read_bytes()).hexdigest()
    return sealed(data)


class Case:
    """A release with everything that belongs to it."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.table, self.output = folder, folder / "in.parquet", folder / "out.parquet"
        whole = awkward_table(3_000, seed=5)
        pq.write_table(whole, self.table)
        result = design(Joint.from_table(whole, "ill", "job"), LIP(0.2))
        self.key = dc.ReleaseKey.fresh()
        done = run(
            Request.of(self.table, result.mechanism, key=self.key, output=self.output,
                       private_certificate=folder / "private.json", proof=result.proof.to_dict(), **options)
        )  # fmt: skip
        assert done.certificate is not None
        self.private, self.public = done.certificate.to_dict(), done.certificate.public.to_dict()

    def verify(self, data: dict[str, Any], output: Path | None = None, key: bool = True) -> dc.Verdict:
        return dc.verify(data, self.table, output or self.output, key=self.key if key else None)

    def rewritten(self, change: Any) -> Path:
        """The release, changed, under another name."""
        path = self.folder / "forged.parquet"
        pq.write_table(change(pq.read_table(self.output)), path)
        return path


@pytest.fixture(scope="module")
def by_id(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("by_id"), id="uuid")


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("shuffled"), shuffle=True, keep=["sex"], uncovered=["sex"])


@pytest.mark.parametrize("name", ["private", "public"])
def test_honest_certificates_reach_their_level(name: str, by_id: Case, shuffled: Case) -> None:
    for case in (by_id, shuffled):
        data = getattr(case, name)
        assert case.verify(data).level == "redrawn"
        assert dc.verify(data).level == ("verified" if name == "private" else "consistent")
    assert by_id.verify(getattr(by_id, name), key=False).level == "verified"
    unmatched = shuffled.verify(getattr(shuffled, name), key=False)
    assert unmatched.level == "consistent"  # rows cannot be matched, so nothing is known of the cells
    assert "cannot be matched" in str(unmatched)


@pytest.mark.parametrize("key", [True, False])
def test_a_column_added_to_the_release(key: bool, by_id: Case) -> None:
    """The true S as a note, listed as released and published."""
    ill = pq.read_table(by_id.table).column("ill").cast(pa.string())
    path = by_id.rewritten(lambda t: t.append_column("note", ill))
    for lists in (("released", "published"), ("kept", "published"), ("published",)):
        data = copy.deepcopy(by_id.private)
        for name in lists:
            data["columns"][name].append("note")
        if "kept" in lists:
            data["not_covered"].append({"column": "note", "values": 2, "reason": "harmless"})
        assert by_id.verify(forged(data, path), path, key).level == "failed"


def test_attributes_are_not_paired_with_characters() -> None:
    """Two parts and one column, whose labels are texts of two letters: the release would be the column itself."""
    about = {"format": "discreet-mechanism/1", "method": None, "notion": {"name": "lip", "epsilon": 0.0},
             "reads_sensitive": False, "sensitive_columns": ["s"], "useful_columns": ["job"], "bins": {},
             "denominator": FULL, "private": False}  # fmt: skip
    part = about | {"kind": "channel", "useful": ["a", "c"], "released": ["y"], "rows": [[[0, FULL]], [[0, FULL]]]}
    other = part | {"useful": ["b", "d"]}
    mechanism = about | {"kind": "attributes", "useful": ["ab", "cd"], "parts": [part, other]}
    counts = {"sensitive": [0, 1], "useful": ["ab", "cd"], "cells": [[0, 0, 5], [1, 1, 5]]}
    data = {"format": checker.FORMAT, "notion": about["notion"], "mechanism": mechanism, "nmi": "0.000000",
            "achieved": {"log_max_lift": "0.000000", "log_min_lift": "0.000000"}, "bound": None, "bound_evidence": None,
            "rows": {"input": 10, "output": 10}, "reads_sensitive": False, "public_counts": False, "versions": {},
            "private_mechanism": False, "digests": {"mechanism": ""}, "counts": counts}  # fmt: skip
    verdict = dc.verify(forged(data))
    assert verdict.level == "failed"
    assert "weights" in {finding.subject for finding in verdict.failures}


def test_labels_that_spell_s(shuffled: Case) -> None:
    """Without an id, and in a random order, any labels of the mechanism passed."""
    ill = pq.read_table(shuffled.table).column("ill").to_pylist()
    labels = shuffled.private["mechanism"]["released"]
    path = shuffled.rewritten(lambda t: t.set_column(t.schema.get_field_index("job"), "job", pa.array(
        [labels[s] for s in ill])))  # fmt: skip
    for data in (shuffled.private, shuffled.public):
        assert shuffled.verify(forged(data, path) if data["mechanism"] else sealed(data), path).level == "failed"
        assert not shuffled.verify(forged(data, path), path, key=False)


def test_labels_paired_with_other_kept_cells(shuffled: Case) -> None:
    """The same labels and the same kept cells as bags, each beside another."""
    path = shuffled.rewritten(lambda t: t.set_column(t.schema.get_field_index("sex"), "sex", pa.array(
        sorted(t.column("sex").to_pylist()))))  # fmt: skip
    assert shuffled.verify(forged(shuffled.private, path), path).level == "failed"


@pytest.mark.parametrize("sorts", ["ill", "job"])
def test_rows_sorted_by_the_true_values(sorts: str, by_id: Case, shuffled: Case) -> None:
    order = np.argsort(pq.read_table(by_id.table).column(sorts).to_pandas().astype(str), kind="stable")
    for case in (by_id, shuffled):
        path = case.rewritten(lambda t: t.take(pa.array(order)))
        verdict = case.verify(forged(case.private, path), path)
        assert "order" in {finding.subject for finding in verdict.failures} or verdict.level == "failed"
        assert case.verify(forged(case.private, path), path, key=False).level in ("failed", "consistent")


def test_a_random_order_that_is_none(tmp_path: Path) -> None:
    """Sorted by the true S, with ids: without the key nobody knows the right order, but this one tells."""
    case = Case(tmp_path, id="uuid", shuffle=True, publish_id=True)
    honest = case.verify(case.private, key=False)
    assert honest.level == "verified"
    truth = dict(zip(*(pq.read_table(case.table).column(c).to_pylist() for c in ("uuid", "ill"))))
    ids = pq.read_table(case.output).column("uuid").to_pylist()
    path = case.rewritten(lambda t: t.take(pa.array(np.argsort([truth[i] for i in ids], kind="stable"))))
    verdict = case.verify(forged(case.private, path), path, key=False)
    assert [finding.subject for finding in verdict.failures if finding.subject == "order"] == ["order"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["columns"].__setitem__("sensitive", ["age"]),
        lambda d: d["columns"].__setitem__("useful", ["age"]),
        lambda d: d["digests"].__setitem__("input", None),
        lambda d: d.__setitem__("versions", {"discreet": "9"}),
        lambda d: d.__setitem__("order", "shuffle"),
        lambda d: d.__setitem__("engine", "spark"),
        lambda d: d.__setitem__("bound_evidence", "claimed, not checkable"),
        lambda d: d.__setitem__("unseen", {"treated_as": None, "rows": 3}),
        lambda d: d.__setitem__("checked_on", "the design only (trusted)"),
        lambda d: d.__setitem__("extra", 1),
        lambda d: d.__setitem__("bound", "0.999000"),
        lambda d: (d["notion"].update(epsilon=0.9), d["mechanism"]["notion"].update(epsilon=0.9)),
    ],
)
@pytest.mark.parametrize("name", ["private", "public"])
def test_no_field_can_be_changed_before_whoever_has_the_key(change: Any, name: str, by_id: Case) -> None:
    data = copy.deepcopy(getattr(by_id, name))
    change(data)
    assert by_id.verify(forged(data)).level == "failed"


def test_a_seed_does_not_pass_for_a_private_draw(tmp_path: Path) -> None:
    table = awkward_table(500)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.2)).mechanism
    data = run(Request.of(table, mechanism, seed=77, output=tmp_path / "o.csv")).certificate.to_dict()
    assert data["key"]["draw"] == "reproducible, not private"
    data["key"]["draw"] = "private"
    assert "draw" in {finding.subject for finding in dc.verify(forged(data)).failures}


@pytest.mark.parametrize("text", ['{"format": 1, "format": 2}', '{"format": NaN}', '{"format": 1e999}'])
def test_names_that_occur_twice_and_numbers_that_are_none(text: str, by_id: Case, tmp_path: Path) -> None:
    whole = json.dumps(by_id.public)
    path = tmp_path / "c.json"
    path.write_text(whole[:-1] + ', "nmi": "1.000000"}')
    with pytest.raises(dc.errors.InputError, match="occurs twice"):
        dc.verify(path)
    path.write_text(text)
    with pytest.raises(dc.errors.InputError):
        dc.verify(path)


def test_budgets_are_numbers_not_truths(by_id: Case) -> None:
    for value in (True, "0.2", None, -0.2, [0.2]):
        data = copy.deepcopy(by_id.private)
        data["notion"]["epsilon"] = data["mechanism"]["notion"]["epsilon"] = value
        assert dc.verify(forged(data)).level == "failed"


def monthly(tmp_path: Path, changed: int | None, **options: Any) -> tuple[Any, dict[str, Any]]:
    """A month's table under one key, in one month with one person's value changed."""
    table = awkward_table(800, seed=9)
    jobs = table.column("job").to_pylist()
    if changed is not None:
        jobs[changed] = "tab\there" if jobs[changed] != "tab\there" else "null"
    table = table.set_column(table.schema.get_field_index("job"), "job", pa.array(jobs))
    mechanism = design(Joint.from_table(awkward_table(800, seed=9), "ill", "job"), LIP(0.2)).mechanism
    given = {"key": bytes(range(32)), "notion": LIP(0.5), "output": tmp_path / "o.parquet", "force": True}
    done = run(Request.of(table, mechanism, as_values=False, **given, **options))  # in values, tables draw anew
    return pq.read_table(tmp_path / "o.parquet"), done.certificate.public.to_dict()


def test_input_digests_of_months_tell_no_row(tmp_path: Path) -> None:
    """As sums, those of four months differed by the digest of a single row: D2 - D1 == D4 - D3."""
    digests = [
        int(monthly(tmp_path, k, id="uuid")[1]["digests"]["input"]["hmac"], 16) for k in (None, 3, 5, None)
    ]  # fmt: skip
    assert digests[0] == digests[3]
    assert len({(b - a) % 2**256 for a in digests[:3] for b in digests[:3]} - {0}) == 6


def test_the_same_places_in_another_table_draw_anew(tmp_path: Path) -> None:
    """Other people stand there: under one key their draws, and their random orders, must tell nothing of each other."""
    first, again, other = (monthly(tmp_path, k)[0].column("job").to_pylist() for k in (None, None, 3))
    assert first == again
    same = sum(a == b for a, b in zip(first, other)) / len(first)
    assert same < 0.9  # the mechanism releases many values with certainty, others anew
    with_ids = [
        dict(zip(t.column("uuid").to_pylist(), t.column("job").to_pylist()))
        for t in (monthly(tmp_path, k, id="uuid")[0] for k in (None, 3))
    ]
    assert sum(with_ids[0][i] != y for i, y in with_ids[1].items()) <= 1  # a person's draw stays


def test_random_orders_of_two_tables_do_not_link(tmp_path: Path) -> None:
    ages = [
        monthly(tmp_path, k, shuffle=True, keep=["weight"], uncovered=["weight"])[0].column("weight").to_pylist()
        for k in (None, 3)
    ]
    place = {value: k for k, value in enumerate(ages[0])}
    other = [place[value] for value in ages[1]]
    assert abs(np.corrcoef(other, np.arange(len(other)))[0, 1]) < 0.2


def test_a_split_outside_its_box_proves_nothing() -> None:
    """F1: beside a negative point the chord lies above the curve, and a false bound seemed proven."""
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]])
    weak, best = design(joint, LIP(0.5), "watchdog"), design(joint, LIP(0.5))
    data = dc.certify(weak, proof=best.proof.to_dict()).to_dict()
    assert dc.verify(data).level == "verified"
    for point in (-1e-9, -0.1, -5.0, 1.0001, 3.0):
        for box in range(len(data["proof"]["multipliers"])):
            for symbol in range(3):
                bad = copy.deepcopy(data)
                bad["proof"]["splits"].append([box, symbol, point])
                bad["proof"]["multipliers"].append(bad["proof"]["multipliers"][box])
                bad["bound"] = "0.560993"
                found = {f.subject: f.passed for f in dc.verify(sealed(bad)).findings}
                assert found["bound"] is False


def test_a_public_bound_is_called_unchecked(by_id: Case) -> None:
    """F2: resealed with a false one, nothing was said of it."""
    data = copy.deepcopy(by_id.public)
    data["bound"] = data["nmi"]
    verdict = by_id.verify(sealed(data), key=False)
    assert {f.subject: f.passed for f in verdict.findings}["bound"] is None
    assert "its proof is private" in str(verdict.to_dict())


@pytest.mark.parametrize("private", [True, False])
def test_certificates_of_designs_verify(private: bool) -> None:
    """F3: they name no columns of a release, and need not."""
    table = awkward_table(500)
    made = dc.certify(design(Joint.from_table(table, "ill", "job"), LIP(0.2)))
    assert dc.verify(made if private else made.public, table).level == "verified"
    assert dc.verify(made, table, table).level == "failed"


def test_one_useful_value_keeps_nothing_and_verifies() -> None:
    """F4."""
    result = design(Joint.from_counts([[3], [4]]), LIP(0.5))
    assert result.nmi == 0
    assert dc.certify(result)["nmi"] == "0.000000"
    assert dc.verify(dc.certify(result)).level == "verified"


def test_whole_releases_are_certified_as_whole() -> None:
    """F4: randomised but for the value itself, they came out as 0.999999, claimed."""
    joint = Joint.from_counts([[5, 7, 9], [6, 7, 8]])
    split = [[1 / 3, 2 / 3, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    made = dc.certify(dc.Mechanism.from_channel(split, useful=joint.useful), joint, LIP(1.0))
    assert (made["nmi"], made["bound"]) == ("1.000000", "1.000000")
    assert dc.verify(made).level == "verified"


def test_information_is_right_where_there_is_hardly_any() -> None:
    """F4: H(X) about 6e-12 nats, against 60 digits."""
    counts = [[10**13, 1, 1], [10**13, 2, 1]]
    joint = Joint.from_counts(counts)
    mechanism = dc.Mechanism.from_blocks(joint, [0, 0, 1])
    with mpmath.workdps(60):
        total = mpmath.mpf(sum(map(sum, counts)))

        def entropy(masses: list[int]) -> Any:
            return -sum(n / total * mpmath.log(n / total) for n in map(mpmath.mpf, masses))

        share = float(entropy([2 * 10**13 + 3, 2]) / entropy([2 * 10**13, 3, 2]))
    assert dc.measures.nmi(joint, mechanism) == pytest.approx(share, rel=1e-9)
    assert float(dc.certify(mechanism, joint, LIP(5.0))["nmi"]) == pytest.approx(share, abs=2e-6)


def hostile(kind: str) -> dict[str, Any]:
    """Short certificates that ask for more work than anybody has time for."""
    lip = {"name": "lip", "epsilon": 0.5}
    about = {"format": "discreet-mechanism/1", "method": None, "notion": lip, "reads_sensitive": False, "bins": {},
             "sensitive_columns": [], "useful_columns": [], "denominator": FULL, "private": False}  # fmt: skip
    cells = [[0, 0, 5], [1, 0, 5]]
    if kind == "srlip of 41 attributes":
        about["notion"], useful = {"name": "srlip", "epsilon": 0.5}, [["a"] * 41, ["b"] * 41]
        mechanism = about | {"kind": "channel", "useful": useful, "released": ["y"], "rows": [[[0, FULL]]] * 2}
    elif kind == "product of ten rows of 16":
        useful, row = [["a"] * 10], [[k, FULL // 16] for k in range(16)]
        part = {"kind": "channel", "useful": ["a"], "released": [str(k) for k in range(16)], "rows": [row]}
        mechanism = about | {"kind": "attributes", "useful": useful, "parts": [about | part] * 10}
    else:
        useful = list(range(300))
        mechanism = about | {"kind": "bits", "useful": useful, "bits": {"true": FULL // 2, "other": FULL // 4}}
        cells = [[s, s, 1] for s in range(300)]
    sensitive = list(range(1 + max(s for s, _, _ in cells)))
    data = {"format": checker.FORMAT, "notion": about["notion"], "mechanism": mechanism, "nmi": "0.5", "achieved": None,
            "bound": None, "bound_evidence": None, "rows": None, "reads_sensitive": False, "public_counts": False,
            "versions": {}, "private_mechanism": False, "digests": {"mechanism": ""},
            "counts": {"sensitive": sensitive, "useful": useful, "cells": cells}}  # fmt: skip
    return forged(data)


@pytest.mark.parametrize("kind", ["srlip of 41 attributes", "product of ten rows of 16", "bits of 300 by 300"])
def test_short_certificates_do_not_run_for_ever(kind: str) -> None:
    verdict = dc.verify(hostile(kind))
    assert [finding.subject for finding in verdict.failures] == ["size"]
    assert "refused: about" in str(verdict)


@pytest.mark.parametrize("spelling", [1.0, True, {"decimal": "1.00"}])
def test_labels_that_are_equal_are_one_however_they_are_spelt(spelling: Any) -> None:
    """Somebody who knows the first attribute would be two people, and SRLIP seemed to hold."""
    useful = [(1, "u"), (1, "v"), (2, "w")]
    joint = Joint.from_counts([[30, 10, 20], [10, 30, 20]], useful=useful)
    notion = dc.SRLIP(0.3)
    mechanism = dc.Mechanism.from_channel(np.eye(3), useful=useful, notion=notion.to_dict())
    assert not notion.holds(joint, mechanism)
    data = dc.certify(mechanism.promising(dc.SRLIP(3.0).to_dict()), joint).to_dict()
    for holder in (data["mechanism"], data["counts"]):
        holder["useful"][1] = [spelling, "v"]
    data["notion"] = data["mechanism"]["notion"] = notion.to_dict()
    assert dc.verify(forged(data)).level == "failed"


def test_frames_in_another_order_are_other_tables() -> None:
    """Places are the ids of their rows, and other people stand there."""
    table = awkward_table(2_000, seed=4)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.05)).mechanism
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(2_000)))
    one, two = (dc.release(t, mechanism, key=bytes(32)).column("job").to_pylist() for t in (table, mixed))
    x1, x2 = table.column("job").to_pylist(), mixed.column("job").to_pylist()
    same = [a == b for a, b, p, q in zip(one, two, x1, x2) if p == q]
    assert sum(same) < 0.97 * len(same)
    again = dc.release(table, mechanism, key=bytes(32)).column("job").to_pylist()
    assert again == one


def test_releases_with_other_columns_have_other_orders() -> None:
    """Else rows of one could be put beside those of the other by their places."""
    table = awkward_table(1_000, seed=4)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.2)).mechanism
    orders = []
    for further in ([], ["sex"]):
        keep = ["weight", *further]
        got = dc.release(table, mechanism, key=bytes(32), shuffle=True, keep=keep, uncovered=keep)
        orders.append(got.column("weight").to_pylist())
    place = {weight: k for k, weight in enumerate(orders[0])}
    assert abs(np.corrcoef([place[weight] for weight in orders[1]], np.arange(1_000))[0, 1]) < 0.2


def test_a_trusted_release_states_nothing_of_what_it_did_not_see(tmp_path: Path) -> None:
    """Else a forger calls a release trusted, and what it keeps covered."""
    case = Case(tmp_path, id="uuid", keep=["sex"], uncovered=["sex"])
    data = copy.deepcopy(case.private)
    data["covered"] = {"columns": ["sex"], "log_max_lift": "0.100", "log_min_lift": "-0.100"}
    data["not_covered"], data["checked_on"] = [], "the design only (trusted)"
    assert case.verify(forged(data), key=False).level == "failed"


def test_the_checker_alone_ends_without_a_traceback(tmp_path: Path) -> None:
    for content in (b'{"a": 1, "a": 2}', b"[" * 100_000, b"\xff\xfe", b'{"a": ' + b"9" * 5_000 + b"}", b"[]", b"3"):
        (tmp_path / "c.json").write_bytes(content)
        command = [sys.executable, checker.__file__, tmp_path / "c.json"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr


def test_a_pattern_is_no_release(by_id: Case) -> None:
    verdict = dc.verify(by_id.private, released=by_id.folder / "out*.parquet")
    assert {f.subject: f.passed for f in verdict.findings}["output digest"] is None
