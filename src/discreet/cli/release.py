"""``discreet release``: the table, drawn from a mechanism, with its certificate."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from discreet._support import progress
from discreet._support.errors import InputError
from discreet.cli.names import ENGINES
from discreet.cli.options import Format, NotionOptions, load_proof, load_table, show
from discreet.cli.streams import say

__all__ = ["release"]

# The names are a tuple, which a type checker cannot read.
if TYPE_CHECKING:
    EngineName = str
else:
    EngineName = Literal[ENGINES]

Kept = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True, show_default=False)]
Flag = Annotated[bool, Parameter(negative="")]


def release(
    table: str,
    mechanism: Path,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    key_file: Path | None = None,
    write_key: Path | None = None,
    seed: int | None = None,
    id: str | None = None,
    person: str | None = None,
    drop_id: Flag = False,
    publish_id: Flag = False,
    keep: Kept = (),
    uncovered: Kept = (),
    as_: Annotated[str | None, Parameter(name="--as")] = None,
    as_values: Annotated[bool | None, Parameter(name="--as-values", negative="--as-labels", show_default=False)] = None,
    publish_sensitive: Flag = False,
    shuffle: Flag = False,
    unseen: Literal["stop", "suppress"] = "stop",
    suppress_as: str | None = None,
    trust_design: Flag = False,
    promise: NotionOptions | None = None,
    engine: EngineName = "auto",
    master: str | None = None,
    memory_limit: str | None = None,
    proof: Path | None = None,
    private_certificate: Path | None = None,
    public_counts: Flag = False,
    sign: Path | None = None,
    ledger: Path | None = None,
    looser: Flag = False,
    force: Flag = False,
    format: Format = "text",
) -> int:
    """Release a table: every useful value replaced by a draw from the mechanism.

    The promise is first checked on this very table, in integers; where it fails nothing is released and the exit code
    is 1. A public certificate and the codebook P(x | y) appear beside the output. Where few records stand behind some
    values, the certificate leaves the mechanism out and the codebook is private.

    Parameters
    ----------
    table
        CSV or Parquet file, a glob over such files, a folder of them, or sample:adult.
    mechanism
        The JSON that design wrote.
    output
        Where the release appears: .parquet, .csv or .tsv (and .gz or .zst); a folder with Spark.
    key_file
        Key of an earlier release, to repeat its draws with the same mechanism. Another key or mechanism draws anew,
        and several draws together tell more than one. Left out: a fresh key, forgotten afterwards.
    write_key
        Store the fresh key in this new file, which its owner alone may read.
    seed
        A key for tests that anyone can make; the certificate says so.
    id
        Column of unique integers or texts. Left out: the place of each row in its file.
    person
        Column that the records of a person share: the promise is checked for all of them together, and equal values of
        a person get one draw. Left out, every record is somebody else's.
    drop_id
        Do not publish the id.
    publish_id
        Publish the id with --shuffle too, where its order tells nothing.
    keep
        Columns to publish as they are, or all. The promise is checked on all of them and the release together, and
        where it does not cover them nothing is released.
    uncovered
        Kept columns to publish outside the promise, knowingly; the headline and the certificate say so.
    as_
        Name of the released column; needed where several useful columns become one, as labels do.
    as_values
        Publish the useful columns in their own values and types: each released symbol becomes a value drawn from what
        it stands for, all in one step. --as-labels publishes the symbols. Left out: values where the symbols of a
        design are values or mixtures of them, labels where some are merged blocks.
    publish_sensitive
        Allow sensitive columns among those that are kept.
    shuffle
        Release rows in a keyed random order, and without their id.
    unseen
        What happens to values that the mechanism does not know.
    suppress_as
        With --unseen suppress: the known value that they are treated as. Left out: null.
    trust_design
        Release a table without its sensitive column; the certificate says that nothing was checked.
    engine
        DuckDB inside this process, or Spark.
    master
        Of Spark: where it runs.
    memory_limit
        Of DuckDB: such as 2GB; what does not fit goes to a private folder beside the output.
    proof
        Proof of the bound that design wrote; its evaluation on this table goes into the certificate.
    private_certificate
        File for the certificate with counts and proof, which its owner alone may read.
    public_counts
        Publish the counts of (S, X) with the certificate, so that anyone can verify it; refused while one is below 5.
    sign
        Ed25519 private key of OpenSSH, not encrypted, that signs the public certificate.
    ledger
        Private record of all that was published about the same people, made where it is not there yet. The promise
        must hold for all releases together; where it does not, nothing is released and the exit code is 1.
    looser
        Let go of promises of earlier releases in the ledger that this one does not imply; it is refused otherwise.
    force
        Replace an existing output.
    format
        Text for people, JSON for programs.
    """
    from discreet.mechanism import Mechanism
    from discreet.releasing import Request, run
    from discreet.releasing.certification import NOT_PRIVATE
    from discreet.reporting import words
    from discreet.reporting.text.release import release_text

    if write_key is not None and (key_file is not None or seed is not None):
        raise InputError("--write-key stores a fresh key: leave out --key-file and --seed.")
    if drop_id and publish_id:
        raise InputError("--drop-id and --publish-id contradict each other: leave one out.")
    stored = Mechanism.from_json(mechanism)
    with progress.stage("releasing"):
        done = run(
            Request.of(
                load_table(table),
                stored,
                key=key_file,
                seed=seed,
                output=output,
                id=id,
                person=person,
                publish_id=False if drop_id else publish_id or None,
                keep="all" if keep == ("all",) else keep,
                uncovered="all" if uncovered == ("all",) else uncovered,
                rename=as_,
                as_values=as_values,
                publish_sensitive=publish_sensitive,
                shuffle=shuffle,
                unseen=unseen,
                suppress_as=suppress_as,
                trust_design=trust_design,
                notion=None if promise is None else promise.build(),
                engine=engine,
                master=master,
                memory_limit=memory_limit,
                proof=load_proof(proof),
                private_certificate=private_certificate,
                public_counts=public_counts,
                sign=sign,
                ledger=ledger,
                looser=looser,
                write_key=write_key,
                reads=tuple(path for path in (mechanism, proof) if path is not None),
                force=force,
            )
        )
    assert done.certificate is not None
    summary = done.summary(output)
    show(format, summary, release_text(summary) if format == "text" else None)
    if done.hides_mechanism:
        say(f"note: {words.private_words(f'{mechanism} and the codebook')}")
    if key_file is not None and done.plan.is_in_values and not stored.is_in_values:
        say(f"note: {words.DRAWN_ANEW}")
    if write_key is None and key_file is None and done.certificate["key"]["draw"] != NOT_PRIVATE:
        say("the key was forgotten: this release cannot be repeated or redrawn")
    return 0
