"""Tests that fail run again alone, in a fresh process: those that then pass are named as unstable.

A plugin for CI (`-p tests.unstable`). The run goes on and succeeds where nothing else failed; the
names are the last thing it prints, and are added to the file that UNSTABLE_TESTS names.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# More than that is no accident.
MOST = 10


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the workers of xdist report to the one that knows all
        config.pluginmanager.register(_Retry(config))


class _Retry:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.failed: dict[str, None] = {}
        self.unstable: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = None

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus != pytest.ExitCode.TESTS_FAILED or len(self.failed) > MOST:
            return
        self.unstable = [test for test in self.failed if self._passes(test)]
        if len(self.unstable) == len(self.failed) > 0:
            session.exitstatus = pytest.ExitCode.OK

    def _passes(self, test: str) -> bool:
        """Whether a test passes alone, or once more: other runs go on beside this one.

        Skipped is not passed.
        """
        return any(self._passes_now(test) for _ in range(2))

    def _passes_now(self, test: str) -> bool:
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "-n0", test]
        done = subprocess.run(
            command, cwd=self.config.rootpath, capture_output=True, text=True, check=False
        )
        return done.returncode == 0 and " passed" in done.stdout

    def pytest_unconfigure(self) -> None:
        if not self.unstable:
            return
        print(f"\nUNSTABLE: {len(self.unstable)} failed and then passed alone")
        print(*self.unstable, sep="\n")
        if file := os.environ.get("UNSTABLE_TESTS"):
            with Path(file).open("a", encoding="utf-8") as lines:
                lines.writelines(f"{test}\n" for test in self.unstable)
