"""Train a translation model from the command line, with `torchrun` on several GPUs.

    torchrun --nproc-per-node 4 -m training.translation --corpus news.tsv:en:zh --output DIRECTORY
        [--set NAME=VALUE …]

Without Django: the resulting model is a directory for `manage.py translate --model` and the page.
Run it again with the same directory to continue.
"""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from metaeval.messages import DataError, message
from metaeval.repeats import by_name, refuse_repeats
from metrics.options import clean_all
from training.contract import JobError, Work
from training.jobs.saving import locked
from training.parallel.reading import ParallelError, read_named
from training.refreeeval.processes import joined, rank
from training.translation.options import OPTIONS, conflicts, settle

NAMES = [option.name for option in OPTIONS]
COMMAND = message("folder.mt", "python -m training.translation")


def main() -> int:
    parser = argparse.ArgumentParser(prog="training.translation", description=__doc__)
    parser.add_argument(
        "--corpus", action="append", required=True, metavar="FILE:SOURCE:TARGET",
        help="parallel text (TSV or ||| lines) and its languages; may be repeated",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help=", ".join(NAMES)
    )
    given = refuse_repeats(parser).parse_args()
    try:
        options = _options(given.set)
        with joined():
            _train(options, given.corpus, given.output.resolve())
    except (JobError, ParallelError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _train(options: dict[str, Any], named: list[str], folder: Path) -> None:
    from training.translation.learning import job

    corpora = [read_named(each)[0] for each in named]
    # The first process locks the folder for all.
    with locked(folder, COMMAND) if rank() == 0 else nullcontext():
        found = job.run(Work(options, folder, corpora, _show)).result
    if rank() == 0:
        print(f"The model is in {found['model']}: {found['held_out']}")


def _options(pairs: list[str]) -> dict[str, Any]:
    given = by_name(pair.partition("=")[::2] for pair in pairs)
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise DataError(
            message(
                "training.unknown-settings",
                "Unknown settings: {names}. Known: {known}.",
                names=unknown,
                known=list(NAMES),
            )
        )
    chosen: dict[str, Any] = dict(clean_all(OPTIONS, given))
    if errors := conflicts(chosen):
        raise JobError(*errors.values())
    return settle(chosen)


def _show(progress: dict[str, Any]) -> None:
    if rank() == 0:
        done = f" {progress['step']:,}/{progress['total']:,}" if "step" in progress else ""
        print(f"{progress['stage']}{done}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
