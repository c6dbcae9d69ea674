"""The fields of tables: their names in all languages of headers, their cells, and their imports.

Every reader matches columns by these declarations: a new field or a new name is a row here.
Names are compared without case, accents, blanks, hyphens, underscores and a comment in brackets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from metaeval.messages import Message, message

# The imports that read tables.
TEST_SET, JUDGMENTS, HUMAN_SCORES, METRIC_SCORES, SPANS = IMPORTS = (
    "test-set", "judgments", "human-scores", "metric-scores", "spans",
)  # fmt: skip
RATED = (JUDGMENTS, HUMAN_SCORES)
WITH_TEXTS = (TEST_SET, *RATED)
# What cells hold: a name that is compared, a word, a number, or any text.
NAME, WORD, NUMBER, TEXT = "name", "word", "number", "text"


# Names in other languages (German, French, Spanish, Portuguese, Italian, Dutch, Czech, Polish,
# Russian, Turkish, Chinese, Japanese, Korean), the most specific first.
ELSEWHERE = {
    "segment":
        "Satz-ID, Satznummer, Satznr, Satz, Segmentnummer, Segment-Nr, id segment, "
        "id du segment, id de segment, numéro de segment, numéro de phrase, id_segmento, "
        "id del segmento, id do segmento, id da frase, id frase, id oración, "
        "número de segmento, segmento, zinnummer, číslo segmentu, číslo věty, věta, "
        "id segmentu, numer segmentu, numer zdania, id сегмента, номер сегмента, "
        "номер предложения, сегмент, 句段, 句段编号, 段号, 句子编号, 句子ID, 片段编号, 文番号, "
        "文ID, セグメント, 문장번호, 문장ID, 세그먼트",
    "item":
        "Kennung, identifiant, identificador, identificativo, идентификатор, 编号, 番号, 번호",
    "document":
        "Dokument, Dokument-ID, documento, id_documento, id du document, id del documento, "
        "dokument, документ, 文档, 文档编号, 文档ID, 文書, 文書ID, ドキュメント, 문서",
    "domain":
        "Domäne, Fachgebiet, Textsorte, domaine, dominio, domínio, domein, doména, dziedzina, "
        "домен, 领域, 分野, ドメイン, 도메인",
    "source":
        "Quelle, Quelltext, Quellsatz, Ausgangstext, Ausgangssatz, Originaltext, texte source, "
        "phrase source, segment source, texte original, phrase originale, fuente, "
        "texto fuente, texto origen, texto de origen, oración fuente, origen, fonte, "
        "texto fonte, texto de origem, frase original, texto original, sorgente, "
        "testo sorgente, testo di partenza, testo originale, bron, brontekst, bronzin, zdroj, "
        "zdrojový text, źródło, tekst źródłowy, oryginał, источник, исходный текст, "
        "оригинал, kaynak, kaynak metin, 原文, 源文, 源句, 原句, 源文本, ソース, 원문, "
        "النص المصدر",
    "reference":
        "Referenz, Referenzübersetzung, Humanübersetzung, référence, traduction de référence, "
        "traduction humaine, referencia, traducción de referencia, traducción humana, "
        "referência, tradução de referência, riferimento, traduzione di riferimento, "
        "referentie, referentievertaling, referenční překlad, tłumaczenie referencyjne, "
        "эталон, эталонный перевод, referans, 参考, 参考译文, 参考翻译, 人工译文, 参照訳, "
        "参照, 참조번역, 참조",
    "system":
        "système, moteur, sistema, motor, systeem, systém, система, "
        "модель, sistem, 系统, 系统名, 系统名称, 翻译系统, 模型, システム, モデル, 시스템, "
        "모델",
    "output":
        "Übersetzung, Ausgabe, Zieltext, Zielsatz, Hypothese, MT-Ausgabe, "
        "Maschinenübersetzung, maschinelle Übersetzung, traduction, traduction automatique, "
        "texte cible, phrase cible, hypothèse, traducción, traducción automática, texto meta, "
        "texto destino, hipótesis, tradução, tradução automática, texto alvo, hipótese, "
        "traduzione, traduzione automatica, testo di arrivo, vertaling, machinevertaling, "
        "doeltekst, překlad, strojový překlad, tłumaczenie, tłumaczenie maszynowe, перевод, "
        "машинный перевод, гипотеза, çeviri, makine çevirisi, 译文, 机器译文, 机器翻译, 机翻, "
        "系统译文, 訳文, 機械翻訳, 翻訳, 번역문, 기계번역, 번역",
    "language_pair":
        "Sprachpaar, Sprachrichtung, paire de langues, par de idiomas, par de lenguas, "
        "par de línguas, combinación lingüística, coppia di lingue, taalpaar, jazykový pár, "
        "para językowa, языковая пара, 语言对, 语向, 言語ペア, 言語対, 언어쌍",
    "source_language":
        "Quellsprache, Ausgangssprache, langue source, idioma de origen, lengua de origen, "
        "lengua fuente, idioma fuente, idioma de origem, língua de origem, lingua di partenza, "
        "lingua sorgente, brontaal, zdrojový jazyk, język źródłowy, исходный язык, "
        "язык оригинала, 源语言, 原言語, 원본언어",
    "target_language":
        "Zielsprache, langue cible, idioma de destino, idioma meta, lengua meta, "
        "língua de chegada, língua de destino, lingua di arrivo, doeltaal, cílový jazyk, "
        "język docelowy, язык перевода, целевой язык, 目标语言, 译文语言, 目標言語, 대상언어",
    "annotator":
        "Annotatorin, Annotator:in, Bewerter, Bewerterin, Bewerter:in, Beurteiler, "
        "Beurteilerin, Gutachter, Gutachterin, Teilnehmer, Teilnehmerin, Proband, Probandin, "
        "annotateur, annotatrice, évaluateur, évaluatrice, participante, "
        "anotador, anotadora, evaluador, evaluadora, avaliador, avaliadora, annotatore, "
        "valutatore, valutatrice, beoordelaar, anotátor, anotátorka, hodnotitel, hodnotitelka, "
        "anotator, anotatorka, аннотатор, асессор, оценщик, эксперт, değerlendirici, 评分者, "
        "评分人, 评分员, 标注者, 标注人, 标注员, 评估员, 评测员, 评委, 評価者, アノテーター, "
        "평가자, 주석자",
    "metric":
        "Metrik, métrique, métrica, metrica, metriek, metrika, metryka, метрика, 指标, "
        "評価指標, 지표",
    "score":
        "Punkte, Punktzahl, Bewertung, Wert, évaluation, notation, puntuación, puntaje, "
        "calificación, valoración, pontuação, avaliação, punteggio, voto, valutazione, "
        "beoordeling, skóre, hodnocení, wynik, ocena, оценка, балл, puan, 分数, 得分, 评分, "
        "打分, スコア, 得点, 評点, 評価, 점수, 평점",
    "submitted_at":
        "Datum, Zeitstempel, Zeitpunkt, horodatage, horodateur, fecha, marca temporal, "
        "marca de tiempo, carimbo de data/hora, tijdstempel, časové razítko, "
        "sygnatura czasowa, время, дата, отметка времени, 时间, 时间戳, 时间戳记, 提交时间, "
        "タイムスタンプ, 日時, 타임스탬프",
    "seconds":
        "Dauer, Sekunden, durée, duración, duração, durata, duur, doba trvání, длительность, "
        "用时, 耗时, 时长, 所要時間, 소요시간",
    "comment":
        "Kommentar, Bemerkung, Bemerkungen, Anmerkung, Anmerkungen, commentaire, commentaires, "
        "remarque, remarques, comentario, comentarios, observaciones, comentário, comentários, "
        "observações, commento, commenti, osservazioni, opmerking, opmerkingen, komentář, "
        "poznámka, komentarz, uwagi, комментарий, примечание, yorum, 备注, 评论, 评语, "
        "コメント, 備考, 의견, 비고",
    "post_edit":
        "Posteditat, Nachbearbeitung, post-édition, posedición, pós-edição, 译后编辑, "
        "ポストエディット",
    "severity":
        "Schweregrad, Schwere, gravité, sévérité, gravedad, severidad, gravidade, severidade, "
        "gravità, ernst, závažnost, waga, тяжесть, серьёзность, серьезность, 严重程度, 严重性, "
        "重大度, 深刻度, 심각도",
    "category":
        "Kategorie, Fehlerkategorie, Fehlertyp, Fehlerart, catégorie, type d'erreur, "
        "categoría, tipo de error, categoria, tipo de erro, tipo di errore, categorie, "
        "fouttype, typ chyby, kategoria, typ błędu, категория, тип ошибки, 类别, 错误类型, "
        "错误类别, カテゴリ, エラーの種類, 오류유형",
    "marked_text":
        "Fehlertext, markierter Text, texte marqué, texto marcado, testo marcato, 错误文本, "
        "标注文本",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """A field of tables, its label on pages, and what its cells hold (`kind`).

    `imports` are those that read it, each with the field that it is there: an item is the segment
    where segments are not shown together. `other_names` are what people and programs call it, the
    most specific first, separated by commas. Where a name says nothing elsewhere, it `is_local`.
    """

    name: str
    label: Message
    kind: str = TEXT
    imports: Mapping[str, str] = field(default_factory=dict)
    other_names: str = ""
    is_local: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All its names."""
        others = ", ".join((ELSEWHERE.get(self.name, ""), self.other_names))
        return (self.name, *dict.fromkeys(filter(None, others.split(", "))))


