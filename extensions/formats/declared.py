"""The formats that the readers read, in the order in which they are tried."""

from annotation.uploads.formats.base import (
    CAMPAIGN_FILE,
    HUMAN_SCORES,
    JUDGMENTS,
    METRIC_SCORES,
    SPANS,
    TEST_SET,
    Format,
    has_keys,
    with_columns,
)
from extensions.formats.readers import (
    appraise_scores,
    assessments,
    doccano,
    label_studio,
    marks,
    mechanical_turk,
    mqm,
    parallel,
    potato,
    surveys,
    wmt_documents,
    wmt_xml,
)
from metaeval.messages import message

APPRAISE = message("import.appraise", "a campaign of Appraise")
PEARMUT = message("import.pearmut", "a campaign of Pearmut")
# Our own exports are recognised after WMT's files and before all other tables.
OURS, SCORES = "our export of judgments", "mt-metrics-eval scores"
FOLDERS = "mt-metrics-eval folder"
FORMATS = (
    Format(
        "a campaign of Pearmut",
        "JSON with `campaign_id`, `data` and `tgt`",
        (PEARMUT, CAMPAIGN_FILE),
        begins=has_keys("campaign_id", "data", "tgt"),
        before=FOLDERS,
    ),
    Format(
        "a log of Pearmut",
        "JSON lines with `user_id`, `annotation` and `item_i`; a download of them by campaign",
        (PEARMUT,),
        begins=has_keys("user_id", "annotation", "item_i"),
        before=FOLDERS,
    ),
    Format(
        "batches of Appraise",
        "JSON with `items`, `itemID` and `sourceText`",
        (APPRAISE,),
        begins=has_keys("items", "itemID", "sourceText"),
        before=FOLDERS,
    ),
    Format(
        "a manifest of Appraise",
        "JSON with `TASKS_TO_ANNOTATORS`",
        (APPRAISE,),
        begins=has_keys("TASKS_TO_ANNOTATORS"),
        before=FOLDERS,
    ),
    Format(
        "scores of Appraise",
        "CSV of 9, 11 or 12 cells without names, with TGT, CHK, BAD or REF in the fourth",
        (JUDGMENTS, APPRAISE),
        appraise_scores.read_scores,
        begins=appraise_scores.is_scores,
        before=FOLDERS,
    ),
    Format("TMX", "`<tmx`", (TEST_SET,), parallel.read_tmx, parallel.is_tmx, before=OURS),
    Format("XLIFF", "`<xliff`", (TEST_SET,), parallel.read_xliff, parallel.is_xliff, before=OURS),
    Format(
        "WMT’s XML or SGML",
        "`<dataset`, `<srcset`, `<refset`, `<tstset`, `<mteval`; any other `<?xml` or `<!DOCTYPE`",
        (TEST_SET,),
        wmt_xml.read,
        begins=wmt_xml.is_wmt,
        before=OURS,
    ),
    Format(
        "WMT25 or WMT26 documents",
        "JSON with `doc_id` such as `en-cs_CZ_#_news_#_doc1`",
        (TEST_SET,),
        wmt_documents.read,
        has=wmt_documents.is_wmt,
        before=OURS,
    ),
    Format(
        "WMT25 scores of paragraphs",
        "JSON with `metric_scores`, `language_pair`, `domain` and `document_id`",
        (METRIC_SCORES,),
        wmt_documents.read_scores,
        has=wmt_documents.has_scores,
        before=OURS,
    ),
    Format(
        "MQM with tags or tokens, as of Google and Marot",
        "columns `system`, `rater`, `source`, `target`, `category` and `severity`, with `<v>` in "
        "a text or `metadata`",
        (JUDGMENTS,),
        mqm.read,
        has=mqm.has_tags,
        before=SCORES,
    ),
    Format(
        "MQM with tagged copies of the texts",
        "columns `Tagged_Source` and `Tagged_Target`, in which `<tag>` marks an error",
        (JUDGMENTS,),
        mqm.read_copies,
        has=with_columns("tagged_source", "tagged_target"),
        before=SCORES,
    ),
    Format(
        "errors of source and output",
        "columns `source_errors` and `target_errors`",
        (JUDGMENTS, SPANS),
        marks.read_sides,
        has=with_columns(*marks.BY_SIDE),
        before=SCORES,
    ),
    Format(
        "WMT’s quality estimation, errors by offsets",
        "columns `start_ids`, `end_ids` and `errors`, or `start_id`, `end_id` and `error`",
        (JUDGMENTS, SPANS),
        marks.read_offsets,
        has=marks.has_offsets,
        before=SCORES,
    ),
    Format(
        "Mechanical Turk",
        "columns `Input.NAME` and `Answer.NAME`",
        (JUDGMENTS,),
        mechanical_turk.read,
        has=mechanical_turk.is_export,
        before=SCORES,
    ),
    Format(
        "Label Studio",
        "JSON with `data` and `annotations`; JSON-MIN or CSV with `annotation_id` and `lead_time`",
        (JUDGMENTS, SPANS),
        label_studio.read,
        has=label_studio.is_export,
        before=SCORES,
    ),
    Format(
        "doccano",
        "JSON with `text` and lists in `label`, `labels`, `entities` or `annotations`",
        (JUDGMENTS, SPANS),
        doccano.read,
        has=doccano.is_export,
        before=SCORES,
    ),
    Format(
        "Potato",
        "`instance_id` or `displayed_text`, with `label_annotations`, `labels` or "
        "`SCHEME:::LABEL`; `user_state.json`",
        (JUDGMENTS, SPANS),
        potato.read,
        has=potato.is_export,
        before=SCORES,
    ),
    Format(
        "a survey of LimeSurvey, Qualtrics or Google Forms",
        "a row of `ImportId`; `submitdate` and `startlanguage`; numbers in columns that name "
        "segment and system, such as `seg12_sysA` or `Q12[sysA]`",
        (JUDGMENTS,),
        surveys.read,
        has=surveys.is_survey,
        before=SCORES,
    ),
    Format(
        "MLQE",
        "a column `scores` with a list of numbers in each cell",
        (JUDGMENTS, HUMAN_SCORES),
        assessments.read_lists,
        has=assessments.has_lists,
        before=SCORES,
    ),
    Format(
        "COMET’s direct assessments",
        "columns `lp`, `src`, `mt`, `score`, `raw` and `annotators`",
        (JUDGMENTS, HUMAN_SCORES),
        assessments.read_comet,
        has=with_columns("lp", "src", "mt", "score", "raw", "annotators"),
        before=SCORES,
    ),
)
