"""Which files take the processor's time: said at the end of a run of many, and nothing fails by it.

A plugin of pytest. By the clock a test is slow because others run beside it; its own seconds of the
processor, and those of the processes that it waited for, are what it adds to a run.
"""

import os
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

SAID = 10
SECONDS = "processor seconds"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Measuring())
    if not hasattr(config, "workerinput"):  # the workers of xdist report to the one that says it
        config.pluginmanager.register(Summing())


class Measuring:
    """Adds to the last report of a test what it took, its fixtures included."""

    def __init__(self) -> None:
        self.before = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        self.before = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        report = yield
        if report.when == "teardown":
            report.user_properties.append((SECONDS, spent() - self.before))
        return report


class Summing:
    """Sums by file."""

    def __init__(self) -> None:
        self.files = Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            seconds: Any = dict(report.user_properties).get(SECONDS, 0.0)
            self.files[report.nodeid.partition("::")[0]] += seconds

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if len(self.files) <= SAID:
            return
        write = terminalreporter.write_line
        write(f"{self.files.total():.0f} s of the processor in {len(self.files)} files; the most:")
        for file, seconds in self.files.most_common(SAID):
            write(f"{seconds:6.1f} {file}")


def spent() -> float:
    """Seconds of the processor, of this process and of the children that it waited for."""
    return sum(os.times()[:4])