def _at(field: str, *imports: str) -> dict[str, str]:
    return dict.fromkeys(imports, field)


# In the order in which they take columns.
FIELDS = (
    Field("segment", message("column.segment-key", "segment"), NAME, _at("segment", *IMPORTS),
          "segment_id, seg_id, sid, seg, segid, sent_id, sentence_id, sentence, source_id, "
          "src_id, line_id, phrase_id, key, globalSegId, sentence_pair_id, pair_id, segment_no, "
          "seg_no"),
    Field("item", message("column.item", "item"),
          NAME, {**_at("segment", *IMPORTS), JUDGMENTS: "item"},
          "item_id, itemid, instance_id, id, task_item, hit_item"),
    Field("document", message("column.document-id", "document"),
          NAME, _at("document", *WITH_TEXTS, METRIC_SCORES),
          "doc, document_id, doc_id, docid, doc_name, document_name, talk, article"),
    Field("domain", message("column.domain-name", "domain, such as news"),
          NAME, _at("domain", *WITH_TEXTS, METRIC_SCORES), "text_domain, domain_name, genre"),
    Field("document_place", message("column.document-place", "place in the document"),
          WORD, _at("document_place", *RATED),
          "segment_in_document, seg_in_doc, position_in_document, sentence_in_document, "
          "doc_seg_id, docSegId, line_in_document"),
    Field("source", message("column.source", "source text"),
          TEXT, _at("source", *WITH_TEXTS, SPANS),
          "src, source_text, source_segment, source_seg, src_text, original, orig_sent, input"),
    Field("reference", message("column.reference", "reference"),
          TEXT, _at("reference", *WITH_TEXTS),
          "ref, reference_text, ref_text, human_translation, reference_translation, ref_a, refa, "
          "ref1, reference1, reference_a"),
    Field("reference_B", message("column.reference-b", "second reference"),
          TEXT, _at("reference_B", *WITH_TEXTS),
          "ref_b, refb, ref2, reference2, reference_2, original_target"),
    Field("reference_C", message("column.reference-c", "third reference"),
          TEXT, _at("reference_C", *WITH_TEXTS), "ref_c, refc, ref3, reference3, reference_3"),
    Field("system", message("column.system-name", "system"), NAME, _at("system", *IMPORTS),
          "system_id, system_name, sys, sys_id, sys_name, sysid, mt_system, model, engine, "
          "mt_engine, translation_engine, translation_system, translation_model, submission, "
          "target_id, translator"),
    Field("group", message("column.system-name", "system"),
          NAME, {METRIC_SCORES: "system"}, is_local=True),
    Field("output", message("column.system-output", "output of the system"),
          TEXT, _at("output", *WITH_TEXTS, SPANS),
          "hypothesis, hyp, mt, translation, mt_output, system_output, candidate, "
          "machine_translation, machine_translated_text, translated_text, mt_text, prediction, "
          "filtered_resps, target_seg, "
          "target, tgt, target_text, tgt_text, output_text, generation, generated_text, "
          "simp_sent, simplified"),
    Field("shown_text", message("column.system-output", "output of the system"),
          TEXT, _at("output", *RATED), "text_shown, text", is_local=True),
    Field("length_ratio", message("column.length-ratio", "length ratio"),
          NUMBER, _at("length_ratio", *IMPORTS), "ratio, len_ratio"),
    Field("language_pair", message("column.language-pair", "language pair"),
          NAME, _at("language_pair", *IMPORTS),
          "lp, langpair, lang_pair, pair, direction, languages, langs, language_direction"),
    Field("source_language", message("column.source-language", "source language"),
          WORD, _at("source_language", *IMPORTS),
          "src_lang, source_lang, srclang, sl, lang_src, input_src, language_pair_source, "
          "languages_source"),
    Field("target_language", message("column.target-language", "target language"),
          WORD, _at("target_language", *IMPORTS),
          "tgt_lang, target_lang, trglang, trg_lang, tl, lang_tgt, input_trg, "
          "language_pair_target, languages_target"),
    Field("media", message("column.media", "file of a recording or picture"),
          TEXT, _at("media", TEST_SET),
          "media_file, audio_file, video_file, image_file, video, screenshot"),
    Field("media_start", message("column.media-start", "start in the recording, in seconds"),
          TEXT, _at("media_start", TEST_SET)),
    Field("media_end", message("column.media-end", "end in the recording, in seconds"),
          TEXT, _at("media_end", TEST_SET)),
    Field("alt", message("column.alt", "description of the picture"), TEXT, _at("alt", TEST_SET),
          "alt_text"),
    Field("transcript", message("column.transcript", "transcript of the recording"),
          TEXT, _at("transcript", TEST_SET), "gold_transcript"),
    Field("glossary", message("column.glossary", "terms of this segment"),
          TEXT, _at("glossary", TEST_SET), "terminology"),
    Field("register", message("column.register", "register: how formal the translation must be"),
          TEXT, _at("register", TEST_SET), "formality"),
    Field("instructions", message("column.instructions", "instructions for this segment"),
          TEXT, _at("instructions", TEST_SET), "instruction, evaluation_instruction"),
    Field("annotator", message("column.annotator", "annotator"),
          NAME, _at("annotator", JUDGMENTS),
          "rater, worker, who, annotator_id, rater_id, worker_id, user, user_id, username, "
          "login, evaluator, evaluator_id, judge, judge_id, participant, participant_id, "
          "assessor, coder, person, annot_id, annotator_name"),
    Field("metric", message("column.metric", "name of the metric"),
          NAME, _at("metric", METRIC_SCORES),
          "metric_name, measure"),
    Field("score_name", message("column.human-score-name", "name of the human score"),
          NAME, _at("score_name", HUMAN_SCORES), "score_type, annotation", is_local=True),
    Field("name", message("column.metric", "name of the metric"),
          NAME, {METRIC_SCORES: "metric"}, is_local=True),
    Field("score", message("column.score", "score"),
          NUMBER, _at("score", *RATED, METRIC_SCORES, SPANS),
          "scr, value"),
    Field("judgment", message("column.human-score", "human score"), NUMBER, _at("score", *RATED),
          "raw, raw_score, raw_scr, rating, da, da_score, esa, esa_score, grade, judgement, "
          "human_score, points, quality, adequacy, simplicity, full_score"),
    Field("metric_score", message("column.score", "score"),
          NUMBER, _at("score", METRIC_SCORES, SPANS), is_local=True),
    Field("prediction", message("column.score", "score"),
          NUMBER, {METRIC_SCORES: "score"}, is_local=True),
    Field("overall", message("column.score", "score"),
          NUMBER, _at("score", *RATED, SPANS), is_local=True),
    Field("human", message("column.human-score", "human score"),
          NUMBER, {HUMAN_SCORES: "score"},
          "human_score, human_scores, human_z, human_raw, human_mean, published_score, "
          "score_human", is_local=True),
    Field("published", message("column.human-score", "human score"),
          NUMBER, {HUMAN_SCORES: "score"},
          "da_sqm, dasqm, mqm, raw_mean, z_mean, z, rr, sqm, mqm_avg_score, published_mqm, "
          "published_penalty, daRR, cesa, ave_z, ave_raw, average_z, average_raw, z_score, "
          "mean_z, mean_raw, z_scr", is_local=True),
    # Figures that metrics have too.
    Field("mean", message("column.human-score", "human score"),
          NUMBER, {HUMAN_SCORES: "score"}, "mean_score, avg_score, average_score, mean_penalty",
          is_local=True),
    Field("partner", message("column.partner", "item that a control item belongs to"),
          NAME, _at("partner", JUDGMENTS), "paired_item, paired_position, partner_id, control_of"),
    Field("kind", message("column.kind", "kind"), WORD, _at("kind", JUDGMENTS),
          "type, item_type, itemtype, judgment_kind"),
    Field("level", message("column.level", "whole document or segment"),
          WORD, _at("level", *RATED), "is_complete_document, whole_document, is_document"),
    Field("batch", message("column.batch", "batch (HIT)"), NAME, _at("batch", JUDGMENTS),
          "hit, hit_id, batch_id, task, task_id, assignment"),
    Field("campaign", message("column.campaign", "campaign"), NAME, _at("campaign", JUDGMENTS),
          "campaign_id, campaign_name, set, collection"),
    Field("spans", message("column.spans", "error spans (JSON)"),
          TEXT, _at("spans", JUDGMENTS, SPANS),
          "error_spans, errors, mqm, annotations, marks, esa_spans, mqm_spans"),
    Field("started_at", message("column.started-at", "start of the rating"),
          TEXT, _at("started_at", JUDGMENTS),
          "start, start_time, time_start, begin, started, begin_time"),
    Field("submitted_at", message("column.submitted-at", "end of the rating"),
          TEXT, _at("submitted_at", JUDGMENTS),
          "end, end_time, time_end, submitted, timestamp, time, date, finished, answered_at, "
          "created_at, submit_time, end_at, when, datetime"),
    Field("seconds", message("column.seconds", "seconds taken"),
          NUMBER, _at("seconds", JUDGMENTS),
          "duration, elapsed, time_spent, seconds_taken, work_time_in_seconds"),
    Field("comment", message("column.comment", "comment"), TEXT, _at("comment", JUDGMENTS),
          "comments, remark, remarks, note, notes, feedback"),
    Field("is_flagged", message("column.is-flagged", "flagged by the annotator"),
          WORD, _at("is_flagged", JUDGMENTS), "flag, flagged"),
    Field("is_excluded", message("column.is-excluded", "annotator is excluded"),
          TEXT, _at("is_excluded", JUDGMENTS)),
    Field("is_simulated", message("column.is-simulated", "annotator is simulated"),
          TEXT, _at("is_simulated", JUDGMENTS)),
    Field("active_ms", message("column.active-ms", "milliseconds at work"),
          NUMBER, _at("active_ms", JUDGMENTS)),
    Field("visible_ms", message("column.visible-ms", "milliseconds in sight"),
          NUMBER, _at("visible_ms", JUDGMENTS)),
    Field("post_edit", message("column.post-edit", "post-edited output"),
          TEXT, _at("post_edit", JUDGMENTS), "post_edited, postedit, pe"),
    Field("hter", message("column.hter", "edits in percent (HTER)"),
          NUMBER, _at("hter", JUDGMENTS)),
    Field("revision", message("column.revision", "number of the revision"),
          NUMBER, _at("revision", JUDGMENTS), "version"),
    Field("protocol", message("column.protocol", "protocol"), WORD, _at("protocol", JUDGMENTS)),
    Field("low", message("column.low", "lowest right score"), NUMBER, _at("low", JUDGMENTS)),
    Field("high", message("column.high", "highest right score"), NUMBER, _at("high", JUDGMENTS)),
    Field("severity", message("column.error-severity", "severity of an error"),
          TEXT, _at("severity", JUDGMENTS, SPANS), "error_severity"),
    Field("error_types", message("column.error-severity", "severity of an error"),
          TEXT, {SPANS: "severity"}, "error_type", is_local=True),
    Field("category", message("column.error-category", "category of an error"),
          TEXT, _at("category", JUDGMENTS, SPANS), "error_category, error_type, error"),
    Field("side", message("column.error-side", "side of an error"),
          TEXT, _at("side", JUDGMENTS, SPANS), "error_side, where"),
    Field("span_start", message("column.error-start", "start of an error"),
          TEXT, _at("span_start", JUDGMENTS, SPANS),
          "start, start_i, start_indices, begin, offset, from"),
    Field("span_end", message("column.error-end", "end of an error"),
          TEXT, _at("span_end", JUDGMENTS, SPANS), "end, end_i, end_indices, stop, to"),
    Field("marked_text", message("column.marked-text", "words that an error marks"),
          TEXT, _at("marked_text", JUDGMENTS, SPANS),
          "text, span, words, span_text, error_text, error_span, error_words, marked_words",
          is_local=True),
    Field("confidence", message("column.confidence", "confidence"),
          TEXT, _at("confidence", SPANS)),
)  # fmt: skip
# Field -> the names that it has in every table, beside its own.
NAMES = {field.name: field.names[1:] for field in FIELDS if not field.is_local}
# What numbers rows or segments where no other column names them.
PLACES = (
    *("position", "place", "index", "number", "nr", "no", "#", "line", "row", "Lfd. Nr."),
    *("laufende Nummer", "numéro", "número", "numero", "číslo", "numer", "номер", "序号"),
    *("通し番号", "순번"),
)
# `rater_1`, `Rater A`, `评分者1`: a word with a number or a letter of a person or a system.
NUMBERED = re.compile(r"(?P<word>.*[^\d\s_#.:-])(?P<sign>[\s_#.:-]*)(?P<name>\d{1,4}|[^\W\d_])")
LONGEST_NUMBERED = 100
IN_BRACKETS = re.compile(r"\s*(\([^()]*\)|\[[^][]*\])\s*$")


