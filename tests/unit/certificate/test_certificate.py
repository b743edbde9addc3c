"""Certificates: what they state, what the checker recomputes, and that every tampering is found and named."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from referencing import Registry, Resource

import discreet as dc
from discreet import ALIP, LDP, LIP, SRLIP, AlphaLift, Chi2Lift, Joint, L1Lift, MaxLift, PerfectPrivacy, design
from discreet._support.errors import BrokenNotionError, InputError, UnreadableTableError
from discreet.certificate import certify, checker, verify
from discreet.certificate.record import Certificate, sealed
from discreet.releasing import Request, run
from tests.conftest import quick_first
from tests.releases import awkward_table, mechanisms, rename_of
from tests.unit.publishing.made_up import people

SOURCE = Path(checker.__file__)
PACKAGE = SOURCE.parent.parent
NOTIONS = [
    LIP(0.4), ALIP(eps_lower=0.5, eps_upper=0.3), LDP(0.7), MaxLift(0.4), PerfectPrivacy(),
    L1Lift(eps_upper=0.3), L1Lift(eps_lower=0.4, eps_upper=0.3), Chi2Lift(eps_lower=0.4, eps_upper=0.3),
    AlphaLift(2.5, eps_lower=0.4, eps_upper=0.3), SRLIP(0.4),
]  # fmt: skip


def joint_for(notion: dc.Notion) -> Joint:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 60, (3, 6))
    if isinstance(notion, PerfectPrivacy):
        counts = np.outer([1, 2, 3], [5, 4, 3, 2, 1, 1]) + np.outer([1, 1, 0], [1, 0, 0, 2, 0, 1])
    useful = [(a, b) for a in "uv" for b in "xyz"]
    return Joint.from_counts(counts, useful=useful, sensitive_columns=["s"], useful_columns=["a", "b"])


def stored(certificate: Certificate) -> dict[str, Any]:
    return json.loads(json.dumps(certificate.to_dict()))


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_every_notion_is_certified_and_rechecked(notion: dc.Notion) -> None:
    joint = joint_for(notion)
    for method in dc.methods(notion):
        result = design(joint, notion, method)
        findings = {subject: passed for subject, passed, _ in checker.check(stored(certify(result)))}
        assert False not in findings.values(), method
        assert findings["leakage"]
        if method == "optimal" and not isinstance(notion, L1Lift):
            assert findings["bound"]


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_checker_agrees_with_the_exact_check(notion: dc.Notion) -> None:
    """On mechanisms that keep the notion or not, some by a hair; nothing of discreet is asked by the checker."""
    joint = joint_for(notion)
    made = stored(certify(design(joint, notion, "auto")))
    rng = np.random.default_rng(7)
    verdicts = set()
    for k in range(12):
        share = rng.random() ** 3
        channel = (1 - share) * np.eye(6) + share * rng.dirichlet(np.ones(6) * 3, 1)
        mechanism = dc.Mechanism.from_channel(channel if k else np.full((6, 6), 1 / 6), useful=joint.useful)
        data = copy.deepcopy(made) | {"mechanism": mechanism.public_dict()}
        found = checker._leakage(data)
        assert ("broken" not in found[1]) == notion.holds(joint, mechanism)
        verdicts.add(notion.holds(joint, mechanism))
    assert verdicts == {True, False}


def test_a_broken_promise_is_not_certified() -> None:
    joint = joint_for(LIP(0.4))
    mechanism = dc.Mechanism.from_channel(np.eye(6), useful=joint.useful)
    with pytest.raises(BrokenNotionError):
        certify(mechanism, joint, LIP(0.4))
    with pytest.raises(InputError, match="no notion"):
        certify(mechanism, joint)
    with pytest.raises(InputError):
        certify(LIP(0.4), joint)  # type: ignore[arg-type]


def test_stated_numbers_are_on_the_safe_side() -> None:
    joint = joint_for(LIP(0.4))
    result = design(joint, LIP(0.4))
    made = certify(result)
    seen = joint.through(result.mechanism)
    upper = np.log(dc.measures.max_lift(seen).max())
    lower = np.log(dc.measures.min_lift(seen).min())
    assert upper <= float(made["achieved"]["log_max_lift"]) <= upper + 1.1e-6
    assert lower - 1.1e-6 <= float(made["achieved"]["log_min_lift"]) <= lower
    assert result.nmi - 1.1e-6 <= float(made["nmi"]) <= result.nmi
    assert result.nmi <= float(made["bound"]) <= result.bound + 2e-6


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of awkward values with everything that belongs to it."""
    folder = tmp_path_factory.mktemp("released")
    table = awkward_table(4_000, seed=2)
    pq.write_table(table, folder / "in.parquet")
    result = design(Joint.from_table(table, "ill", "job"), LIP(0.2))
    key = dc.ReleaseKey.fresh()
    key.write(folder / "key")
    run(
        Request.of(
            folder / "in.parquet",
            result.mechanism,
            key=folder / "key",
            id="uuid",
            keep=["age", "sex"],
            uncovered=["age", "sex"],
            output=folder / "out.parquet",
            private_certificate=folder / "private.json",
            proof=result.proof.to_dict(),
        )
    )
    return folder


