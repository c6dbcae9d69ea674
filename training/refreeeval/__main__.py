"""Train from the command line, on one processor or GPU or, with `torchrun`, on several.

    torchrun --nproc-per-node 2 -m training.refreeeval --corpus de-en.tsv:de:en --output DIRECTORY
        [--recipe recipe.json] [--set NAME=VALUE …]

Without Django: the resulting metric is a directory, which an admin adds on the Metrics page or
with `manage.py add_metric`. Run it again with the same directory to continue.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from core.numbers import signed
from metaeval.messages import DataError, message
from metaeval.repeats import by_name, refuse_repeats
from training.contract import Corpus, JobError
from training.jobs.saving import locked
from training.parallel.reading import ParallelError, read_named
from training.refreeeval.launching import refuse_unknown
from training.refreeeval.processes import joined, rank
from training.refreeeval.recipe import OPTIONS, Recipe
from training.refreeeval.train import make_metric

NAMES = [option.name for option in OPTIONS]
COMMAND = message("folder.refreeeval", "python -m training.refreeeval")


def main() -> int:
    parser = argparse.ArgumentParser(prog="training.refreeeval", description=__doc__)
    parser.add_argument(
        "--corpus", action="append", required=True, metavar="FILE:SOURCE:TARGET",
        help="parallel text (TSV or ||| lines) and its languages; may be repeated",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument("--recipe", type=Path, metavar="FILE", help="settings as JSON")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help=", ".join(NAMES)
    )
    given = refuse_repeats(parser).parse_args()
    try:
        recipe = Recipe.from_options(_settings(given.recipe, given.set))
        with joined():
            corpora = [_corpus(each) for each in given.corpus]
            with _locked(given.output.resolve()) as folder:
                made = make_metric(recipe, corpora, folder, _show)
            if rank() == 0:
                _report(made.folder, made.manifest)
    except (JobError, ParallelError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Yield the folder, which the first process locks for all."""
    with locked(folder, COMMAND) if rank() == 0 else nullcontext():
        yield folder


def _settings(path: Path | None, pairs: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path else {}
    if not isinstance(settings, dict):
        raise DataError(
            message(
                "training.settings-file",
                "{path} is not a JSON object of settings by name.",
                path=str(path),
            )
        )
    settings |= by_name(pair.partition("=")[::2] for pair in pairs)
    refuse_unknown(settings, NAMES)
    return settings


def _corpus(given: str) -> Corpus:
    corpus, report = read_named(given)
    if rank() == 0:
        name = Path(given.rsplit(":", 2)[0]).name
        print(f"{name}: {report.usable:,} of {report.read:,} pairs", report.left_out or "")
    return corpus


def _show(progress: dict[str, Any]) -> None:
    if rank():
        return
    line = f"{progress['level']} {progress['step']:,}/{progress['total']:,}"
    if "losses" in progress:
        losses = ", ".join(f"{name} {value:.4f}" for name, value in progress["losses"].items())
        line += f": {losses}; held-out accuracy {progress['curve'][-1]['accuracy']:.3f}"
    print(line, flush=True)


def _report(folder: Path, manifest: dict[str, Any]) -> None:
    held = manifest["held_out"]
    print(
        f"Accuracy among k + 1 texts, untrained: {held['untrained']:.3f}, trained: "
        f"{held['trained']:.3f}"
    )
    ends = ""
    if "low" in held:
        ends = f"95% interval {signed(held['low'])} to {signed(held['high'])}"
    print(f"gain {signed(held['gain'])} ({ends or held['interval']})")
    print("\n".join(map(str, manifest["warnings"])))
    print(f"The metric is in {folder}.")


if __name__ == "__main__":
    sys.exit(main())
