"""Read the files of an Appraise campaign as a test set and a campaign per language pair."""

from collections.abc import Sequence

from django.utils.text import slugify

from annotation.imports.drafts import CampaignDraft
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile, read_text
from annotation.uploads.problems import Place, Report
from extensions.formats.appraise.batches import RawItem, examine_sizes, read_tasks
from extensions.formats.appraise.build import build, joined_systems
from extensions.formats.appraise.manifest import Manifest, Pair, read_manifest
from extensions.formats.appraise.scores import add_scores, read_rows
from metaeval.messages import message

Drafts = list[tuple[TestSetDraft, CampaignDraft]]
RESERVED = ("new", "import")


def read(
    batches: InputFile,
    manifest: InputFile,
    report: Report,
    *,
    scores: InputFile | None = None,
    name: str = "",
    unmatched: str = "",
    ends: str = "",
) -> Drafts:
    """Read a campaign and report its problems; errors prevent storing it.

    With scores the campaign is finished and has their judgments; without, it is a draft that can be
    opened. `name` replaces the name in the manifest. `unmatched` (one of `batches.UNMATCHED`) is
    the choice for check items that repeat no target of their task; without it they are an error.
    `ends` states whether the ends of errors marked beforehand are `included` or `excluded`; if it
    is empty, that is inferred from the words. Without scores these errors become suggestions.
    """
    if _are_swapped(batches, manifest):
        batches, manifest = manifest, batches
    described = read_manifest(manifest, report)
    layout = described.layout if described else "direct"
    tasks = read_tasks(batches, layout, report)
    if described is None or tasks is None:
        return []
    announced = sum(pair.tasks for pair in described.pairs)
    if announced != len(tasks):
        report.error(
            message(
                "appraise.number-of-tasks",
                "The number of tasks is {n} in the batches, but {announced} in the manifest.",
                n=len(tasks),
                announced=announced,
            ),
            Place(batches.name),
        )
        return []
    if report.errors:
        return []
    examine_sizes(tasks, report)
    rows = read_rows(scores, report) if scores else []
    joined = joined_systems(tasks, {row.name("system") for row in rows}, report)
    built = [
        build(
            described,
            pair,
            items,
            _slug(name or described.name, described, pair),
            name,
            report,
            joined=joined,
            unmatched=unmatched,
            ends=ends,
        )
        for pair, items in _shares(described.pairs, tasks)
    ]
    if scores is None or report.errors:
        return [(test_set, campaign) for test_set, campaign, _ in built]
    return add_scores(rows, built, described.protocol, joined, report)


def _are_swapped(batches: InputFile, manifest: InputFile) -> bool:
    """Tell whether the batches begin as an object and the manifest as a list."""
    texts = (read_text(file, Report()) or "" for file in (batches, manifest))
    return [text.lstrip()[:1] for text in texts] == ["{", "["]


def _shares(
    pairs: Sequence[Pair], tasks: Sequence[list[RawItem]]
) -> list[tuple[Pair, list[RawItem]]]:
    """Return the items of each language pair: tasks are in the order of the manifest."""
    shares, start = [], 0
    for pair in pairs:
        own = tasks[start : start + pair.tasks]
        shares.append((pair, [item for task in own for item in task]))
        start += pair.tasks
    return shares


def _slug(name: str, manifest: Manifest, pair: Pair) -> str:
    base = slugify(name)[:60] or "appraise"
    if len(manifest.pairs) > 1:
        return slugify(f"{base}-{pair.source}-{pair.target}")
    return f"{base}-appraise" if base in RESERVED else base