def everything(folder: Path, certificate: Any = None, **changes: Any) -> dc.Verdict:
    given = {"table": folder / "in.parquet", "released": folder / "out.parquet", "key": folder / "key"} | changes
    return verify(certificate or folder / "private.json", **given)


def test_an_honest_release_is_verified_in_every_way(released: Path) -> None:
    assert everything(released)
    assert everything(released, released / "out.parquet.certificate.json")
    assert everything(released, released / "out.parquet.certificate.json", key=None)
    assert verify(released / "private.json")
    alone = verify(released / "out.parquet.certificate.json")
    assert not alone
    assert alone.level == "consistent"
    assert alone.reasons == ("leakage: not re-checked: the certificate has no counts, so the table is needed",)


def test_the_public_certificate_holds_nothing_private(released: Path) -> None:
    public = (released / "out.parquet.certificate.json").read_text()
    private = json.loads((released / "private.json").read_text())
    for name in ("counts", "proof", "input_key", "p_useful", "p_joint"):
        assert f'"{name}":' not in public
    assert private["input_key"] not in public
    assert stat.S_IMODE((released / "private.json").stat().st_mode) == 0o600


def test_no_key_material_is_left_anywhere(released: Path) -> None:
    secret = (released / "key").read_text().strip()
    key = dc.ReleaseKey.from_file(released / "key")
    stored = json.loads((released / "private.json").read_text())["mechanism"]
    mechanism = dc.Mechanism.from_dict(stored).fingerprint
    for path in released.iterdir():
        if path.name != "key":
            content = path.read_bytes()
            assert secret.encode() not in content
            assert key.subkey("job", mechanism).encode() not in content
            assert bytes.fromhex(secret) not in content


def test_schemas_fit(released: Path) -> None:
    schemas = {
        name: json.loads((PACKAGE / name / f"{name}.schema.json").read_text()) for name in ("mechanism", "certificate")
    }
    registry = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas.values()])
    validators = {name: jsonschema.Draft202012Validator(schema, registry=registry) for name, schema in schemas.items()}
    for name in ("private.json", "out.parquet.certificate.json"):
        validators["certificate"].validate(json.loads((released / name).read_text()))
    for mechanism in mechanisms(awkward_table(800)).values():
        validators["mechanism"].validate(json.loads(json.dumps(mechanism.to_dict())))
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    before = dc.design(joint, dc.LIP(0.25)).mechanism
    others = [
        dc.certify(dc.design(joint, dc.LIP(0.5), after=[before])),
        dc.certify(dc.design(joint, dc.LIP(0.5, confidence=0.9))),
        dc.certify(dc.design(joint, dc.Chi2Lift(eps_lower=0.3, eps_upper=0.2))),  # its proof has cuts
    ]
    assert others[-1]["proof"]["cuts"]
    others += [dc.certify(dc.design(dc.Joint.from_counts(100 * joint.counts), dc.LIP(0.5), holdout=0.5, margin=0.2))]
    others += [dc.publish(people(1500), "ill", notion=dc.LIP(1, confidence=0.9), seed=1).certificate]
    for certificate in (part for one in others for part in (one, one.public)):
        validators["certificate"].validate(json.loads(certificate.text()))
    damaged = json.loads((released / "private.json").read_text()) | {"nmi": 0.5}
    with pytest.raises(jsonschema.ValidationError):
        validators["certificate"].validate(damaged)


