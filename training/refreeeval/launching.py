"""Start a training in a folder, without Django, on one processor or with `torchrun` on several.

Run a command again with the same folder to continue.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from metaeval.messages import DataError, Message, message
from metaeval.repeats import by_name, refuse_repeats
from metrics.options import Option, clean_all
from training.contract import JobError, Outcome, Work
from training.jobs.saving import locked
from training.parallel.reading import ParallelError, read_named
from training.refreeeval.processes import joined, rank

Options = dict[str, Any]


def launch(
    module: str,
    about: str | None,
    options: Iterable[Option],
    conflicts: Callable[[Mapping[str, Any]], Mapping[str, Message]],
    run: Callable[[Work], Outcome],
    tell: Callable[[Outcome], None],
) -> int:
    """Train as the command line says, let the first process tell the outcome; return a status."""
    known = {option.name: option for option in options}
    parser = argparse.ArgumentParser(prog=module, description=about)
    parser.add_argument(
        "--corpus", action="append", required=True, metavar="FILE:SOURCE:TARGET",
        help="parallel text (TSV or ||| lines) and its languages; may be repeated",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, required=True, metavar="DIRECTORY")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help=", ".join(known)
    )
    given = refuse_repeats(parser).parse_args()
    command = message("folder.command", "{command}", command=f"python -m {module}")
    try:
        chosen = _checked(known, given.set, conflicts)
        with joined():
            corpora = [read_named(each)[0] for each in given.corpus]
            folder = given.output.resolve()
            # The first process locks the folder for all.
            with locked(folder, command) if rank() == 0 else nullcontext():
                made = run(Work(chosen, folder, corpora, _show))
            if rank() == 0:
                tell(made)
    except (JobError, ParallelError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise DataError for names of settings that do not exist."""
    known = list(known)
    if unknown := sorted(set(given) - set(known)):
        raise DataError(
            message(
                "training.unknown-settings",
                "Unknown settings: {names}. Known: {known}.",
                names=unknown,
                known=known,
            )
        )


def _checked(
    known: Mapping[str, Option],
    pairs: Iterable[str],
    conflicts: Callable[[Mapping[str, Any]], Mapping[str, Message]],
) -> Options:
    given = by_name(pair.partition("=")[::2] for pair in pairs)
    refuse_unknown(given, known)
    chosen: Options = dict(clean_all(known.values(), given))
    if errors := conflicts(chosen):
        raise JobError(*errors.values())
    return chosen


def _show(progress: dict[str, Any]) -> None:
    if rank() == 0:
        done = f" {progress['step']:,}/{progress['total']:,}" if "step" in progress else ""
        print(f"{progress.get('stage') or progress['level']}{done}", flush=True)
