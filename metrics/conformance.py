"""Check that a plug-in fulfils the contract of metrics: `python -m metrics.conformance KEY`.

Prints one line per check, and exits with 1 if a check fails. Needs neither Django nor a database,
only the plug-in, installed and named in METRIC_PLUGINS.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from metaeval.repeats import by_name, refuse_repeats
from metrics import options, plugins, registry
from metrics.base import Metric, MetricError, Scores, SegmentInput

TEXTS = 64
# Scores of models that pad batches differ in the last digits.
TOLERANCE = 1e-4
HEAVY = ("torch", "transformers", "tensorflow", "jax", "django")
_UNUSUAL = (
    "", " ", "a", "é" * 3, "e\u0301", "😀 b", "\u202eright to left", "x " * 600, "tab\there",
)  # fmt: skip


class FailedError(Exception):
    """A check failed; the text says why."""


def texts(n: int = TEXTS) -> list[SegmentInput]:
    """Return segments that differ in length and words."""
    return [
        SegmentInput(
            f"Das ist Satz {i} von vielen.",
            " ".join(["This is sentence", *map(str, range(i % 9)), "of many."]),
            (f"This is sentence {i} of many.",),
        )
        for i in range(n)
    ]


def check(key: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each check and its problem, which is empty if the check passed."""
    yield "description imports no heavy packages", _outcome(lambda: _check_description(key))
    problem = _outcome(lambda: _make(key, given))
    yield "metric can be built", problem
    if problem:
        return
    metric = _make(key, given)
    for name, test in CHECKS.items():
        yield name, _outcome(lambda test=test: test(metric))  # type: ignore[misc]
    yield (
        "signature of a second object is the same",
        _outcome(lambda: _check_equal(_make(key, given).signature(), metric.signature())),
    )


def _outcome(test: Callable[[], object]) -> str:
    try:
        test()
    except FailedError as error:
        return str(error)
    except Exception as error:  # foreign code may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def _check_description(key: str) -> None:
    module = registry.FAMILIES.get(key, "").partition(":")[0]
    read = f"import {module}" if module else f"registry.get_family({key!r})"
    code = (
        f"import sys\nfrom metrics import registry\n{read}\n"
        f"print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FailedError(done.stderr.strip().splitlines()[-1])
    if done.stdout.strip():
        raise FailedError(f"The description imports {done.stdout.strip()}.")


def _make(key: str, given: dict[str, str]) -> Metric:
    family = registry.get_family(key)
    info = family.describe("checked", "Checked", options.clean(family, given))
    built = registry.build(info, family.scorer, source_language="de", target_language="en")
    return plugins.sign(built, key)


def _scores(metric: Metric, inputs: Sequence[SegmentInput]) -> Scores:
    rows = metric.score(inputs)
    expected = (len(inputs), metric.info.width)
    if rows.shape != expected or rows.dtype != np.float64:
        raise FailedError(
            f"score() returned {rows.dtype} {rows.shape} instead of float64 {expected}."
        )
    return rows


def _check_equal(left: object, right: object) -> None:
    if left != right:
        raise FailedError(f"{left} differs from {right}.")


def _check_close(left: Scores, right: Scores) -> None:
    if not np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        raise FailedError(f"Scores differ by up to {np.nanmax(np.abs(left - right)):.3g}.")


def _check_no_texts(metric: Metric) -> None:
    _scores(metric, [])


def _check_finite(metric: Metric) -> None:
    if not np.isfinite(_scores(metric, texts())).all():
        raise FailedError("Some ordinary texts have no finite score.")


def _check_batches(metric: Metric) -> None:
    inputs = texts()
    single = np.concatenate([_scores(metric, [each]) for each in inputs])
    _check_close(single, _scores(metric, inputs))


def _check_order(metric: Metric) -> None:
    inputs = texts()
    order = np.random.default_rng(1).permutation(len(inputs))
    shuffled = _scores(metric, [inputs[at] for at in order])
    _check_close(shuffled, _scores(metric, inputs)[order])


def _check_repetition(metric: Metric) -> None:
    if _scores(metric, texts()).tobytes() != _scores(metric, texts()).tobytes():
        raise FailedError("The scores of a second call differ.")


def _check_unusual_texts(metric: Metric) -> None:
    for text in _UNUSUAL:
        _check_text(metric, SegmentInput(text or "x", text, (text or "x",)))


def _check_surrogates(metric: Metric) -> None:
    _check_text(metric, SegmentInput("a", "broken \ud800 text", ("b",)))


def _check_missing_reference(metric: Metric) -> None:
    bare = SegmentInput("a", "b", ())
    if not metric.info.needs_reference:
        _scores(metric, [bare])
        return
    try:
        metric.score([texts(1)[0], bare])
    except MetricError as error:
        if not error.permanent or error.index != 1:
            raise FailedError(
                "The error of a missing reference must be permanent and have the segment's index."
            ) from None
    else:
        raise FailedError("The metric needs a reference, but scored a segment without one.")


def _check_text(metric: Metric, unusual: SegmentInput) -> None:
    """Require a score, or an error with the segment's index."""
    try:
        rows = _scores(metric, [texts(1)[0], unusual])
    except MetricError as error:
        if error.index != 1:
            raise FailedError(
                f"The error of the output {unusual.hypothesis!r} does not have its index."
            ) from None
        return
    if not np.isfinite(rows[0]).all():
        raise FailedError(
            f"Next to the output {unusual.hypothesis!r}, an ordinary text has no finite score."
        )


CHECKS: dict[str, Callable[[Metric], None]] = {
    "batch without texts": _check_no_texts,
    "finite scores of ordinary texts": _check_finite,
    "same scores singly and in a batch": _check_batches,
    "same scores in any order": _check_order,
    "same scores in a second call": _check_repetition,
    "empty and unusual texts": _check_unusual_texts,
    "lone surrogates": _check_surrogates,
    "missing reference": _check_missing_reference,
}


def speed(key: str, given: dict[str, str]) -> float:
    """Return the texts scored per second, measured after a first batch."""
    metric, inputs = _make(key, given), texts()
    metric.score(inputs)
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < 1:
        metric.score(inputs)
        n += len(inputs)
    return n / (time.perf_counter() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a plug-in; return 1 if a check fails."""
    known = ", ".join(plugins.here()) or "none. Install the plug-in, and name it in METRIC_PLUGINS."
    parser = argparse.ArgumentParser(
        prog="python -m metrics.conformance", epilog=f"Plug-ins: {known}"
    )
    parser.add_argument("key", help="distribution--name")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    chosen = refuse_repeats(parser).parse_args(arguments)
    try:
        given = by_name(pair.partition("=")[::2] for pair in chosen.option)
    except ValueError as error:
        parser.error(str(error))
    failed = 0
    for name, problem in check(chosen.key, given):
        print(f"{'FAILED' if problem else 'ok    '} {name}{': ' if problem else ''}{problem}")
        failed += bool(problem)
    if not failed:
        print(f"{speed(chosen.key, given):,.0f} texts per second. Signature:")
        print(_make(chosen.key, given).signature())
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
