"""Options and settings that all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

#: A machine that lives for two minutes spends half of them on the second compiler and on collecting in parallel.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
DATA = Path(__file__).parent.parent.parent / "shared" / "data"

#: Tests that ``make test`` leaves out, and the option that runs them as well.
LEFT_OUT = {
    "long": "run what takes long and is not needed for a quick check as well",
    "slow": "run the full-size statistical tests as well",
}

# Derandomised: a failure on one machine is the same failure on every machine.
settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", parent=settings.get_profile("default"), max_examples=2000)


def pytest_addoption(parser: pytest.Parser) -> None:
    for marker, what in LEFT_OUT.items():
        parser.addoption(f"--run-{marker}", action="store_true", help=what)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("slow" if config.getoption("--run-slow") else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not asked for, and put the tests of Spark first.

    A worker begins with its own run of tests and others take from its end, so that one worker alone starts Spark.
    """
    left_out = {marker for marker in LEFT_OUT if not config.getoption(f"--run-{marker}")}
    deselected = [item for item in items if left_out & set(item.keywords)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
    kept = [item for item in items if not left_out & set(item.keywords)]
    items[:] = sorted(kept, key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


def quick_first(cases: Iterable[Any], number: int) -> list[Any]:
    """Many cases of one kind: the first few for a quick check, the others marked long."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[] if k < number else [pytest.mark.long]) for k, row in enumerate(rows)]


def missing(what: str) -> NoReturn:
    """Leave out what this machine cannot run, and say why."""
    pytest.skip(what)


def _refused(report: Any) -> Any:
    """Where everything must run (CI), what was skipped has failed."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"{reason}; with CI set nothing may be skipped"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _refused((yield))  # type: ignore[no-any-return]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _refused((yield))  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data files beside the project."""
    if not DATA.is_dir():
        missing("the data files are not beside the project")
    return DATA


@pytest.fixture(scope="session")
def data_where_there(request: pytest.FixtureRequest) -> Path | None:
    """The same for a test that can do without it; where everything must run it has to be there."""
    must = DATA.is_dir() or os.environ.get("CI")
    return request.getfixturevalue("shared_data") if must else None


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A small Spark session that tries failed tasks again."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        missing("Spark needs Java, which is not installed")
    if importlib.util.find_spec("pyspark") is None:
        missing("pyspark is not installed")
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f'--driver-java-options "{JAVA_OPTIONS}" pyspark-shell')
    from discreet.releasing.engines.spark import spark_session

    session = spark_session("local[2,4]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.stop()
