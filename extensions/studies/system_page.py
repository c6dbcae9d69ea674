"""Show the MT systems of a study side by side, with tables 9 and 10 of Cheng et al. (2023)."""

from collections.abc import Sequence
from dataclasses import fields, replace

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import researcher_required
from annotation.filters.chosen import fitted
from annotation.filters.form import filter_choices
from annotation.web.parameters import takes
from dashboards.documents import results
from dashboards.pages.answers import data_response, is_unfinished, no_document, public
from dashboards.pages.page import study_campaigns, with_units
from dashboards.papers import latex
from dashboards.papers.averages import direction_heads
from dashboards.papers.latex import Cell, Table, small_number
from dashboards.systems.document import SystemsChoice
from dashboards.systems.page import BOLD, SYSTEMS, marked
from dashboards.systems.tables import MARKS, UNJUDGED, VERSUS, Line, score_cell
from dashboards.trust.shown import comments, with_trust
from extensions.studies.systems import Block, Score, StudySystems, study_table


@researcher_required
@require_safe
@takes(SYSTEMS.parameters)
def study_systems(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Show MT systems over the campaigns of a study whose numbers have been computed."""
    campaigns = study_campaigns(request, slug)
    filters = SystemsChoice.from_query(request.GET)
    asked = [(each, fitted(each, campaigns, filters)) for each in campaigns]
    found = [
        (each, with_trust(results.latest("systems", each, own), each, own)) for each, own in asked
    ]
    known = [(each, marked(result.document)) for each, result in found if result.document]
    whole = results.together([result for _, result in found], lambda documents: documents)
    name = filters.file_name(f"{slug}-systems")
    if fmt and is_unfinished(whole, of_one_state=True):
        return no_document(whole)
    document = study_table(
        [each for each, _ in known],
        [each for _, each in known],
        missing=[each.name for each, r in found if not r.document and not r.message],
        failed=[(each.name, r.message) for each, r in found if not r.document and r.message],
    )
    as_of = whole.as_of.isoformat(timespec="seconds") if whole.as_of else None
    if fmt == "tex":
        head = f"% {name}, as of {as_of}\n{comments(document.trust)}"
        return latex.response(with_units(study_tables(document), document.over), name, head=head)
    if fmt:
        columns = [column.name for column in fields(Score)]
        data = public(document, as_of=as_of, filters=filters.as_json())
        return data_response(fmt, name, columns, document.rows, data)
    shown = {
        "study": slug,
        "document": document,
        "section": "studies",
        "tab": "systems",
        "query": filters.query(),
        "filters": filters,
        "filter_choices": filter_choices(request.GET, campaigns, filters),
    }
    return render(request, "studies/systems.html", shown)


def study_tables(document: StudySystems) -> list[Table]:
    """Return tables 9 and 10 of the study with one column per campaign; the humans come first."""
    scores = [block for block in document.blocks if block.key != "length"]
    lengths = [block for block in document.blocks if block.key == "length"]
    found = []
    if scores:
        marks = MARKS.format(VERSUS[document.versus])
        caption = f"Scores of the MT systems. {marks}. {BOLD}"
        if any(not cell.is_judged for block in scores for line in block.lines
               for cell in line.cells if cell):  # fmt: skip
            caption += f" {UNJUDGED}"
        found.append(_of_study(document, caption, "systems", scores))
    for block in lengths:
        caption = f"Deviation of the MT systems from the target length. {document.length}"
        found.append(_of_study(document, caption, "lengths", [replace(block, label="")]))
    return found


def _of_study(document: StudySystems, caption: str, label: str, blocks: Sequence[Block]) -> Table:
    body: list[Line] = []
    for block in blocks:
        if block.label:
            body.append([Cell(str(block.label), is_bold=True)])
        is_length = block.key == "length"
        for line in block.lines:
            cells = [
                small_number(c.score if c else None) if is_length else score_cell(c, 4)
                for c in line.cells
            ]
            body.append([Cell(line.system), *cells])
    heads = [(head.direction, head.percent) for head in document.campaigns]
    return Table(caption, f"study-{label}", "l" + "r" * len(heads), direction_heads(heads), body)
