"""What a trial of suggestions tells, by simulation: our design and our estimators together.

    python -m benchmarks.annotation.trial [--trials 200]

Annotators with spreads seen in published logs (time) or assumed (acceptance, misses) rate outputs
in conditions as a campaign draws them (`annotation.prefill.balance`); a line an aim with the share
of trials that find it, or half the mean width of the interval, and how often intervals hold the
truth. Beside it stand the numbers of the facts on protocols, simulated by a design of their own.
"""

import argparse
import os
import random
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

import numpy as np
from scipy.special import expit, logit

from annotation.prefill.balance import Unit, draw_conditions
from annotation.prefill.suggestions import Condition
from metaeval.judgments.trial import MeanEffect, RateEffect, mean_effect, rate_effect
from metaeval.judgments.trial.sizes import (
    ACCEPTING,
    LOG_TIME,
    MISSING,
    OWN_CHANGE,
    OWN_MISSING,
)
from metaeval.repeats import refuse_repeats

RATERS = 4
Found = tuple[MeanEffect | RateEffect, float]
OUTPUT_SD, PERSON_SD = 0.5, 0.4
BLANK = 0.05


@dataclass(frozen=True)
class Aim:
    """`truth` is a time ratio or a rate; `wanted` what the facts say: power, or half a width."""

    kind: str
    truth: float
    people: int
    items: int
    wanted: float


AIMS = (
    Aim("time", 0.7, 8, 50, 0.84),
    Aim("time", 0.8, 12, 100, 0.79),
    Aim("time", 0.8, 20, 50, 0.90),
    Aim("time", 0.9, 20, 100, 0.43),
    Aim("accepted", 0.3, 12, 15, 0.11),
    Aim("accepted", 0.3, 20, 20, 0.08),
    Aim("accepted", 0.3, 40, 10, 0.06),
    Aim("missed", 0.4, 20, 20, 0.70),
    Aim("missed", 0.45, 12, 20, 0.78),
    Aim("missed", 0.45, 20, 10, 0.78),
)
TREATED = {
    "time": Condition.PREFILLED, "accepted": Condition.PLANTED, "missed": Condition.WITHHELD,
}  # fmt: skip


def drawn(aim: Aim, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Annotator, output and whether it is treated, as a campaign draws it."""
    treated = TREATED[aim.kind]
    n = aim.people * 2 * aim.items // RATERS
    units = [
        Unit(
            [(unit * RATERS + step) % aim.people for step in range(RATERS)],
            "",
            frozenset({Condition.BLANK, Condition.PREFILLED, treated}),
        )
        for unit in range(n)
    ]
    found = draw_conditions(units, {Condition.BLANK: 50, treated: 50}, rng=random.Random(seed))
    rows = [(who, unit, each == treated) for unit, own in enumerate(found)
            for who, each in own.items()]  # fmt: skip
    who, what, shown = (np.array(column) for column in zip(*rows, strict=True))
    return who, what, shown


def times(aim: Aim, rng: np.random.Generator, seed: int) -> Found:
    """One trial of time; the truth is the ratio."""
    who, what, shown = drawn(aim, seed)
    person, output = rng.normal(0, PERSON_SD, aim.people), rng.normal(0, OUTPUT_SD, what.max() + 1)
    change = np.log(aim.truth) + rng.normal(0, OWN_CHANGE, aim.people)
    logs = person[who] + output[what] + shown * change[who] + rng.normal(0, LOG_TIME, len(who))
    found = mean_effect(np.exp(logs), shown, who.tolist(), what.tolist(), is_ratio=True)
    return found, aim.truth


def accepted(
    aim: Aim, rng: np.random.Generator, seed: int
) -> tuple[MeanEffect | RateEffect, float]:
    """One trial of planted errors; the truth is what the mean annotator takes above blank."""
    who, _, shown = drawn(aim, seed)
    rates = expit(logit(aim.truth) + rng.normal(0, ACCEPTING, aim.people))
    events = rng.random(len(who)) < np.where(shown, rates[who], BLANK)
    return rate_effect(events, shown, who.tolist()), _mean(aim.truth, ACCEPTING) - BLANK


def missed(aim: Aim, rng: np.random.Generator, seed: int) -> Found:
    """One trial of withheld errors, missed in 0.3 of cases where nothing is shown."""
    who, _, shown = drawn(aim, seed)
    own, change = rng.normal(0, MISSING, aim.people), rng.normal(0, OWN_MISSING, aim.people)
    logits = np.where(shown, logit(aim.truth) + (own + change)[who], logit(0.3) + own[who])
    found = rate_effect(rng.random(len(who)) < expit(logits), shown, who.tolist())
    both = float(np.hypot(MISSING, OWN_MISSING))
    return found, _mean(aim.truth, both) - _mean(0.3, MISSING)


def _mean(rate: float, spread: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    return float((weights * expit(logit(rate) + spread * nodes)).sum() / weights.sum())


KINDS: dict[str, Callable[[Aim, np.random.Generator, int], Found]]
KINDS = {"time": times, "accepted": accepted, "missed": missed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    n = refuse_repeats(parser).parse_args().trials
    warnings.simplefilter("ignore")
    print(f"{'aim':22} {'people × items':>15} {'facts':>6} {'here':>6} {'holds':>6} {'s':>6}")
    for aim in AIMS:
        began, rng = time.process_time(), np.random.default_rng(1)
        found = [KINDS[aim.kind](aim, rng, seed) for seed in range(n)]
        ends = [(effect.interval, truth) for effect, truth in found if effect.interval]
        holds = sum(each.low <= truth <= each.high for each, truth in ends) / n
        if aim.kind == "accepted":
            here = float(np.mean([(each.high - each.low) / 2 for each, _ in ends]))
        else:
            here = sum((effect.pvalue or 1) < 0.05 for effect, _ in found) / n
        took = time.process_time() - began
        name, size = f"{aim.kind} {aim.truth:g}", f"{aim.people} × {aim.items}"
        print(f"{name:22} {size:>15} {aim.wanted:6.2f} {here:6.2f} {holds:6.2f} {took:6.1f}")


if __name__ == "__main__":
    main()
