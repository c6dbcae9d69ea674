"""Write the manifest of a bundle: metrics, settings, versions, files, and tables with commands."""

import json
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from django.utils import translation

from annotation.campaigns.facts import n_removed
from annotation.filters import OUT
from annotation.filters.chosen import excluded_annotators
from annotation.filters.systems import chosen_systems
from annotation.models import Item
from annotation.quality.agreement import N_RESAMPLES as AGREEMENT_RESAMPLES
from dashboards.bundle.content import Content
from dashboards.comparisons.selection import leading_keys
from dashboards.comparisons.statistics import Question
from dashboards.spans.document import N_RESAMPLES as SPAN_RESAMPLES
from dashboards.systems.document import N_RESAMPLES
from metaeval import StatisticsWarning
from metaeval.commands import run_command
from metaeval.documents import sizes_of, unit_of
from metaeval.messages import Message, message
from metaeval.replication import FORMAT, plain, versions
from metaeval.replication.questions import N_HYBRIDS, can_answer
from metaeval.replication.questions.statistics import SEGMENT
from metaeval.scores.human_systems import looks_human
from metrics.workers import reporter, telemetry


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
    if not content.campaign.has_published_scores:
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


def expected(folder: Path, table: BundleTable) -> Iterator[str]:
    """Yield a table's numbers as JSON, computed from the files in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        document = run_command(table.arguments, folder)
    yield from _indented(document)
    yield "\n"


def _indented(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield JSON with one blank per level; rows of a table one by one, which C encodes."""
    rows: Any = document.get("rows")
    if not rows or not all(map(_is_flat, rows)):
        yield json.dumps(plain(document), ensure_ascii=False, indent=1)
        return
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",\n   ", ": ")).encode
    frame = json.dumps(plain({**document, "rows": _PLACE}), ensure_ascii=False, indent=1)
    before, _, after = frame.partition(json.dumps(_PLACE))
    between = f"{before}[\n"
    for row in rows:
        yield f"{between}  {{\n   {encode(plain(row))[1:-1]}\n  }}"
        between = ",\n"
    yield f"\n ]{after}"


_PLACE = "\0rows"


def _is_flat(row: object) -> bool:
    """Return whether a row is a dictionary of texts and numbers."""
    values = row.values() if isinstance(row, dict) and row else [row]
    return all(value is None or isinstance(value, str | int | float) for value in values)


PACKAGES = ("sacrebleu", "Django")


def manifest_of(content: Content, tables: Sequence[BundleTable]) -> dict[str, Any]:
    """Return the manifest without files; without time, so that equal data give equal bytes."""
    measures, facts = content.measures, campaign_facts(content)
    computed_on = reporter.of_signatures([each.signature for each in measures.values()])
    return {
        "format": FORMAT,
        "campaign": vars(facts) | {"human_scores": facts.human_scores.text},
        "filters": content.filters.of(content.campaign).as_json(),
        "metrics": [
            {
                "key": key,
                "label": measure.label,
                "signature": measure.signature,
                "origin": measure.origin,
                "computed_on": computed_on[measure.signature],
                "is_lower_better": not measure.higher_is_better,
                "system_score": _system_score(content, key),
                "missing": measure.n_missing,
            }
            for key, measure in measures.items()
        ],
        "left_out": {key: why.text for key, why in content.excluded.items()},
        "human_systems": list(content.panel.human.humans),
        "versions": versions() | _packages(),
        "builds": telemetry.numpy_builds(),
        "tables": [
            {
                "name": table.name,
                "about": table.about.text,
                "arguments": list(table.arguments),
                "expected": table.expected,
            }
            for table in tables
        ],
    }


def _system_score(content: Content, key: str) -> str:
    """Return how a system's score is computed."""
    if key in content.given:
        return "as imported"
    return content.counted.get(key, "mean of segments")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts for a methods section: settings, seed, numbers, exclusions."""

    slug: str
    name: str
    origin: str
    direction: str
    length_ratio: str
    protocol: str
    question: str
    shown_text: str
    human_scores: Message
    unit: str
    n_units: int
    z_pool: str
    seed: int
    segments: int
    systems: Sequence[str]
    annotators: int
    excluded_annotators: Sequence[str]
    judgments: int
    judgments_removed: int
    judgments_by_kind: Mapping[str, int]
    judged_outputs: int


def campaign_facts(content: Content) -> Facts:
    """Return the facts of a campaign."""
    campaign, judgments = content.campaign, content.judgments
    excluded = campaign.annotators.exclude(excluded_at=None).order_by("pk")
    kinds = {kind.value: int(judgments.is_kind(kind).sum()) for kind in Item.Kind}
    # As it is stored, whichever language the reader of the page has.
    with translation.override("en"):
        question = campaign.question_text
    return Facts(
        slug=campaign.slug,
        name=campaign.name,
        origin=campaign.origin,
        direction=campaign.test_set.direction,
        length_ratio=str(campaign.length_ratio),
        protocol=campaign.protocol,
        question=question,
        shown_text=campaign.shown_text,
        human_scores=content.panel.human.source,
        unit=unit_of(content.panel.human.clusters),
        n_units=len(sizes_of(content.panel.human.clusters)),
        z_pool=campaign.z_pool,
        seed=campaign.seed,
        segments=len(content.segments),
        systems=list(content.names),
        annotators=campaign.annotators.count(),
        excluded_annotators=list(excluded.values_list("label", flat=True)),
        judgments=len(judgments),
        judgments_removed=n_removed(campaign),
        judgments_by_kind={kind: n for kind, n in kinds.items() if n},
        judged_outputs=content.panel.human.n,
    )


def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
