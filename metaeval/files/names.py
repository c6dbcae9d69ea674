"""Names that columns and keys of files have, in all languages of headers.

Names are compared without case, blanks, hyphens, underscores and a comment in brackets. A field of
two kinds of files is here once; readers add names that only one kind of file uses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Field -> names that people and programs give it, the most specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "segment": (
        *("segment_id", "seg_id", "sid", "seg", "segid", "sent_id", "sentence_id", "sentence"),
        *("source_id", "src_id", "line_id", "key", "globalSegId", "Satz", "segmento"),
        *(
            "sentence_pair_id",
            "pair_id",
            "segmentnummer",
            "句段",
            "段号",
            "句子编号",
            "věta",
            "segment_no",
            "seg_no",
        ),
    ),
    # In a table that also has segments, an item is what was shown at once.
    "item": ("item_id", "itemid", "instance_id", "id", "task_item", "hit_item"),
    "document": (
        *("doc", "document_id", "doc_id", "docid", "doc_name", "document_name", "talk", "article"),
        *("Dokument", "documento", "文档", "文档编号"),
    ),
    "domain": ("text_domain", "genre", "Domäne", "领域"),
    "document_place": (
        *("segment_in_document", "seg_in_doc", "position_in_document", "sentence_in_document"),
        *("doc_seg_id", "docSegId", "line_in_document"),
    ),
    "source": (
        *("src", "source_text", "source_segment", "src_text", "original", "input", "Quelle"),
        *("Quelltext", "Ausgangstext", "fuente", "origen", "原文", "源文", "zdroj", "источник"),
        *("texte_source", "النص المصدر"),
    ),
    "reference": (
        *("ref", "reference_text", "ref_text", "human_translation", "ref_a", "refa", "ref1"),
        *(
            "reference1",
            "reference_a",
            "Referenz",
            "Referenzübersetzung",
            "referencia",
            "référence",
        ),
        *("参考译文", "参考", "эталон"),
    ),
    "reference_B": ("ref_b", "refb", "ref2", "reference2", "reference_2"),
    "reference_C": ("ref_c", "refc", "ref3", "reference3", "reference_3"),
    "media": ("media_file", "audio_file", "video_file", "image_file", "video", "screenshot"),
    "media_start": (),
    "media_end": (),
    "alt": ("alt_text",),
    "transcript": ("gold_transcript",),
    "glossary": ("terminology",),
    "register": ("formality",),
    "instructions": ("instruction", "evaluation_instruction"),
    "system": (
        *("system_id", "system_name", "sys", "sys_id", "sysid", "mt_system", "model", "engine"),
        *("mt_engine", "submission", "系统", "systém", "sistema", "système", "MT-System"),
    ),
    "output": (
        *("hypothesis", "hyp", "mt", "translation", "mt_output", "system_output", "candidate"),
        *("machine_translation", "machine_translated_text", "translated_text", "mt_text"),
        *("prediction", "target", "tgt", "target_text", "tgt_text", "output_text", "Übersetzung"),
        *("Ausgabe", "Zieltext", "traducción", "traduction", "译文", "překlad", "перевод"),
    ),
    "length_ratio": ("ratio", "len_ratio"),
    "language_pair": (
        *("lp", "langpair", "lang_pair", "pair", "direction", "languages", "langs"),
        *("language_direction", "Sprachpaar", "Sprachrichtung", "语言对"),
    ),
    "source_language": (
        *("src_lang", "source_lang", "srclang", "sl", "lang_src", "Quellsprache", "input_src"),
    ),
    "target_language": (
        *("tgt_lang", "target_lang", "trglang", "trg_lang", "tl", "lang_tgt", "Zielsprache"),
        "input_trg",
    ),
    "annotator": (
        *("rater", "worker", "who", "annotator_id", "rater_id", "worker_id", "user", "user_id"),
        *("username", "login", "evaluator", "evaluator_id", "judge", "judge_id", "participant"),
        *("participant_id", "assessor", "coder", "person", "Annotatorin", "Bewerter", "评分者"),
        *("标注者", "anotátor", "evaluador", "annotateur", "annot_id", "annotator_name"),
    ),
    "score": (
        *("metric_score", "scr", "value", "Punkte", "Bewertung", "Wert", "分数", "得分", "skóre"),
    ),
    "judgment": (
        *("raw", "raw_score", "rating", "da", "da_score", "esa", "esa_score", "grade"),
        *("judgment", "judgement", "human_score", "points", "quality", "adequacy"),
    ),
    "metric": ("metric_name", "measure", "Metrik", "métrica", "指标"),
    "partner": ("paired_item", "paired_position", "partner_id", "control_of"),
    "kind": ("type", "item_type", "itemtype", "judgment_kind"),
    "level": ("is_complete_document", "whole_document", "is_document"),
    "batch": ("hit", "hit_id", "batch_id", "task", "task_id", "assignment"),
    "campaign": ("campaign_id", "campaign_name", "set", "collection"),
    "spans": ("error_spans", "errors", "mqm", "annotations", "marks", "esa_spans", "mqm_spans"),
    "started_at": ("start", "start_time", "time_start", "begin", "started", "begin_time"),
    "submitted_at": (
        *("end", "end_time", "time_end", "submitted", "timestamp", "time", "date", "finished"),
        *("answered_at", "created_at", "submit_time", "end_at", "when", "datetime", "Datum"),
    ),
    "seconds": (
        *("duration", "elapsed", "time_spent", "seconds_taken", "Dauer", "work_time_in_seconds"),
    ),
    "comment": ("comments", "remark", "remarks", "note", "notes", "feedback", "Kommentar"),
    "is_flagged": ("flag", "flagged"),
    "is_excluded": (),
    "is_simulated": (),
    "active_ms": (),
    "visible_ms": (),
    "post_edit": ("post_edited", "postedit", "pe"),
    "hter": (),
    "revision": ("version",),
    "protocol": (),
    "low": (),
    "high": (),
    "severity": ("error_severity",),
    "category": ("error_category", "error_type", "error"),
    "side": ("error_side", "where"),
    "span_start": ("start", "start_i", "start_indices", "begin", "offset", "from"),
    "span_end": ("end", "end_i", "end_indices", "stop", "to"),
    "confidence": (),
}
IN_BRACKETS = re.compile(r"\s*(\([^()]*\)|\[[^][]*\])\s*$")


@lru_cache(maxsize=4_096)
def plain(name: str) -> str:
    """Return the common form of all spellings of a column's name.

    Examples
    --------
    >>> plain("Seg-ID (ours)"), plain("seg_id")
    ('segid', 'segid')
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "", IN_BRACKETS.sub("", folded) or folded)


def is_called(column: str, names: Iterable[str]) -> bool:
    """Return True if a column has one of some names."""
    return plain(column) in map(plain, names)


def column_of(field: str, columns: Iterable[str]) -> str:
    """Return the column that holds a field, by the order of the field's names; empty if none."""
    by_name = {plain(column): column for column in reversed(list(columns))}
    names = (field, *NAMES.get(field, ()))
    return next((by_name[plain(name)] for name in names if plain(name) in by_name), "")


def is_known(column: str) -> bool:
    """Return True if any reader knows a column by its name."""
    head = column.partition(":")[0].partition("_")[0].casefold().strip()
    return plain(column) in _all() or head in ("system", "reference")


@lru_cache(maxsize=1)
def _all() -> frozenset[str]:
    return frozenset(plain(name) for field, names in NAMES.items() for name in (field, *names))