def change_weight(data: dict[str, Any]) -> None:
    row = next(row for row in data["mechanism"]["rows"] if len(row) > 1)
    row[0][1] += 1
    row[1][1] -= 1


def change_row_sum(data: dict[str, Any]) -> None:
    data["mechanism"]["rows"][0][0][1] += 1


def change_count(data: dict[str, Any]) -> None:
    data["counts"]["cells"][0][2] += 1


def move_count(data: dict[str, Any]) -> None:
    data["counts"]["cells"][0][2] += 1
    data["counts"]["cells"][1][2] -= 1


def change_multiplier(data: dict[str, Any]) -> None:
    vectors = [v for v in data["proof"]["multipliers"] or data["proof"]["largest"] if v]
    vectors[0][0][1] *= 1.5


def change_price(data: dict[str, Any]) -> None:
    data["proof"]["prices"][0] += 0.01


def drop_leaf(data: dict[str, Any]) -> None:
    data["proof"]["multipliers"].pop()


def drop_split(data: dict[str, Any]) -> None:
    (data["proof"]["splits"] or data["proof"]["multipliers"]).pop()


def change_hash(name: str) -> Any:
    def change(data: dict[str, Any]) -> None:
        holder, own = (data["digests"]["input"], "hmac") if name == "input" else (data["digests"], name)
        holder[own] = ("1" if holder[own][0] == "0" else "0") + holder[own][1:]

    return change


def claim(name: str, value: Any) -> Any:
    def change(data: dict[str, Any]) -> None:
        data[name] = value

    return change


