"""Read Pearmut campaigns: a JSON file with `campaign_id`, `data` and optional `info`, or a list.

Task-based data become batches, one annotator each; in shared data every screen is a batch, and the
screens are assigned to the users. A document of cESA is a screen with its models as columns; if
systems are drawn for each screen (`dynamic`) and a document has more, they are drawn here, too.
Items with validation rules become gold, or practice if they may be skipped. Problems have the path
of their value, such as `data[0][2][1].tgt`.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.utils.text import slugify

from annotation.imports.drafts import CampaignDraft
from annotation.imports.jsonfiles import read_json
from annotation.imports.pearmut.contents import Contents
from annotation.imports.pearmut.entries import marked_in, read_entries
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.log import LogReader
from annotation.imports.pearmut.offsets import Stated
from annotation.imports.pearmut.reader import Reader
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.media.attachments import attach
from annotation.uploads.problems import Place, Report
from metaeval.messages import message

Drafts = list[tuple[TestSetDraft, CampaignDraft]]
MOST_CAMPAIGNS = 100


def read(
    file: InputFile,
    report: Report,
    *,
    source_language: str,
    target_language: str,
    name: str = "",
    ends: str = "",
    breaks: str = "",
    log: InputFile | None = None,
    media: Sequence[InputFile] = (),
) -> Drafts:
    """Read campaigns and report their problems; errors prevent storing them.

    `ends` states whether the ends of errors marked beforehand are `included` or `excluded`; if it
    is empty, that is inferred from the words. `breaks` states whether offsets count line breaks:
    `counted` (Pearmut 1.1.5 and later) or `uncounted`; if it is empty, that is inferred from the
    marks of omissions. With its log a campaign is finished. `media` are the recordings and pictures
    that sources name, or archives of them.
    """
    before = len(report.errors)
    values = read_json(file, report)
    if len(report.errors) > before:
        return []
    every = values if isinstance(values, list) else [values]
    if not 1 <= len(every) <= MOST_CAMPAIGNS:
        report.error(
            message(
                "pearmut.campaigns",
                "The file must hold a campaign or a list of 1 to {limit} campaigns.",
                limit=MOST_CAMPAIGNS,
            ),
            Place(file.name),
        )
    if name and len(every) > 1:
        report.error(
            message(
                "pearmut.one-name",
                "The file has several campaigns, which cannot have the same name. Leave the name "
                "blank.",
            ),
            Place(file.name),
        )
    languages = (source_language, target_language)
    found: Drafts = []
    for number, each in enumerate(every if len(report.errors) == before else ()):
        prefix = f"[{number}]." if isinstance(values, list) else ""
        findings = Findings(file.name, report, prefix=prefix, is_alone=len(every) == 1)
        found += _read_one(findings, each, languages, name, Stated(ends, breaks), log, media)
        findings.warn_of_counts()
    _require_names(file, found, report)
    return [] if len(report.errors) > before else found


def _read_one(
    findings: Findings,
    values: Any,
    languages: tuple[str, str],
    name: str,
    stated: Stated,
    log: InputFile | None,
    media: Sequence[InputFile],
) -> Drafts:
    report = findings.report
    before, reader = len(report.errors), Reader(findings)
    try:
        reader.original = json.dumps(values, ensure_ascii=False)
    except RecursionError:
        findings.error("", message("pearmut.nesting", "The campaign is nested too deeply."))
        return []
    reader.read(values)
    _attach(findings, reader.texts, media)
    answers = findings.of(log.name) if log is not None else None
    entries = []
    if log is not None and answers is not None and len(report.errors) == before:
        entries = read_entries(log, answers, reader.name, is_alone=findings.is_alone)
    if len(report.errors) > before:
        return []
    protocol = reader.info.judging
    convention = reader.marks.settle(findings, reader.items, protocol, stated, marked_in(entries))
    title = (name or reader.name)[:120]
    slug = slugify(title)[:70] or "pearmut"
    slug = f"{slug}-pearmut" if slug in ("new", "import") else slug
    test_set, campaign = reader.drafts(slug, title, languages, is_open=log is None)
    if answers is not None and len(report.errors) == before:
        keys = reader.texts.keys()
        campaign = LogReader(answers, campaign, keys, protocol, convention).read(entries)
        answers.warn_of_counts()
    return [(test_set, campaign)]


def _attach(findings: Findings, texts: Contents, media: Sequence[InputFile]) -> None:
    segments = list(texts.segments.values())

    def place(number: int, _: str) -> Place:
        return findings.place(f"{texts.paths[segments[number].key]}.src")

    attach(segments, media, findings.report, place)


def _require_names(file: InputFile, drafts: Drafts, report: Report) -> None:
    """Report campaigns of a list that have the same short name."""
    seen: set[str] = set()
    for number, (_, campaign) in enumerate(drafts):
        if campaign.slug in seen:
            place = Place(file.name, None, f"[{number}].campaign_id")
            report.error(
                message(
                    "pearmut.same-name",
                    "Another campaign of the file is also called “{campaign}”.",
                    campaign=campaign.name,
                ),
                place,
            )
        seen.add(campaign.slug)
