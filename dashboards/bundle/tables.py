"""The tables of a bundle: the commands that compute them, run on the bundle's own files."""

import json
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import metaeval
from dashboards.analyses.systems import N_RESAMPLES
from dashboards.bundle.content import Content
from dashboards.scored import N_HYBRIDS
from metaeval.__main__ import run_command
from metaeval.reproduce import plain


@dataclass(frozen=True)
class BundleTable:
    """A table by name, what it shows, and the arguments of `python -m metaeval`."""

    name: str
    about: str
    arguments: Sequence[str]

    @property
    def command(self) -> str:
        """The command line, to be run inside the bundle."""
        return shlex.join(["python", "-m", "metaeval", *self.arguments])


def tables_of(content: Content) -> list[BundleTable]:
    """Return the tables that a campaign's data allow."""
    tables = []
    if len(content.judgments):
        people = ["judgments.tsv", "--annotators", "annotators.tsv"]
        quality = "Times, traps, one-vs-rest r and α, with traps and without"
        tables.append(BundleTable("quality", quality, ["quality", *people]))
    if len(content.judgments) and not content.campaign.published_scores.exists():
        form = ["--form", content.filters.scores, "--pool", content.campaign.z_pool]
        about = "The human score of every output, from the judgments"
        tables.append(BundleTable("human-scores", about, ["human-scores", *people, *form]))
    if content.measures and content.frame.human.n:
        hybrids = ["--hybrids", str(N_HYBRIDS)]
        about = "Every metric against the humans: τ-b, r over outputs, systems and hybrids"
        arguments = ["correlations", *_scores(content), *hybrids]
        tables.append(BundleTable("correlations", about, arguments))
    if content.measures or content.frame.human.n:
        options = ["--versus", "next", "--test", "rank-sum", "--resamples", str(N_RESAMPLES)]
        about = "MT systems: human clusters, metric scores with marks"
        tables.append(BundleTable("systems", about, ["systems", *_scores(content), *options]))
    about = "Deviation of the systems from the wanted length"
    return [*tables, BundleTable("lengths", about, ["lengths", "lengths.tsv"])]


def _scores(content: Content) -> list[str]:
    arguments = ["scores.tsv", "--human", "human", "--seed", str(content.campaign.seed)]
    for key in content.lower:
        arguments += ["--lower", key]
    for key, formula in content.counted.items():
        arguments += ["--counts", f"{key}:{formula}=counts/{key}.tsv"]
    if content.frame.human.published_systems is not None:
        arguments += ["--human-systems", "human-systems.tsv"]
    return arguments


def expected(folder: Path, table: BundleTable) -> str:
    """Return a table's numbers as JSON, computed from the files in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metaeval.StatisticsWarning)
        document = plain(run_command(table.arguments, folder))
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