TAMPERINGS = {
    "weight": (change_weight, "mechanism digest"),
    "row of weights": (change_row_sum, "weights"),
    "count": (change_count, "rows"),
    "moved count": (move_count, "counts"),
    "price": (change_price, "bound"),
    "leaf": (drop_leaf, "bound"),
    "split": (drop_split, "bound"),
    "mechanism hash": (change_hash("mechanism"), "mechanism digest"),
    "input hash": (change_hash("input"), "input digest"),
    "output hash": (change_hash("output"), "output digest"),
    "bound": (claim("bound", "0.100000"), "bound"),
    "nmi": (claim("nmi", "0.999000"), "nmi"),
    "notion": (claim("notion", {"name": "lip", "epsilon": 0.01}), "leakage"),
    "rows": (claim("rows", {"input": 4000, "output": 3999}), "rows"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
@pytest.mark.parametrize("seal_anew", [False, True], ids=["as it is", "sealed anew"])
def test_tampering_is_found_and_named(name: str, seal_anew: bool, released: Path) -> None:
    change, subject = TAMPERINGS[name]
    data = json.loads((released / "private.json").read_text())
    change(data)
    if seal_anew:
        data = sealed(data)
    verdict = everything(released, data)
    assert not verdict
    failed = {finding.subject for finding in verdict.failures}
    assert subject in failed
    assert seal_anew or "certificate digest" in failed


def test_a_changed_multiplier_is_found(released: Path) -> None:
    data = json.loads((released / "private.json").read_text())
    change_multiplier(data)
    assert "certificate digest" in {finding.subject for finding in everything(released, data).failures}


def test_multipliers_that_prove_nothing_are_found_though_sealed_anew(released: Path) -> None:
    """Weak duality holds for any multipliers, so a changed one is a proof still, but of less."""
    data = json.loads((released / "private.json").read_text())
    for vector in data["proof"]["multipliers"] or data["proof"]["largest"]:
        for entry in vector:
            entry[1] *= 0.5
    assert "bound" in {finding.subject for finding in everything(released, sealed(data)).failures}


@pytest.mark.parametrize("with_key", [False, True])
def test_a_changed_cell_is_found(with_key: bool, released: Path, tmp_path: Path) -> None:
    """By its digest; with the key also where the digest was made anew."""
    table = pq.read_table(released / "out.parquet")
    jobs = table.column("job").to_pylist()
    mechanism = dc.Mechanism.from_dict(json.loads((released / "private.json").read_text())["mechanism"])
    true = dict(zip(*[pq.read_table(released / "in.parquet").column(c).to_pylist() for c in ("uuid", "job")]))
    ids = table.column("uuid").to_pylist()
    for k, job in enumerate(jobs):
        row = mechanism.weights[mechanism.useful.index(true[ids[k]])]
        others = [mechanism.released[y] for y in np.flatnonzero(row) if mechanism.released[y] != job]
        if others:
            jobs[k] = others[0]  # what the mechanism could have drawn too
            break
    changed = table.set_column(table.schema.get_field_index("job"), "job", pa.array(jobs))
    pq.write_table(changed, tmp_path / "out.parquet")
    data = json.loads((released / "private.json").read_text())
    if with_key:
        data = rehashed(data, tmp_path / "out.parquet")
    verdict = everything(
        released, data, released=tmp_path / "out.parquet", key=(released / "key") if with_key else None
    )
    wanted = "redraw" if with_key else "output digest"
    assert wanted in {finding.subject for finding in verdict.failures}


def rehashed(data: dict[str, Any], path: Path) -> dict[str, Any]:
    data["digests"]["output"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sealed(data)


@pytest.mark.parametrize("damage", ["kept", "id", "dropped row", "strange value", "impossible value", "frequencies"])
def test_other_changes_of_the_release_are_found(damage: str, released: Path, tmp_path: Path) -> None:
    frame = pq.read_table(released / "out.parquet").to_pandas()
    truth = pq.read_table(released / "in.parquet").to_pandas()
    mechanism = json.loads((released / "private.json").read_text())["mechanism"]
    if damage == "kept":
        frame.loc[5, "age"] += 1
        wanted = "kept columns"
    elif damage == "id":
        frame.loc[5, "uuid"] = "nobody"
        wanted = "ids"
    elif damage == "dropped row":
        frame = frame.iloc[1:]
        wanted = "released rows"
    elif damage == "strange value":
        frame.loc[5, "job"] = "spy"
        wanted = "values of job"
    elif damage == "impossible value":
        row = mechanism["rows"][mechanism["useful"].index(truth.loc[5, "job"])]
        possible = {mechanism["released"][y] for y, _ in row}
        frame.loc[5, "job"] = next(y for y in mechanism["released"] if y not in possible)
        wanted = "frequencies of job"
    else:
        k = next(k for k, row in enumerate(mechanism["rows"]) if len(row) > 1 and mechanism["useful"][k] is not None)
        rarest = min(mechanism["rows"][k], key=lambda pair: pair[1])[0]
        frame.loc[truth["job"] == mechanism["useful"][k], "job"] = mechanism["released"][rarest]
        wanted = "frequencies of job"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "out.parquet")
    data = rehashed(json.loads((released / "private.json").read_text()), tmp_path / "out.parquet")
    verdict = everything(released, data, released=tmp_path / "out.parquet", key=None)
    assert wanted in {finding.subject for finding in verdict.failures}


@pytest.mark.parametrize("shuffle", quick_first([False, True], 1))
def test_every_kind_of_mechanism_is_verified(shuffle: bool, tmp_path: Path) -> None:
    table = awkward_table(2_000, seed=3)
    pq.write_table(table, tmp_path / "in.parquet")
    for name, mechanism in mechanisms(table).items():
        output = tmp_path / f"{name}.parquet"
        options = {
            "rename": rename_of(mechanism),
            "shuffle": shuffle,
            "keep": ["weight"],
            "uncovered": ["weight"],
            "seed": 4,
        }
        made = run(Request.of(tmp_path / "in.parquet", mechanism, output=output, **options))
        verdict = verify(made.certificate, tmp_path / "in.parquet", output, key=dc.ReleaseKey.from_seed(4))
        assert verdict, (name, verdict)
        assert "redraw" in {finding.subject for finding in verdict.findings if finding.passed}
        assert made.certificate is not None
        assert made.certificate["key"]["draw"] == "reproducible, not private"


def test_the_wrong_key_is_told(released: Path) -> None:
    verdict = everything(released, key=dc.ReleaseKey.from_seed(1))
    assert [finding.subject for finding in verdict.failures] == ["key"]  # and not all that another key calls changed
    assert verdict.level == "failed"
    with pytest.raises(InputError, match="give the table and the release"):
        verify(released / "private.json", key=released / "key")


@pytest.mark.parametrize("missing", ["table", "released"])
def test_what_is_not_there_is_an_error_and_no_failed_verification(missing: str, released: Path) -> None:
    with pytest.raises(UnreadableTableError, match="no file"):
        verify(released / "private.json", **{missing: released / "nowhere.parquet"})


def test_suppressed_values_are_verified(tmp_path: Path) -> None:
    table = awkward_table(2_000, seed=5)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.3)).mechanism
    jobs = table.column("job").to_pylist()
    jobs[7] = "spy"
    pq.write_table(
        table.set_column(table.schema.get_field_index("job"), "job", pa.array(jobs)), tmp_path / "in.parquet"
    )
    made = run(
        Request.of(
            tmp_path / "in.parquet",
            mechanism,
            seed=1,
            output=tmp_path / "o.parquet",
            unseen="suppress",
            notion=LIP(0.31),
        )
    )
    assert made.certificate is not None
    assert made.certificate["unseen"] == {"treated_as": None, "rows": 1}
    assert verify(made.certificate, tmp_path / "in.parquet", tmp_path / "o.parquet", key=dc.ReleaseKey.from_seed(1))


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "discreet-certificate/1"}', "nonsense"])
def test_damaged_certificates_get_an_error_or_a_failure(content: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(content)
    with contextlib.suppress(InputError):
        assert not verify(path)


def code_lines(text: str) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    import io
    import tokenize

    lines: set[int] = set()
    at_start = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        is_docstring = token.type == tokenize.STRING and at_start
        if token.type != tokenize.NEWLINE and not is_docstring:
            lines |= set(range(token.start[0], token.end[0] + 1))
        at_start = token.type == tokenize.NEWLINE
    return len(lines)


def test_the_checker_stands_alone(released: Path) -> None:
    """Standard library only, short, and usable as a script without discreet."""
    text = SOURCE.read_text()
    assert code_lines(text) < 800  # one sitting; lines below four curved measures and their tops take forty
    imported = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= set(sys.stdlib_module_names)
    command = [sys.executable, "-I", "-S", str(SOURCE)]
    good = subprocess.run([*command, released / "private.json"], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout
    assert "proven: no mechanism" in good.stdout
    public = subprocess.run(
        [*command, released / "out.parquet.certificate.json"], capture_output=True, text=True, check=False
    )
    assert public.returncode == 1
    assert "leakage: not re-checked" in public.stdout


def honest_runs(runs: int, rows: int, folder: Path) -> int:
    """How many of so many honest releases are verified."""
    table = awkward_table(rows, seed=8)
    pq.write_table(table, folder / "in.parquet")
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.2)).mechanism
    passed = 0
    for _ in range(runs):
        made = run(Request.of(folder / "in.parquet", mechanism, id="number", output=folder / "o.parquet", force=True))
        passed += bool(verify(made.certificate, folder / "in.parquet", folder / "o.parquet"))
        os.unlink(folder / "o.parquet")
    return passed


