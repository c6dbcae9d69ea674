"""The formats of exports, and what each carries."""

from django.utils.translation import gettext_lazy as _

from annotation.exports.formats import CSV, LINES, ZIP, Format, with_readme
from annotation.exports.tables import zip_bytes
from extensions.formats.exports import appraise, mqm, pearmut

SCORES = frozenset(("scores", "errors", "categories", "revisions", "times", "documents"))
APPRAISE = SCORES | {"texts", "controls", "batches", "unrated"}
PEARMUT = frozenset(("texts", "scales", "notes", "tokens", "categories", "gold", "unrated"))
PEARMUT_LOG = frozenset(
    (
        *("scores", "scales", "post-edits", "errors", "categories", "tokens", "comments"),
        *("times", "gold"),
    )
)
FORMATS = {
    "appraise": Format(
        _("Appraise scores"),
        _("Appraise’s columns in its order, without a header, as Appraise exports them."),
        "appraise.csv",
        CSV,
        SCORES,
        appraise.score_lines,
        appraise.loses,
    ),
    "appraise-header": Format(
        _("Appraise scores with header"),
        _("The same with the names of the columns."),
        "appraise-header.csv",
        CSV,
        SCORES,
        lambda campaign, filters: appraise.score_lines(campaign, filters, header=True),
        appraise.loses,
    ),
    "appraise-zip": Format(
        _("Appraise campaign"),
        _("Batches, manifest and scores, for Appraise and for the import page."),
        "appraise.zip",
        ZIP,
        APPRAISE,
        lambda campaign, filters: zip_bytes(with_readme(appraise.bundle, campaign, filters)),
        appraise.loses,
    ),
    "pearmut": Format(
        _("Pearmut campaign"),
        _("The imported file, or one written from the items: systems, tokens, notes."),
        "pearmut.json",
        "application/json",
        PEARMUT,
        pearmut.campaign_json,
        pearmut.loses,
    ),
    "pearmut-log": Format(
        _("Pearmut answers"),
        _("One line per screen with the current answers, as Pearmut logs them."),
        "pearmut.jsonl",
        LINES,
        PEARMUT_LOG,
        pearmut.log_lines,
        pearmut.loses,
    ),
    "mqm-tsv": Format(
        "MQM, TSV",
        _("One row per error, marked by <v>…</v> in its text, as Google publishes MQM."),
        "mqm.tsv",
        "text/tab-separated-values; charset=utf-8",
        frozenset(("texts", "errors", "categories", "source-errors")),
        mqm.mqm_lines,
    ),
}
