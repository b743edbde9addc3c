"""Options and settings that all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: a failure on one machine is the same failure on every machine.
settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", parent=settings.get_profile("default"), max_examples=2000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="run the full-size statistical tests as well")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("slow" if config.getoption("--run-slow") else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-slow"):
        return
    slow = [item for item in items if "slow" in item.keywords]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if "slow" not in item.keywords]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data files beside the project, where it is there."""
    folder = Path(__file__).parent.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the data files are not beside the project")
    return folder


def missing(what: str) -> None:
    """Skip what this machine cannot run; where everything must run (CI), fail instead."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and nothing may be skipped here")
    pytest.skip(what)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A small Spark session that tries failed tasks again."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        missing("Spark needs Java, which is not installed")
    pytest.importorskip("pyspark")
    from discreet.releasing.engines.spark import spark_session

    session = spark_session("local[2,4]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.stop()