def test_honest_releases_pass(tmp_path: Path) -> None:
    assert honest_runs(5, 20_000, tmp_path) == 5


@pytest.mark.slow
def test_honest_releases_pass_200_times(tmp_path: Path) -> None:
    assert honest_runs(200, 100_000, tmp_path) == 200


def resealed(released: Path, change: Any) -> dc.Verdict:
    data = json.loads((released / "private.json").read_text())
    change(data)
    return everything(released, sealed(data))


def test_overflowing_multipliers_prove_nothing(released: Path) -> None:
    """inf - inf is no number, and a comparison with it is never true: it would hide from a minimum."""
    data = json.loads((released / "private.json").read_text())
    for vector in (data["proof"]["multipliers"] or data["proof"]["largest"])[1:]:
        vector[:] = [[0, 1.7e308]] * 8 + [[1, 1.7e308]] * 8
    assert ("bound", False) in {(f.subject, f.passed) for f in verify(sealed(data)).findings}


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        (lambda d: d["counts"]["sensitive"].__setitem__(1, d["counts"]["sensitive"][0]), "leakage"),
        (lambda d: d["mechanism"].__setitem__("parts", []), "form"),
        (lambda d: d["mechanism"].update(kind="attributes", parts=[]), "form"),
        (lambda d: d["mechanism"].update(kind="bits", bits={"true": 5, "other": 1}), "form"),
        (lambda d: d["mechanism"].update(reads_sensitive=True), "weights"),
        (lambda d: d["mechanism"]["released"].__setitem__(1, d["mechanism"]["released"][0]), "weights"),
        (lambda d: d["columns"].__setitem__("kept", []), "statements"),
        (lambda d: d.pop("proof"), "bound"),
        (lambda d: d.update(bound="0.100000", bound_evidence="claimed, not checkable"), "bound"),
        (lambda d: d.update(notion={"name": "no such notion", "eps_upper": 5.0}), "leakage"),
        (lambda d: d.update(notion={"name": "lip", "epsilon": "1e400000"}), "form"),
        (lambda d: d["achieved"].__setitem__("log_max_lift", "1" * 400), "form"),
        (lambda d: d.update(mechanism=[]), "form"),
        (lambda d: d.update(input_key=5), "form"),
        (lambda d: d["columns"].__setitem__("input", ["zz"]), "certificate"),
    ],
)  # fmt: skip
def test_certificates_that_are_odd_inside_fail(change: Any, subject: str, released: Path) -> None:
    verdict = resealed(released, change)
    assert not verdict
    assert subject in {finding.subject for finding in verdict.failures}, verdict


