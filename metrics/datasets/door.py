"""Whole data sets, which workers import: folders of mt-metrics-eval, and sets on the server."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse

from annotation.doors import stored_campaigns
from annotation.imports import background
from annotation.imports.store import Launched
from annotation.models import FileImport
from annotation.uploads import InputFile, Report, waiting
from core.messages import as_json
from metaeval.messages import Message, plural
from metrics import datasets
from metrics.datasets import EvaluationDraft, Stored, mtme

FOLDER, PUBLISHED = "mt-metrics-eval", "data-set"


@dataclass(frozen=True)
class CampaignLook:
    """A campaign of a data set, as pages and programs show it before it is stored."""

    slug: str
    name: str
    protocol: str
    judgments: int
    annotators: int
    spans: int
    published: int


@dataclass(frozen=True)
class SetLook:
    """A language pair of a data set, as pages and programs show it before it is stored."""

    test_set: str
    name: str
    languages: str
    segments: int
    documents: int
    references: list[str]
    systems: list[str]
    campaigns: list[CampaignLook]
    metrics: list[str]


@dataclass(frozen=True)
class Look:
    """What a page shows of a data set that was checked."""

    sets: list[SetLook]


def begin(
    user: Any,
    door: str,
    values: Mapping[str, Any],
    archive: InputFile | None = None,
    *,
    store: bool = False,
) -> FileImport:
    """Let a worker check an archive, or a set on the server that the values name."""
    sent = waiting.Sent(door, {"archive": archive} if archive else {}, values)
    token = waiting.keep(sent, user.pk)
    return background.begin(user, token, {"store": store}, name=values.get("dataset", ""))


class DataSets(background.Door):
    """Test sets with their campaigns and metric scores, one per language pair."""

    look = Look

    @abstractmethod
    def read(
        self, values: Mapping[str, Any], files: Mapping[str, InputFile], report: Report
    ) -> list[EvaluationDraft]:
        """Read what was sent; problems go to the report. Raises ValidationError."""

    def check(self, row: FileImport, sent: waiting.Sent) -> background.Found:
        """Read a data set, and compare it with what is stored."""
        report, user = Report(), row.created_by
        drafts = self.read(sent.words, sent.files, report)
        if not report.errors:
            for draft in drafts:
                datasets.examine(draft, report, user=user)
        if report.errors:
            raise background.RefusedError(report)
        found = Look([summary(draft) for draft in drafts])
        return background.Found(report, found, drafts, waiting.plain(found))

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store all language pairs."""
        stored = [datasets.store(draft, user=row.created_by) for draft in found.drafts]
        launched = [Launched(each, ()) for one in stored for each in one.campaigns]
        return {
            **stored_campaigns(launched),
            "sentences": [as_json(_scores_of(each)) for each in stored if each.metrics],
            "test_sets": [each.test_set.slug for each in stored],
        }


class Folders(DataSets):
    """Folders in the layout of mt-metrics-eval, as an archive."""

    def read(
        self, values: Mapping[str, Any], files: Mapping[str, InputFile], report: Report
    ) -> list[EvaluationDraft]:
        """Read the language pairs that were chosen."""
        choice = mtme.Choice(
            human=values.get("human") or (),
            metrics=values.get("metrics"),
            lower=values.get("lower_is_better") or (),
            higher=values.get("higher_is_better") or (),
            **{name: values.get(name) or "" for name in ("name", "study", "question")},
        )
        with mtme.unpacked(files["archive"]) as folder:
            root = mtme.find_root(folder)
            pairs = mtme.choose_pairs(root, values.get("language_pair", ""))
            return [mtme.read(root, pair, report, choice) for pair in pairs]

    def page(self, row: FileImport) -> str:
        """Return the page that takes folders."""
        return reverse("mtme-import")


class PublishedSets(DataSets):
    """Published sets whose files are on the server."""

    def read(
        self, values: Mapping[str, Any], files: Mapping[str, InputFile], report: Report
    ) -> list[EvaluationDraft]:
        """Read a set, or one language pair of it."""
        name, own = datasets.find(values["dataset"])
        pairs = datasets.pairs(name, Path(settings.DATA_DIR), own)
        return [draft for pair in pairs for draft in datasets.read(name, pair)]

    def page(self, row: FileImport) -> str:
        """Return the page of the sets."""
        return reverse("dataset-list")


folders, published_sets = Folders(), PublishedSets()


def _scores_of(stored: Stored) -> Message:
    return plural(
        "dataset.metrics-stored",
        "{name}: scores of {n} metric, {new} of them new.",
        "{name}: scores of {n} metrics, {new} of them new.",
        n=len(stored.metrics),
        name=stored.test_set.name,
        new=sum(outcome.row is not None for outcome in stored.metrics),
    )


def summary(draft: EvaluationDraft) -> SetLook:
    """Return the content of a draft, for pages and programs."""
    test_set = draft.test_set
    references = {name for segment in test_set.segments for name in segment.references}
    return SetLook(
        test_set=test_set.slug,
        name=test_set.name,
        languages=f"{test_set.source_language}–{test_set.target_language}",
        segments=len(test_set.segments),
        documents=len({segment.document for segment in test_set.segments} - {""}),
        references=sorted(references),
        systems=[system.label for system in test_set.systems],
        campaigns=[
            CampaignLook(
                slug=each.slug,
                name=each.name,
                protocol=each.protocol,
                judgments=len(each.judgments),
                annotators=len({judgment.annotator for judgment in each.judgments}),
                spans=sum(len(judgment.spans) for judgment in each.judgments),
                published=len(each.output_scores) + len(each.system_scores),
            )
            for each in draft.campaigns
        ],
        metrics=[metric.name for metric in draft.metrics],
    )