@lru_cache(maxsize=8)
def fields_of(door: str) -> tuple[Field, ...]:
    """Return the fields that an import reads, with all names that they have there."""
    return tuple(
        replace(
            field,
            other_names=", ".join(
                (*field.names[1:], *(n for f in FIELDS if f is not field
                 and f.imports.get(door) == field.name for n in f.names))
            ),
        )
        for field in FIELDS
        if field.imports.get(door) == field.name
    )  # fmt: skip


@lru_cache(maxsize=4_096)
def plain(name: str) -> str:
    """Return the common form of all spellings of a column's name.

    Examples
    --------
    >>> plain("Seg-ID (ours)"), plain("seg_id")
    ('segid', 'segid')
    """
    folded = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\W_]+", "", IN_BRACKETS.sub("", folded) or folded) or folded.strip()


def is_called(column: str, names: Iterable[str]) -> bool:
    """Return True if a column has one of some names."""
    return plain(column) in map(plain, names)


def number_of(column: str, words: Iterable[str]) -> str:
    """Return the number or letter of a column that is called by one of some words; else nothing.

    Examples
    --------
    >>> number_of("Bewerter 2", ["Bewerter"]), number_of("raterA", ["rater"])
    ('2', 'A')
    >>> number_of("raters", ["rater"]), number_of("Score", ["rater"])
    ('', '')
    """
    title = column.strip()
    match = NUMBERED.fullmatch(title) if len(title) <= LONGEST_NUMBERED else None
    if match is None or not is_called(match["word"], words):
        return ""
    return match["name"] if match["sign"] or not match["name"].islower() else ""


def is_person(column: str) -> bool:
    """Return True if a column is called as an annotator by number or letter."""
    return bool(number_of(column, ("annotator", *NAMES["annotator"])))


def column_of(field: str, columns: Iterable[str]) -> str:
    """Return the column that holds a field, by the order of the field's names; empty if none."""
    by_name = {plain(column): column for column in reversed(list(columns))}
    names = (field, *NAMES.get(field, ()))
    return next((by_name[plain(name)] for name in names if plain(name) in by_name), "")


def is_known(column: str) -> bool:
    """Return True if any reader knows a column by its name."""
    head = column.partition(":")[0].partition("_")[0].casefold().strip()
    return is_field(column) or head in ("system", "reference")


def is_field(column: str) -> bool:
    """Return True for the name of a field, not of one text of several."""
    return plain(column) in _all()


@lru_cache(maxsize=1)
def _all() -> frozenset[str]:
    return frozenset(plain(name) for field in FIELDS if not field.is_local for name in field.names)