def test_kept_cells_cannot_change_places(released: Path, tmp_path: Path) -> None:
    """The same cells as a bag, each beside another row."""
    table = pq.read_table(released / "out.parquet")
    ages = table.column("age").to_pylist()[::-1]
    moved = table.set_column(table.schema.get_field_index("age"), "age", pa.array(ages))
    pq.write_table(moved, tmp_path / "out.parquet")
    data = rehashed(json.loads((released / "private.json").read_text()), tmp_path / "out.parquet")
    verdict = everything(released, data, released=tmp_path / "out.parquet")
    assert "kept columns" in {finding.subject for finding in verdict.failures}


def test_labels_that_are_equal_need_not_be_spelled_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 4, 3_000)
    whole = pa.table({"x": x, "s": rng.integers(0, 2, 3_000)})
    mechanism = design(Joint.from_table(whole, "s", "x"), LIP(0.05)).mechanism
    floats = pa.table({"x": x.astype(float), "s": whole.column("s")})
    made = run(Request.of(floats, mechanism, seed=1, output=tmp_path / "o.parquet"))
    assert verify(made.certificate)
    assert verify(made.certificate, floats, tmp_path / "o.parquet", key=dc.ReleaseKey.from_seed(1))


@pytest.mark.parametrize("counts", [[[30, 15, 5], [10, 15, 25]], [[30, 15, 0], [10, 15, 25]]])
def test_budgets_beyond_every_exponent_are_checked(counts: list[list[int]]) -> None:
    """exp(alpha epsilon) has millions of digits; its logarithm has few."""
    result = design(Joint.from_counts(counts), AlphaLift(500, eps_lower=1e5, eps_upper=1e5), "subset-merging")
    assert ("leakage", True) in [finding[:2] for finding in checker.check(dc.certify(result).to_dict())]
    broken = {**dc.certify(result).to_dict(), "notion": {**result.notion.to_dict(), "eps_upper": 0.01}}
    assert ("leakage", True) not in [finding[:2] for finding in checker.check(broken)]


@pytest.mark.parametrize("notion", [LIP(5), MaxLift(2)], ids=str)
def test_whole_releases_are_certified_as_whole(notion: dc.Notion) -> None:
    for seed in range(30):
        joint = Joint.from_counts(np.random.default_rng(seed).integers(1, 30, (3, 6)))
        result = design(joint, notion)
        if result.mechanism.releases_everything(joint):
            stated = dc.certify(result).to_dict()
            assert (stated["nmi"], stated["bound"]) == ("1.000000", "1.000000")


@pytest.mark.parametrize("notion", [PerfectPrivacy(), LIP(0), MaxLift(0)], ids=str)
def test_optima_of_perfect_privacy_are_proven_on_classes(notion: dc.Notion) -> None:
    joint = Joint.from_counts([[4, 2, 4, 12], [2, 2, 2, 6], [1, 4, 1, 3], [2, 1, 2, 6]])
    stated = dc.certify(design(joint, notion)).to_dict()
    found = {subject: (passed, text) for subject, passed, text in checker.check(stated)}
    assert stated["bound_evidence"] == "proof"
    assert found["bound"][0] is True
    assert "proven" in found["bound"][1]
    assert (stated["nmi"], stated["bound"]) == ("0.637361", "0.637362")
