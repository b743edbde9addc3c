"""A release that passed its checks: nothing is drawn yet, and nothing is left to ask."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet._support import progress
from discreet._support.errors import BrokenNotionError, InputError
from discreet.certificate.beside import Beside, audit_beside
from discreet.certificate.persons import Persons, check_persons
from discreet.certificate.record import check_certifiable
from discreet.core.rare import has_rare_values
from discreet.drawing.keys import DrawKeys, input_hmac
from discreet.mechanism import Earlier
from discreet.releasing.checks import Checked, check_ids, check_promise, check_table, checking_orders
from discreet.releasing.engines.base import Drawing, Engine
from discreet.releasing.ledger import Entry, Ledger
from discreet.releasing.plan import Plan, make_plan
from discreet.releasing.request import Request
from discreet.releasing.sketch import sketch_of
from discreet.tables.digest import Content

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """What was asked for, who draws, and what the checks found.

    Attributes
    ----------
    request, engine, plan : Request, Engine, Plan
        What was asked for, who holds the table, and which columns are looked up, drawn and kept.
    content : Content or None
        The digest of the table; None where nothing needs it.
    checked : Checked
        The counts that the promise was checked on.
    persons : Persons or None
        What all records of a person tell together, where persons have several.
    beside : Beside
        What is kept, and whether the promise covers it.
    after : Earlier or None
        What was published about the same people before, by the ledger.
    ledger : Ledger or None
        With this release as its last entry, whose certificate is still to come.
    """

    request: Request
    engine: Engine
    plan: Plan
    content: Content | None
    checked: Checked
    persons: Persons | None
    beside: Beside
    after: Earlier | None = None
    ledger: Ledger | None = None

    @property
    def hides_mechanism(self) -> bool:
        """Whether mechanism and codebook tell about single people, by the design or by this table's private counts."""
        is_rare = has_rare_values(self.checked.joint) or (self.persons is not None and self.persons.has_rare_values)
        return self.plan.mechanism.is_private or (is_rare and not self.request.public_counts)

    @property
    def input_digest(self) -> str | None:
        """The digest of the table as its certificate states it, under a key of its own."""
        return None if self.content is None else input_hmac(self.request.key.input_key, self.content.digest)

    def drawing(self) -> Drawing:
        """All that the engine needs to draw."""
        by_place = self.plan.record is None
        published = [name for _, name in self.plan.output]
        keys = DrawKeys.of(self.request.key, self.plan.mechanism, self.input_digest, published, by_place=by_place)
        return Drawing.of(self.plan, keys, self.checked.suppressed)


def prepare(request: Request, engine: Engine) -> Prepared:
    """Plan a release of an open table and check it; an error where it must not be made."""
    plan = make_plan(request, engine.table.kinds, engine.table.name)
    if request.output is not None and request.certificate:
        check_certifiable(plan.notion)
    if request.ledger is not None:
        _check_secret_stays(plan)
    needed = _needs_content(request, engine, plan)
    if needed:
        engine.table.start_digest()
    checked = check_table(engine.table, plan, unseen=request.unseen, suppress_as=request.suppress_as)
    if request.in_values:
        with progress.stage("composing values"):
            plan = plan.in_values(checked.joint, counts_are_public=request.public_counts)
    with progress.stage("checking the promise"):
        check_promise(plan, request.mechanism, checked)
    with checking_orders(engine.table, plan, checked.counted):
        check_ids(engine.table, plan)
        beside = audit_beside(
            engine.table,
            plan.mechanism,
            plan.notion,
            sensitive=plan.sensitive,
            kept=plan.kept,
            uncovered=plan.uncovered,
            suppressed=checked.suppressed,
            counted=checked.counted if plan.sensitive else None,
        )
        persons = _persons(engine, plan, checked)
    content = engine.table.content(in_order=plan.id is None) if needed else None
    after, ledger = _entered(request, engine, plan, checked)
    return Prepared(request, engine, plan, content, checked, persons, beside, after, ledger)


def _check_secret_stays(plan: Plan) -> None:
    """Refuse to enter what publishes S: whoever knows it learns nothing from others, and is promised nothing."""
    secret = {column.casefold() for column in plan.sensitive}
    shown = [column for column in plan.kept if column.casefold() in secret]
    if shown:
        raise InputError(
            f"the sensitive column {', '.join(shown)} would be published as it is, so that nothing can be promised "
            "about it for all releases of a ledger. Leave out publish_sensitive (--publish-sensitive), or the ledger."
        )


def _entered(request: Request, engine: Engine, plan: Plan, checked: Checked) -> tuple[Earlier | None, Ledger | None]:
    """The promise together with all that the ledger says was published before, and the ledger with this release."""
    if request.ledger is None:
        return None, None
    if not checked.has_sensitive or checked.suppressed:
        raise InputError(
            "releases of a ledger are checked on the counts of the table: it needs the sensitive columns, and no value "
            "that the mechanism does not know."
        )
    ledger = Ledger.read(request.ledger, may_be_new=True)
    ledger.check_promise(plan.notion, looser=request.looser)
    kept = tuple(column for column in plan.kept if column not in plan.uncovered)
    with progress.stage("sketching ids"):
        sketch = sketch_of(engine.table, plan, request.key)
    entry = Entry(
        notion=plan.notion,
        mechanism=plan.mechanism,
        sensitive=plan.sensitive,
        kept=kept,
        key=request.key.fingerprint,
        id=plan.id,
        rows=int(checked.joint.records or 0),
        certificate=None,
        sketch=sketch,
    )
    with progress.stage("checking the promise with all releases before"):
        after = ledger.check(request.table, entry, checked.joint)
    return after, ledger.with_entry(entry)


def _persons(engine: Engine, plan: Plan, checked: Checked) -> Persons | None:
    """The promise for all records of a person together, where the table has several and S."""
    if plan.person is None or not plan.sensitive:
        return None
    covered = [c for c in plan.kept if c not in plan.uncovered and c not in plan.sensitive]
    if covered:
        raise BrokenNotionError(
            f"what {', '.join(covered)} tells about a person, over all of its records, is not measured, so the promise "
            "cannot cover it. Leave it out, or publish it knowingly (uncovered=[...], --uncovered COLUMN)."
        )
    return check_persons(
        engine.table,
        plan.mechanism,
        plan.notion,
        person=plan.person,
        sensitive=plan.sensitive,
        suppressed=checked.suppressed,
    )


def _needs_content(request: Request, engine: Engine, plan: Plan) -> bool:
    """Whether draws or the certificate depend on the whole table; of a DataFrame of Spark a digest costs a sort."""
    is_certified = request.output is not None and request.certificate
    return plan.record is None or plan.shuffle or (is_certified and (request.is_path or engine.name != "spark"))
