"""Where the packages of workers are not installed, tests that need one are skipped and counted.

A plugin of pytest. Where torch is installed it does nothing: there a missing package is a failure.
"""

from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

# Import names of what requirements/worker.txt brings.
PACKAGES = {
    "accelerate",
    "bert_score",
    "bleurt_pytorch",
    "comet",
    "huggingface_hub",
    "ot",
    "sacremoses",
    "safetensors",
    "sentence_transformers",
    "sentencepiece",
    "tokenizers",
    "torch",
    "transformers",
}

# For tests whose other errors appear only where the packages are installed.
full = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


def pytest_configure(config: pytest.Config) -> None:
    if find_spec("torch") is None:
        config.pluginmanager.register(Skipping())


class Skipping:
    """Turns the missing import into a skip: of a module, of a fixture, of a test."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, Any, Any]:
        report = yield
        if report.failed and (package := named(str(report.longrepr))):
            report.outcome = "skipped"
            report.longrepr = (str(report.fspath), 0, f"Skipped: needs {package}")
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        return (yield from skipping())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        return (yield from skipping())


def skipping() -> Generator[None, Any, Any]:
    """Let a hook run; skip where it ends because a package of workers is missing."""
    try:
        return (yield)
    except Exception as error:
        if package := missing(error):
            pytest.skip(f"needs {package}")
        raise


def missing(error: BaseException | None) -> str:
    """The package of workers whose absence raised an error, itself or what it was raised from."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in PACKAGES:
            return str(error.name).split(".")[0]
        error = error.__cause__ or error.__context__
    return ""


def named(traceback: str) -> str:
    """The same of a traceback in words."""
    for package in sorted(PACKAGES):
        if f"ModuleNotFoundError: No module named '{package}" in traceback:
            return package
    return ""
