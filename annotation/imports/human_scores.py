"""Read published human scores of segments, documents and systems from tables of any layout.

A table with segments holds scores of outputs, one without holds scores of whole systems or, if it
names them, of documents or domains. A column of levels says so for each row. Every column of
scores, or every name in a column of names, becomes a campaign without judgments.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext_noop

from annotation.imports.drafts import CampaignDraft
from annotation.imports.judgments.fields import (
    NUMBERED,
    Sheet,
    numbered,
    read_numbers,
    read_tables,
    refuse_objects,
)
from annotation.imports.judgments.groups import Group, groups_of
from annotation.imports.judgments.options import LOWER, Options
from annotation.imports.judgments.read import (
    Drafts,
    Reading,
    all_fields,
    name_of,
    seen_in,
)
from annotation.imports.judgments.rows import FALSE, TRUE, Row, join, rows_of, with_plain_names
from annotation.imports.judgments.wide import OF_SYSTEM, by_segment, is_numeric, unfolded
from annotation.models import Campaign, Item, Segment
from annotation.uploads import SystemDraft
from annotation.uploads.files import InputFile
from annotation.uploads.formats.base import HUMAN_SCORES
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import direction_message, say_direction
from annotation.uploads.tables.columns import (
    numbering,
    propose,
    read_chosen,
    refuse_unknown,
    say_unused,
    without_all,
)
from annotation.uploads.tables.likert import refuse_orders
from annotation.uploads.tables.lines import Listing
from annotation.uploads.tables.rows import Table
from metaeval.files import names
from metaeval.files.cells import count_infinite, is_missing, too_many_cells
from metaeval.files.names import column_of, fields_of, is_called, is_person
from metaeval.messages import message, plural, truncated
from metaeval.scores.directions import Direction, infer_direction, stated_direction

QUESTION = gettext_noop(
    "The scores were published. The question that the annotators answered is unknown."
)
SCORE, SCORE_NAME = "score", "score_name"
# Levels of scores, and the columns that name documents and domains.
SEGMENT, DOCUMENT, DOMAIN, SYSTEM = "segment", "document", "domain", "system"
LEVELS = {
    **dict.fromkeys(FALSE, SEGMENT),
    **dict.fromkeys(TRUE | {"doc"}, DOCUMENT),
    **{"": "", "seg": SEGMENT, DOMAIN: DOMAIN, SYSTEM: SYSTEM, "sys": SYSTEM},
}
FIELDS = fields_of(names.HUMAN_SCORES)
# A table with one of these has rows of scores.
OF_WHAT = ("segment", "item", "document", "domain", "source", SCORE_NAME)
# A column that says `human` goes before all others: beside it, `score` is what a metric gave.
HUMAN = next(field for field in names.FIELDS if field.name == "human")
OFTEN_NUMBERED = ("mqm", "esa", "da")
# Words of names such as `mqm_norm_score` and `adequacy_score`: of what, and which figure of it.
WORDS = frozenset(("mqm", "da", "esa", "cesa", "sqm", "xsts", "human", "adequacy", "fluency"))
FIGURES = frozenset(
    ("score", "scores", "rating", "ratings", "mean", "avg", "average", "median", "norm",
     "normalised", "normalized", "raw", "z", "zscore")
)  # fmt: skip


@dataclass
class Found:
    """The scores of one name in one language pair."""

    outputs: dict[tuple[str, str], float] = field(default_factory=dict)
    systems: dict[str, float] = field(default_factory=dict)
    parts: dict[tuple[str, str, str], float] = field(default_factory=dict)


def read(files: Sequence[InputFile], options: Options, report: Report) -> Reading:
    """Read tables of published scores, with tables of texts beside them or without.

    What is wrong goes to the report, with file, row and column; errors there forbid storing.
    """
    tables = read_tables(files, report, options, HUMAN_SCORES)
    listing = Listing.stored(options.test_set)
    unfolded = (by_segment(without_all(table, report), listing, report) for table in tables)
    tables = [own for table in unfolded if table and (own := _of_systems(table, options, report))]
    chosen = read_chosen(tables, FIELDS, report, repeatable=(SCORE,))
    seen = Reading(**seen_in(tables), wanted=FIELDS)
    if report.errors or not tables:
        return seen
    sheets = [_sheet(table, own) for table, own in zip(tables, chosen, strict=True)]
    read_numbers(sheets, report)
    refuse_objects(sheets, report)
    seen = replace(seen, fields=all_fields(sheets))
    sheets = numbered(sheets, report)
    scored = [sheet for sheet in sheets if _is_scored(sheet, options)]
    has_scores = any("score" in sheet.has for sheet in sheets)
    if report.errors or (not has_scores and refuse_orders(tables, report)):
        return seen
    if not scored:
        _ask(sheets, options, report)
        return seen
    for sheet in sheets:
        say_unused(sheet.table, {c for c, f in sheet.fields.items() if f}, report)
    rows = [row for sheet in scored for row in _rows(sheet, options, report)]
    seen = replace(seen, directions=_directions(rows, options, report))
    texts = [sheet for sheet in sheets if sheet not in scored]
    others = []
    with_segments = [row for row in rows if row.name("segment")]
    if not with_segments and (outputs := [each for each in texts if "output" in each.has]):
        texts.remove(outputs[0])
        with_segments = others = rows_of(outputs[0])
    others = [*others, *join(with_segments, texts, report)]
    if report.errors:
        return seen
    named = replace(options, name=name_of(options, files, rows))
    seen = replace(seen, name=named.name)
    return replace(seen, drafts=_drafts(rows, others, named, seen.directions, report))


def _of_systems(table: Table, options: Options, report: Report) -> Table | None:
    """Return a table with a column of scores for each system as one row per score.

    None, with the reason reported, where the rows would have too many cells.

    So it is where no column names the system or holds scores by its name, and where several have
    numbers beside the keys of segments, documents or domains, or beside the names of scores, which
    are also called metrics then.
    """
    found = _sheet(table, {}).fields
    if metric := column_of("metric", table.columns):
        found = {**found, metric: SCORE_NAME}
    fields = set(found.values())
    if fields & {"system", SCORE} or options.system or not fields & set(OF_WHAT):
        return table
    columns = [c for c in table.columns if c not in found and not _is_score(table.titles.get(c, c))]
    columns = [c for c in columns
               if is_numeric(table, c) and not all(map(is_missing, table.column(c)))]  # fmt: skip
    if len(columns) < 2 or {*columns} & {*options.columns}:
        return table
    names = {c: table.titles.get(c, c) for c in columns}
    if people := [name for name in names.values() if is_person(name)]:
        refusal = message(
            "human-scores.of-annotators",
            "The columns {names} are called as annotators. Import the table as judgments, or "
            "choose the columns of the scores.",
            names=truncated(people),
        )
        report.error(refusal, table.head)
        return table
    matches = [OF_SYSTEM.fullmatch(name) for name in names.values()]
    if all(matches):
        names = {c: match["name"] for c, match in zip(columns, matches, strict=True) if match}
    long = unfolded(table, "system", {name: {SCORE: c} for c, name in names.items()}, report)
    return long and long.with_columns({c: SCORE_NAME if c == metric else c for c in long.columns})


def _is_scored(sheet: Sheet, options: Options) -> bool:
    return "score" in sheet.has and ("system" in sheet.has or bool(options.system))


def _sheet(table: Table, chosen: Mapping[str, str]) -> Sheet:
    """Say what columns hold; several may hold scores."""
    others = [field for field in FIELDS if field.name != SCORE]
    found = propose(table.columns, others, chosen, table.constants)
    if column := numbering(table, found):
        found[column] = "segment"
    if SCORE not in chosen.values():
        found |= dict.fromkeys(_score_columns(table, found), SCORE)
    return Sheet(table, found)


def _score_columns(table: Table, found: Mapping[str, str]) -> list[str]:
    free = [column for column in table.columns if column not in found]
    known = next(field.names for field in FIELDS if field.name == SCORE)
    human = [column for column in free if is_called(column, HUMAN.names)]
    return human or [c for c in free if is_called(c, known) or _is_numbered(c) or _is_judged(c)]


def _is_score(title: str) -> bool:
    """Return whether a name says of what a score is, as in `fluency_score`, and is no system."""
    last = re.split(r"[\W_]+", title.casefold().rstrip("])"))[-1]
    return last in ("score", "rating") and not OF_SYSTEM.fullmatch(title)


def _is_judged(column: str) -> bool:
    """Return whether a name consists of words for human scores and their figures."""
    words = set(re.findall(r"[^\W_]+", column.casefold()))
    return bool(words & WORDS) and len(words) > 1 and words <= WORDS | FIGURES


def _is_numbered(column: str) -> bool:
    """Return whether a column is one of several of a kind: `esa_1`, `MQM-2`."""
    head = column.rstrip("0123456789").rstrip("_- ")
    return head in OFTEN_NUMBERED and head != column


def _ask(sheets: Iterable[Sheet], options: Options, report: Report) -> None:
    for sheet in sheets:
        if not sheet.has - {NUMBERED}:
            refuse_unknown(sheet.table, report)
            continue
        columns = truncated([c for c in sheet.table.columns if c != NUMBERED], 30)
        if "score" not in sheet.has:
            refusal = message(
                "human-scores.no-score-column",
                "No column was recognised as human scores. Choose it. The columns are {columns}.",
                columns=columns,
            )
            report.error(refusal, sheet.table.head)
        if "system" not in sheet.has and not options.system:
            refusal = message(
                "human-scores.no-system-column",
                "No column was recognised as the system. Choose it, or name the one system of all "
                "scores (command line: --system; API: system). The columns are {columns}.",
                columns=columns,
            )
            report.error(refusal, sheet.table.head)


def _rows(sheet: Sheet, options: Options, report: Report) -> list[Row]:
    """Return a row for each score; missing cells are skipped, and counted for each column."""
    columns = [column for column, name in sheet.fields.items() if name == SCORE]
    others = [(c, name) for c, name in sheet.fields.items() if name and name != SCORE]
    rows: list[Row] = []
    missing: dict[str, list[object]] = {}
    n_cells = len(sheet.table.rows) * len(columns) * (len(others) + 1)
    if len(columns) > 1 and (refusal := too_many_cells(n_cells)):
        report.error(refusal, sheet.table.head)
        return rows
    own = {column: Sheet(sheet.table, {**dict(others), column: SCORE}) for column in columns}
    for line, cells in sheet.table.rows:
        common = {name: cells[c] for c, name in others if c in cells}
        common = with_plain_names({"kind": Item.Kind.TARGET.value, **common})
        common["system"] = str(common.get("system") or "").strip() or options.system
        for column in columns:
            row = Row({**common, "score": cells.get(column)}, line, own[column])
            _set_part(row, report)
            value = row.number("score", report)
            if row.has_nothing("score"):
                missing.setdefault(column, []).append(cells.get(column))
            if value is not None and _has_keys(row, report):
                label = row.name(SCORE_NAME) or column
                row.cells |= {"score": value, SCORE_NAME: label}
                rows.append(row)
    for column, absent in missing.items():
        text = plural(
            "human-scores.missing",
            "{n} cell of “{column}” has no score and was skipped.",
            "{n} cells of “{column}” have no score and were skipped.",
            n=len(absent),
            column=column,
        )
        report.warn(text, Place(sheet.name))
        report.warn_of(
            count_infinite(absent),
            "human-scores.infinite",
            "“{column}”: {n} infinite value counts as missing.",
            "“{column}”: {n} infinite values count as missing.",
            Place(sheet.name),
            column=column,
        )
    return rows


def _set_part(row: Row, report: Report) -> None:
    """Write in `part` the document or domain that a row scores, and in `level` which it is."""
    text = str(row.cells.pop("level", "") or "").strip()
    word = LEVELS.get(text.lower(), text)
    levels = [level for level in (DOCUMENT, DOMAIN) if row.name(level)]
    if not word and "segment" not in row.sheet.has and levels:
        word = levels[0]
    if word in (DOCUMENT, DOMAIN, SYSTEM):
        row.cells.pop("segment", None)
        if word != SYSTEM:
            row.cells |= {"level": word, "part": row.name(word)}
        if word not in (*levels, SYSTEM):
            report.error(
                message("human-scores.part-missing", "The {level} is missing.", level=word),
                row.at(word),
            )
    elif word and word != SEGMENT:
        report.error(
            message(
                "human-scores.level",
                "Expected a level ({levels}), not “{text}”.",
                levels=[SEGMENT, DOCUMENT, DOMAIN, SYSTEM],
                text=text[:40],
            ),
            row.at("level"),
        )


def _has_keys(row: Row, report: Report) -> bool:
    """Return whether a row says what its score is of."""
    if not row.name("system"):
        report.error(message("system.missing", "The system is missing."), row.at("system"))
    if "segment" in row.cells and not row.name("segment"):
        report.error(message("segment.missing", "The segment is missing."), row.at("segment"))
    return bool(row.name("system"))


def _directions(rows: Iterable[Row], options: Options, report: Report) -> dict[str, Direction]:
    """Return the direction of every score by name: stated, or else inferred."""
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row.name(SCORE_NAME), []).append(row.cells["score"])
    stated = {name.strip().casefold(): better for name, better in options.directions.items()}
    found = {}
    for name, scores in values.items():
        better = stated.pop(name.casefold(), "")
        found[name] = (
            stated_direction(is_lower=better == LOWER)
            if better
            else infer_direction(name, scores, is_human=True)
        )
        say_direction(name, found[name], report)
    if stated and values:
        report.error(
            message(
                "human-scores.unknown-score",
                "The tables have no human score {names}. They have {known}.",
                names=truncated(list(stated)),
                known=truncated(list(values)),
            )
        )
    return found


def _drafts(
    rows: list[Row],
    others: Sequence[Row],
    options: Options,
    directions: Mapping[str, Direction],
    report: Report,
) -> Drafts:
    drafts: Drafts = []
    for group in groups_of(rows, others, options, report):
        found = _by_name(group, report)
        _check_systems(group, report)
        for name, (slug, title) in group.named(found).items():
            scores = found[name]
            draft = CampaignDraft(
                slug=slug,
                name=title,
                question=QUESTION,
                shown_text=Campaign.ShownText(options.shown_text),
                length_ratio=group.ratio,
                output_scores=scores.outputs,
                system_scores=scores.systems,
                part_scores=scores.parts,
                lower_is_better=bool(directions[name].is_lower),
                direction=direction_message(directions[name]),
            )
            drafts.append((group.test_set, draft))
    return drafts


def _by_name(group: Group, report: Report) -> dict[str, Found]:
    """Return the scores of a language pair by name; two rows of one cell must agree."""
    found: dict[str, Found] = {}
    first: dict[tuple[str, ...], Row] = {}
    copies = 0
    for row in group.rows:
        key = row.key((SCORE_NAME, "segment", "system", "level", "part"))
        name, segment, system, level, part = key
        value = row.cells["score"]
        before = first.setdefault(key, row)
        is_same = before.cells["score"] == value
        copies += is_same and before is not row
        if not is_same:
            refusal = (
                message(
                    "human-scores.other-output-score",
                    "“{system}” has a different score of segment “{segment}” in {place} ({score}).",
                    system=system,
                    segment=segment,
                    place=before.place.label,
                    score=before.cells["score"],
                )
                if segment
                else message(
                    "human-scores.other-part-score",
                    "“{system}” has a different score of “{part}” in {place} ({score}).",
                    system=system,
                    part=part,
                    place=before.place.label,
                    score=before.cells["score"],
                )
                if part
                else message(
                    "human-scores.other-system-score",
                    "“{system}” has a different score in {place} ({score}).",
                    system=system,
                    place=before.place.label,
                    score=before.cells["score"],
                )
            )
            report.error(refusal, row.at("score"))
        scores = found.setdefault(name, Found())
        if segment:
            scores.outputs[system, segment] = value
        elif level:
            scores.parts[system, level, part] = value
        else:
            scores.systems[system] = value
    report.note_of(
        copies,
        "human-scores.copies",
        "{n} score occurs again with the same value and was skipped.",
        "{n} scores occur again with the same value and were skipped.",
    )
    return found


def _check_systems(group: Group, report: Report) -> None:
    """Report scores of outputs that the tables do not have.

    Without any segment, the test set consists of systems only.
    """
    draft = group.test_set
    if not draft.segments and not group.is_stored:
        if part := next((row for row in group.rows if row.name("part")), None):
            report.error(
                message(
                    "human-scores.parts-alone",
                    "Scores of documents and domains need a test set. Choose it, or add tables of "
                    "its segments and outputs.",
                ),
                part.at(part.name("level")),
            )
            return
        named = dict.fromkeys(row.name("system") for row in group.rows)
        draft.is_systems_only = True
        draft.systems += [SystemDraft(name, f"{group.ratio.normalize():f}") for name in named]
        report.warn(
            message(
                "human-scores.systems-only",
                "The tables have no segments, so the new test set has only systems. Their scores "
                "can be compared with each other and with metrics' scores of systems, but metrics "
                "cannot run.",
            )
        )
        return
    systems = group.texts.systems
    known = _parts_of(group)
    for row in group.rows:
        segment, system = row.name("segment"), row.name("system")
        if row.name("part") and row.key(("level", "part")) not in known:
            report.error(
                message(
                    "human-scores.unknown-part",
                    "The test set has no {level} “{part}”.",
                    level=row.name("level"),
                    part=row.name("part"),
                ),
                row.at(row.name("level")),
            )
        if system not in systems:
            report.error(
                message(
                    "human-scores.system-without-outputs",
                    "“{system}” has a score, but no outputs.",
                    system=system,
                ),
                row.at("system"),
            )
        elif segment and (system, segment) not in group.texts.outputs:
            report.error(
                message(
                    "human-scores.no-output",
                    "“{system}” has no output for segment “{segment}”.",
                    system=system,
                    segment=segment,
                ),
                row.at("system"),
            )


def _parts_of(group: Group) -> set[tuple[str, str]]:
    """Return the levels and names of the documents and domains of a test set."""
    rows = (
        Segment.objects.filter(test_set__slug=group.test_set.slug).values_list(DOCUMENT, DOMAIN)
        if group.is_stored
        else ((each.document, each.domain) for each in group.test_set.segments)
    )
    return {each for own in rows for each in zip((DOCUMENT, DOMAIN), own, strict=True)}
