"""Settings of IBM model 1 and its metric. Imports neither Django nor torch."""

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.options import Family, Option, OptionError, Options

KIND = "ibm1"
WORDS, CHARACTERS, BLANKS = "words", "characters", "blanks"
UNITS = (WORDS, CHARACTERS, BLANKS)
PARTS = ("about", "sources", "targets", "rows", "columns", "values")

OPTIONS = (
    Option(
        "units",
        message("ibm1.units", "Units"),
        "choice",
        WORDS,
        choices=UNITS,
        help=message(
            "ibm1.units-help",
            "words: words and punctuation, characters in languages without blanks; blanks: what is "
            "between blanks, for texts that are morphemes or part-of-speech tags already.",
        ),
    ),
    Option(
        "n",
        message("ibm1.n", "Units per n-gram"),
        "integer",
        1,
        minimum=1,
        maximum=4,
        help=message("ibm1.n-help", "4 with tags as units is the layout of IBM1-POS4gram."),
    ),
    Option("lower", message("ibm1.lower", "Lower case"), "boolean", True),
    Option("iterations", message("ibm1.iterations", "Iterations of EM"), "integer", 10, minimum=1,
           maximum=100),
    Option(
        "pairs",
        message("ibm1.pairs", "Most sentence pairs"),
        "integer",
        100_000,
        minimum=1,
        help=message("ibm1.pairs-help", "The first ones are used. Memory grows with their words."),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class About:
    """What a table of probabilities was learned from, and how texts become units."""

    units: str
    n: int
    lower: bool
    iterations: int
    pairs: int
    source_language: str
    target_language: str
    fitted_on: str


@dataclass(frozen=True, eq=False)
class Table:
    """t(target | source): an entry per pair of units; the first source is the empty word."""

    about: About
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    rows: Any
    columns: Any
    values: Any

    def save(self, path: Path) -> None:
        """Write the table; nothing in the file is code."""
        np.savez_compressed(
            path,
            about=np.array(json.dumps(asdict(self.about))),
            sources=np.array(self.sources, dtype=np.str_),
            targets=np.array(self.targets, dtype=np.str_),
            rows=self.rows,
            columns=self.columns,
            values=self.values,
        )


def load(path: str, *, is_whole: bool = True) -> Table:
    """Read a table, or only what it is about; raise OptionError where the file is none."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            about = About(**json.loads(str(stored["about"])))
            arrays = [stored[name] for name in PARTS[1:]] if is_whole else [()] * len(PARTS[1:])
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        problem = message(
            "ibm1.not-a-table",
            "{path} is not a table of translation probabilities ({error}).",
            path=path,
            error=type(error).__name__,
        )
        raise OptionError(problem, "table") from error
    sources, targets, *entries = arrays
    return Table(about, tuple(map(str, sources)), tuple(map(str, targets)), *entries)


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the likelihood of an output under a table of probabilities."""
    about = load(str(options["table"]), is_whole=False).about
    return one_measure(
        name,
        label,
        needs_source=True,
        needs_reference=False,
        queue="cpu",
        description=message(
            "ibm1.about",
            "Mean log probability of the output’s units given the source, under IBM model 1 "
            "learned from {pairs} pairs ({direction}) of {names}.",
            pairs=about.pairs,
            direction=f"{about.source_language}→{about.target_language}",
            names=about.fitted_on,
        ),
        citation="Popović et al. 2011, Evaluation without references: IBM1 scores",
        family=KIND,
        notes=message(
            "ibm1.notes",
            "Without word order. A unit that never occurred with one of the source’s counts as "
            "1e-12. Texts are units as in the training: morphemes and tags must be given.",
        ),
        options=tuple(options.items()),
    )


IBM1 = Family(
    key=KIND,
    label="IBM1",
    description=message(
        "ibm1.family", "Word translation probabilities learned here; no reference and no encoder."
    ),
    limits=message(
        "limits.ibm1",
        "Knows the words of its parallel text only, and ignores word order: a shuffled output "
        "scores the same.",
    ),
    scorer="training.ibm1.scoring:Ibm1",
    options=(
        Option(
            "table",
            message("ibm1.table", "Table of probabilities"),
            "file",
            help=message("ibm1.table-help", "The ibm1.npz that a training wrote."),
        ),
    ),
    describe=describe,
)
