"""Compute the tables of a bundle by commands on the bundle's own files."""

import json
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.filters import OUT
from annotation.filters.chosen import excluded_annotators
from annotation.filters.systems import chosen_systems
from annotation.quality.agreement import N_RESAMPLES as AGREEMENT_RESAMPLES
from dashboards.bundle.content import Content
from dashboards.comparisons.selection import leading_keys
from dashboards.comparisons.statistics import Question
from dashboards.spans.document import N_RESAMPLES as SPAN_RESAMPLES
from dashboards.systems.document import N_RESAMPLES
from metaeval import StatisticsWarning
from metaeval.commands import run_command
from metaeval.messages import Message, message
from metaeval.replication import plain
from metaeval.replication.questions import N_HYBRIDS, can_answer
from metaeval.replication.questions.statistics import SEGMENT
from metaeval.scores.human_systems import looks_human


@dataclass(frozen=True)
class BundleTable:
    """A table by name, a description, and the arguments of `python -m metaeval`."""

    name: str
    about: Message
    arguments: Sequence[str]

    @property
    def command(self) -> str:
        """The command line, to be run inside the bundle."""
        return shlex.join(["python", "-m", "metaeval", *self.arguments])

    @property
    def expected(self) -> str:
        """The file with the numbers."""
        return f"expected/{self.name}.json"


def tables_of(content: Content) -> list[BundleTable]:
    """Return the tables that a campaign's data allow."""
    tables = _of_judgments(content) if len(content.judgments) else []
    if content.measures and content.panel.human.is_there:
        hybrids = ["--hybrids", str(N_HYBRIDS)]
        about = message(
            "bundle.correlations",
            "Every metric against the humans: τ-b, r over outputs, systems and hybrids",
        )
        arguments = ["correlations", *_scores(content), *hybrids]
        tables.append(BundleTable("correlations", about, arguments))
        tables += _of_questions(content)
    if content.measures or content.panel.human.is_there:
        options = ["--versus", "next", "--test", "rank-sum", "--resamples", str(N_RESAMPLES)]
        about = message("bundle.systems", "MT systems: human clusters, metric scores with marks")
        tables.append(BundleTable("systems", about, ["systems", *_scores(content), *options]))
    if content.marks is not None and len(content.marks) and content.detectors:
        tables.append(_of_spans(content))
    about = message("bundle.lengths", "Deviation of the systems from the target length")
    return [*tables, BundleTable("lengths", about, ["lengths", "lengths.tsv"])]


def _of_spans(content: Content) -> BundleTable:
    about = message(
        "bundle.spans",
        "Error spans of metrics against those of annotators (MPP): precision, recall, F1, human "
        "ceiling",
    )
    options = ["--resamples", str(SPAN_RESAMPLES), "--seed", str(content.campaign.seed)]
    arguments = ["spans", "spans.tsv", "--people", "human-spans.tsv", *options]
    return BundleTable("spans", about, arguments)


def _of_judgments(content: Content) -> list[BundleTable]:
    people = ["judgments.tsv", "--annotators", "annotators.tsv", *_chosen(content)]
    resamples = ["--resamples", str(AGREEMENT_RESAMPLES), "--seed", str(content.campaign.seed)]
    about = message(
        "bundle.quality", "Times, traps, one-vs-rest r and α with intervals, with traps and without"
    )
    tables = [BundleTable("quality", about, ["quality", *people, *resamples])]
    if not content.campaign.published_scores.exists():
        form = [
            "--form",
            content.filters.of(content.campaign).scores,
            "--pool",
            content.campaign.z_pool,
        ]
        about = message(
            "bundle.human-scores", "The human score of every output, from the judgments"
        )
        tables.append(BundleTable("human-scores", about, ["human-scores", *people, *form]))
    return tables


def _chosen(content: Content) -> list[str]:
    """Return the reader's filters as options of the commands over judgments."""
    filters, campaign = content.filters, content.campaign
    people = campaign.annotators.filter(pk__in=excluded_annotators(campaign, filters)).order_by(
        "pk"
    )
    pairs = [("--without", label) for label in people.values_list("label", flat=True)]
    if filters.chooses_systems:
        chosen = chosen_systems(campaign, filters)
        pairs += [("--systems", content.every_name[system.pk]) for system in chosen]
    pairs += [("--document", name.strip()) for name in filters.documents]
    pairs += [("--domain", name.strip()) for name in filters.domains]
    pairs += [("--segments", "segments.tsv")] if filters.chooses_segments else []
    limits = {
        "--since": filters.since,
        "--until": filters.until,
        "--min-seconds": filters.min_seconds,
        "--max-seconds": filters.max_seconds,
    }
    pairs += [(name, str(limit)) for name, limit in limits.items() if limit not in ("", None)]
    options = [word for pair in pairs for word in pair]
    return options + (["--without-controls"] if filters.traps == OUT else [])


def _of_questions(content: Content) -> list[BundleTable]:
    """Return a table for every chosen statistic, as correlation and significance pages show it."""
    filters, tables = content.filters, []
    options = ["--correction", filters.correction, "--scope", filters.scope]
    for question in filters.questions:
        if not can_answer(content.panel.scored, question):
            continue
        words = ["--statistic", question.statistic.key, "--grouping", question.grouping]
        words += ["--test", question.test, "--metrics", "metrics.tsv"]
        words += ["--floors", "floors.tsv"]
        words += ["--ratings", "ratings.tsv"] if content.ratings is not None else []
        about = message(
            "bundle.question",
            "{statistic}: intervals and ranks of all metrics, all differences with p, baselines "
            "and human ceiling",
            statistic=question.label,
        )
        shown = [word for key in _shown(content, question) for word in ("--shown", key)]
        arguments = ["question", *_scores(content), *words, *options, *shown]
        tables.append(BundleTable(question.key.replace("/", "-"), about, arguments))
    return tables


def _shown(content: Content, question: Question) -> list[str]:
    """Return the metrics that pages show for the same choices; empty for all."""
    wanted = content.filters.metric.split()
    if not wanted:
        is_over_segments = question.statistic.level == SEGMENT
        wanted = leading_keys(content.measures, is_over_segments=is_over_segments)
    found = [key for key in wanted if key in content.measures]
    return [] if len(found) == len(content.measures) else found


def _scores(content: Content) -> list[str]:
    arguments = ["scores.tsv", "--human", "human", "--seed", str(content.campaign.seed)]
    for key in content.panel.scored.lower:
        arguments += ["--lower", key]
    for key, formula in content.counted.items():
        arguments += ["--counts", f"{key}:{formula}=counts/{key}.tsv"]
    if content.panel.human.published_systems is not None:
        arguments += ["--human-systems", "human-systems.tsv"]
    if any(map(looks_human, content.names)):
        arguments += ["--with-human"]
    if content.given:
        arguments += ["--metric-systems", "metric-systems.tsv"]
    return arguments


def expected(folder: Path, table: BundleTable) -> str:
    """Return a table's numbers as JSON, computed from the files in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        document = plain(run_command(table.arguments, folder))
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
