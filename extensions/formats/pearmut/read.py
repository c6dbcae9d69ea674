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
from annotation.uploads import TestSetDraft
from annotation.uploads.files import InputFile
from annotation.uploads.media.attachments import attach
from annotation.uploads.problems import Place, Report
from extensions.formats.declared import PEARMUT
from extensions.formats.pearmut.contents import Contents
from extensions.formats.pearmut.entries import logs_of, read_entries, shown_errors
from extensions.formats.pearmut.findings import Findings
from extensions.formats.pearmut.log import LogReader
from extensions.formats.pearmut.offsets import Stated
from extensions.formats.pearmut.reader import Reader
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
    parts: Sequence[InputFile] = (),
    logs: Sequence[InputFile] = (),
    media: Sequence[InputFile] = (),
) -> Drafts:
    """Read campaigns and report their problems; errors prevent storing them.

    `parts` are further files: with other campaigns, or with more data of one of the same
    campaign_id.

    `ends` states whether the ends of errors marked beforehand are `included` or `excluded`; if it
    is empty, that is inferred from the words. `breaks` states whether offsets count line breaks:
    `counted` (Pearmut 1.1.5 and later) or `uncounted`; if it is empty, that is inferred from the
    marks of omissions. With its `logs` a campaign is finished: all of them, or of several campaigns
    those that name it, in the file or as the file. `media` are the recordings and pictures that
    sources name, or archives of them.
    """
    before = len(report.errors)
    every = _campaigns([file, *parts], report)
    if len(report.errors) > before:
        return []
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
    for names, prefix, values in every if len(report.errors) == before else ():
        findings = Findings(names, report, prefix=prefix, is_alone=len(every) == 1)
        found += _read_one(findings, values, languages, name, Stated(ends, breaks), logs, media)
        findings.warn_of_counts()
    _require_names(file, found, report)
    return [] if len(report.errors) > before else found


def _campaigns(files: Sequence[InputFile], report: Report) -> list[tuple[str, str, Any]]:
    """Return the campaigns of files: the names of their files, what begins paths, their values.

    Files with data of one campaign_id are parts of one campaign; their settings must be equal.
    """
    found: list[tuple[str, str, Any]] = []
    for file in files:
        values = read_json(file, report, PEARMUT)
        every = values if isinstance(values, list) else [values]
        for number, each in enumerate(every):
            own = each.get("campaign_id") if isinstance(each, dict) else None
            same = [n for n, (name, _, other) in enumerate(found) if name != file.name
                    and own is not None and other.get("campaign_id") == own]  # fmt: skip
            if not same:
                prefix = f"[{number}]." if isinstance(values, list) else ""
                found.append((file.name, prefix, each))
                continue
            name, prefix, first = found[same[0]]
            if not _are_parts(first, each):
                text = message(
                    "pearmut.other-settings",
                    "The campaign “{campaign}” has other settings in {file}.",
                    campaign=str(own)[:80],
                    file=name,
                )
                report.error(text, Place(file.name, None, f"[{number}].info"))
                continue
            whole = {**first, "data": [*first["data"], *each["data"]]}
            found[same[0]] = (f"{name}, {file.name}", prefix, whole)
    return found


def _are_parts(first: Any, second: Any) -> bool:
    """Return True if two files of a campaign differ in their data alone, which are lists."""
    both = (first, second)
    rest = [{k: v for k, v in each.items() if k not in ("data", "token")} for each in both]
    return rest[0] == rest[1] and all(isinstance(each.get("data"), list) for each in both)


def _read_one(
    findings: Findings,
    values: Any,
    languages: tuple[str, str],
    name: str,
    stated: Stated,
    logs: Sequence[InputFile],
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
    own = logs_of(reader.name, logs, is_alone=findings.is_alone)
    answers = findings.of(", ".join(log.name for log in own)) if own else None
    entries = []
    if answers is not None and len(report.errors) == before:
        entries = read_entries(own, answers, reader.name, is_alone=findings.is_alone)
    if len(report.errors) > before:
        return []
    protocol = reader.info.judging
    convention = reader.marks.settle(
        findings, reader.items, protocol, stated, shown_errors(entries)
    )
    title = (name or reader.name)[:120]
    slug = slugify(title)[:70] or "pearmut"
    slug = f"{slug}-pearmut" if slug in ("new", "import") else slug
    test_set, campaign = reader.drafts(slug, title, languages, is_open=answers is None)
    if answers is not None and len(report.errors) == before:
        keys, texts = reader.texts.keys(), reader.texts.known()
        log = LogReader(answers, campaign, keys, protocol, convention, texts)
        campaign = log.read(entries)
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
