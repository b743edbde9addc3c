"""Stages: heard where someone listens, free where nobody does, and never in the way of the work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet._support import progress
from discreet._support.progress import Stage


class Heard:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[object, ...]] = []

    def began(self, stage: Stage) -> None:
        self.lines.append(("began", stage.words))

    def moved(self, stage: Stage) -> None:
        self.lines.append((stage.words, stage.done, stage.total, stage.detail))

    def ended(self, stage: Stage) -> None:
        self.lines.append(("ended", stage.words, stage.failure))
        assert stage.seconds >= 0


class Broken:
    """Fails whenever it is told something."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def began(self, stage: Stage) -> None:
        raise self.error

    moved = ended = began


def test_stages_are_heard_in_their_order() -> None:
    heard = Heard()
    with progress.heard_by(heard), progress.stage("designing") as outer:
        assert outer.is_heard
        outer.update(1, 4)
        outer.update(detail="keeps 0.8")
        with progress.stage("counting"):
            pass
        outer.update(2)
    assert heard.lines == [
        ("began", "designing"),
        ("designing", 1, 4, ""),
        ("designing", 1, 4, "keeps 0.8"),
        ("began", "counting"),
        ("ended", "counting", None),
        ("designing", 2, 4, "keeps 0.8"),
        ("ended", "designing", None),
    ]


def test_an_error_passes_and_is_named() -> None:
    heard = Heard()
    with pytest.raises(ZeroDivisionError), progress.heard_by(heard), progress.stage("dividing"):
        _ = 1 / 0
    assert heard.lines[-1] == ("ended", "dividing", "ZeroDivisionError")


def test_nobody_listens_before_and_after() -> None:
    heard = Heard()
    with progress.heard_by(heard):
        pass
    with progress.stage("counting") as stage:
        stage.update(1, 2, detail="text")
    assert not stage.is_heard
    assert (heard.lines, stage.done, stage.total, stage.detail) == ([], 0, None, "")
    assert progress.stage("one") is progress.stage("other")  # nothing is made where nobody listens


def test_a_broken_listener_does_not_break_the_work_nor_the_other_listener() -> None:
    heard = Heard()
    with progress.heard_by(Broken(OSError)), progress.heard_by(heard), progress.stage("working") as stage:
        stage.update(1, 1)
    assert [line[0] for line in heard.lines] == ["began", "working", "ended"]


def test_an_interruption_in_a_listener_is_one() -> None:
    with pytest.raises(KeyboardInterrupt), progress.heard_by(Broken(KeyboardInterrupt)), progress.stage("working"):
        pass


def test_a_stage_that_is_handed_to_threads_is_heard_there() -> None:
    heard = Heard()
    with progress.heard_by(heard), progress.stage("drawing") as stage, ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda k: stage.update(k, 8), range(8)))
        assert not pool.submit(lambda: progress.stage("elsewhere").is_heard).result()
    assert {line[1] for line in heard.lines[1:-1]} == set(range(8))
