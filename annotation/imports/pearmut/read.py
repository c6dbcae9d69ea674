"""Campaigns of Pearmut: one JSON file with `campaign_id`, `data` and perhaps `info`, or a list.

Task-based data become batches, one annotator each; of shared data every screen is a batch, and the
screens are dealt to the users. A document of cESA is a screen with its models as columns; where
systems are drawn for each screen (`dynamic`), so they are here, if a document has more. Items with
validation rules become gold, or practice where they may be skipped. What is wrong is named by its
path, such as `data[0][2][1].tgt`.
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
from annotation.imports.pearmut.offsets import Said
from annotation.imports.pearmut.reader import Reader
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.media.attachments import attach
from annotation.uploads.problems import Place, Report

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
    """Read campaigns; what is wrong goes to the report, and errors there forbid storing.

    `ends` says of errors marked beforehand whether their last character is `included` or
    `excluded`; where nobody says, the words do. `breaks` says of all offsets whether line breaks
    are `counted` (Pearmut 1.1.5 and later) or `uncounted`; where nobody says, the marks of what is
    missing do. With its log a campaign is a finished one. `media` are the recordings and pictures
    that sources name, or archives of them.
    """
    before = len(report.errors)
    values = read_json(file, report)
    if len(report.errors) > before:
        return []
    every = values if isinstance(values, list) else [values]
    if not 1 <= len(every) <= MOST_CAMPAIGNS:
        message = f"a campaign, or a list of 1 to {MOST_CAMPAIGNS}, is expected"
        report.error(message, Place(file.name, None, "the file"))
    if name and len(every) > 1:
        report.error("one name for several campaigns: leave it out", Place(file.name))
    languages = (source_language, target_language)
    found: Drafts = []
    for number, each in enumerate(every if len(report.errors) == before else ()):
        prefix = f"[{number}]." if isinstance(values, list) else ""
        findings = Findings(file.name, report, prefix=prefix, is_alone=len(every) == 1)
        found += _read_one(findings, each, languages, name, Said(ends, breaks), log, media)
        findings.warn()
    _require_names(file, found, report)
    return [] if len(report.errors) > before else found


def _read_one(
    findings: Findings,
    values: Any,
    languages: tuple[str, str],
    name: str,
    said: Said,
    log: InputFile | None,
    media: Sequence[InputFile],
) -> Drafts:
    report = findings.report
    before, reader = len(report.errors), Reader(findings)
    try:
        reader.original = json.dumps(values, ensure_ascii=False)
    except RecursionError:
        findings.error("the file", "it is nested too deeply")
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
    convention = reader.marks.settle(findings, reader.items, protocol, said, marked_in(entries))
    title = (name or reader.name)[:120]
    slug = slugify(title)[:70] or "pearmut"
    slug = f"{slug}-pearmut" if slug in ("new", "import") else slug
    test_set, campaign = reader.drafts(slug, title, languages, is_open=log is None)
    if answers is not None and len(report.errors) == before:
        keys = reader.texts.keys()
        campaign = LogReader(answers, campaign, keys, protocol, convention).read(entries)
        answers.warn()
    return [(test_set, campaign)]


def _attach(findings: Findings, texts: Contents, media: Sequence[InputFile]) -> None:
    segments = list(texts.segments.values())

    def place(number: int, _: str) -> Place:
        return findings.place(f"{texts.paths[segments[number].key]}.src")

    attach(segments, media, findings.report, place)


def _require_names(file: InputFile, drafts: Drafts, report: Report) -> None:
    """Two campaigns of a list must not become one."""
    seen: set[str] = set()
    for number, (_, campaign) in enumerate(drafts):
        if campaign.slug in seen:
            place = Place(file.name, None, f"[{number}].campaign_id")
            report.error(f"“{campaign.name}” is there already", place)
        seen.add(campaign.slug)
