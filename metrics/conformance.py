"""`python -m metrics.conformance KEY`: whether a plug-in keeps what runs and readers rely on.

Prints a line for each check, and ends with 1 where one fails. Needs neither Django nor a database,
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
# Models that pad batches differ in the last digits.
TOLERANCE = 1e-4
HEAVY = ("torch", "transformers", "tensorflow", "jax", "django")
_ODD = ("", " ", "a", "é" * 3, "e\u0301", "😀 b", "\u202eright to left", "x " * 600, "tab\there")


class FailedError(Exception):
    """A check failed; the message says how."""


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
    """Yield the name of each check and what is wrong; empty where nothing is."""
    yield "description is light", _outcome(lambda: _is_light(key))
    problem = _outcome(lambda: _make(key, given))
    yield "it can be made", problem
    if problem:
        return
    metric = _make(key, given)
    for name, test in CHECKS.items():
        yield name, _outcome(lambda test=test: test(metric))  # type: ignore[misc]
    yield (
        "the signature is the same in another object",
        _outcome(lambda: _same(_make(key, given).signature(), metric.signature())),
    )


def _outcome(test: Callable[[], object]) -> str:
    try:
        test()
    except FailedError as error:
        return str(error)
    except Exception as error:  # whatever foreign code raises
        return f"{type(error).__name__}: {error}"
    return ""


def _is_light(key: str) -> None:
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
        raise FailedError(f"reading it imports {done.stdout.strip()}")


def _make(key: str, given: dict[str, str]) -> Metric:
    family = registry.get_family(key)
    info = family.describe("checked", "Checked", options.clean(family, given))
    built = registry.build(info, family.scorer, source_language="de", target_language="en")
    return plugins.sign(built, key)


def _scores(metric: Metric, inputs: Sequence[SegmentInput]) -> Scores:
    rows = metric.score(inputs)
    expected = (len(inputs), metric.info.width)
    if rows.shape != expected or rows.dtype != np.float64:
        raise FailedError(f"score returns {rows.dtype} {rows.shape}, not float64 {expected}")
    return rows


def _same(left: object, right: object) -> None:
    if left != right:
        raise FailedError(f"{left} and {right}")


def _close(left: Scores, right: Scores) -> None:
    if not np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        raise FailedError(f"differs by up to {np.nanmax(np.abs(left - right)):.3g}")


def _nothing(metric: Metric) -> None:
    _scores(metric, [])


def _finite(metric: Metric) -> None:
    if not np.isfinite(_scores(metric, texts())).all():
        raise FailedError("ordinary texts have no finite score")


def _batches(metric: Metric) -> None:
    inputs = texts()
    _close(np.concatenate([_scores(metric, [each]) for each in inputs]), _scores(metric, inputs))


def _order(metric: Metric) -> None:
    inputs = texts()
    order = np.random.default_rng(1).permutation(len(inputs))
    shuffled = _scores(metric, [inputs[at] for at in order])
    _close(shuffled, _scores(metric, inputs)[order])


def _again(metric: Metric) -> None:
    _same(_scores(metric, texts()).tobytes(), _scores(metric, texts()).tobytes())


def _odd(metric: Metric) -> None:
    """Any text has a score, or an error that names it."""
    for text in _ODD:
        _scored_or_named(metric, SegmentInput(text or "x", text, (text or "x",)))


def _surrogates(metric: Metric) -> None:
    _scored_or_named(metric, SegmentInput("a", "broken \ud800 text", ("b",)))


def _without_reference(metric: Metric) -> None:
    bare = SegmentInput("a", "b", ())
    if not metric.info.needs_reference:
        _scores(metric, [bare])
        return
    try:
        metric.score([texts(1)[0], bare])
    except MetricError as error:
        if not error.permanent or error.index != 1:
            raise FailedError("the error does not say which segment, or is not permanent") from None
    else:
        raise FailedError("needs a reference, and scores without one")


def _scored_or_named(metric: Metric, odd: SegmentInput) -> None:
    try:
        rows = _scores(metric, [texts(1)[0], odd])
    except MetricError as error:
        if error.index != 1:
            raise FailedError(f"the error over {odd.hypothesis!r} does not name it") from None
        return
    if not np.isfinite(rows[0]).all():
        raise FailedError(f"{odd.hypothesis!r} spoils the score of its neighbour")


CHECKS: dict[str, Callable[[Metric], None]] = {
    "no texts": _nothing,
    "ordinary texts have finite scores": _finite,
    "alone as in a batch": _batches,
    "in any order": _order,
    "twice the same": _again,
    "empty and odd texts": _odd,
    "lone surrogates": _surrogates,
    "a missing reference": _without_reference,
}


def speed(key: str, given: dict[str, str]) -> float:
    """Return texts a second, after one batch."""
    metric, inputs = _make(key, given), texts()
    metric.score(inputs)
    began, n = time.perf_counter(), 0
    while time.perf_counter() - began < 1:
        metric.score(inputs)
        n += len(inputs)
    return n / (time.perf_counter() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a plug-in; return 1 where it fails."""
    known = ", ".join(plugins.here()) or "none: is it installed, and named in METRIC_PLUGINS?"
    parser = argparse.ArgumentParser(prog="python -m metrics.conformance", epilog=f"Here: {known}")
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
        print(f"{speed(chosen.key, given):,.0f} texts a second; signature:")
        print(_make(chosen.key, given).signature())
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
