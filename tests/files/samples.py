"""Small files of every format, in the layouts of the tools, with texts of our own."""

import json
from typing import Any


def result(name: str, to: str, kind: str, region: str = "", **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": to, "type": kind, "id": region or name, "value": value}


def marked(words: str, text: str, *labels: dict[str, Any], to: str = "target") -> list[Any]:
    """The results of a region: its label, and answers to questions about it."""
    at = {"start": text.index(words), "end": text.index(words) + len(words), "text": words}
    region = f"{to}{at['start']}"
    return [
        result(each["name"], to, each["kind"], region, **at, **{each["kind"]: each["is"]})
        for each in labels
    ]


def label(name: str, kind: str, *values: str) -> dict[str, Any]:
    return {"name": name, "kind": kind, "is": list(values)}


TARGET = "Ein 😀 kleiner Feler."
TASKS: list[dict[str, Any]] = [
    {
        "id": 11,
        "data": {"segment_id": "1", "source": "A small mistake.", "target": TARGET,
                 "system": "Nemo"},
        "annotations": [
            {"id": 1, "completed_by": {"id": 3, "email": "ann@example.org"}, "lead_time": 12.5,
             "created_at": "2025-03-04T05:06:07Z", "was_cancelled": False, "result": [
                 result("quality", "target", "number", number=70),
                 *marked("Feler", TARGET, label("category", "labels", "Spelling"),
                         label("severity", "choices", "Minor")),
                 *marked("small", "A small mistake.",
                         label("category", "labels", "Major: Omission"), to="source"),
             ]},
            {"id": 2, "completed_by": 4, "was_cancelled": False, "result": [
                result("quality", "target", "number", number=90)]},
            {"id": 3, "completed_by": 5, "was_cancelled": True, "result": []},
        ],
        "predictions": [{"model_version": "m", "result": []}],
    },
    {
        "id": 12,
        "data": {"segment_id": "2", "source": "Two.", "target": "Zwei.", "system": "Nemo"},
        "annotations": [
            {"id": 4, "completed_by": 4, "result": [
                result("quality", "target", "number", number=100)]},
        ],
        "predictions": [],
    },
]  # fmt: skip
MINIMAL = [
    {"id": 11, "segment_id": "1", "source": "A small mistake.", "target": TARGET, "system": "Nemo",
     "quality": [{"number": 70}], "annotator": 3, "annotation_id": 1, "lead_time": 12.5,
     "created_at": "2025-03-04T05:06:07Z", "updated_at": "2025-03-04T05:06:07Z",
     "category": [{"start": 14, "end": 19, "text": "Feler", "labels": ["Spelling"]}],
     "severity_of": [{"start": 14, "end": 19, "text": "Feler", "choices": ["Minor"]}]},
    {"id": 12, "segment_id": "2", "source": "Two.", "target": "Zwei.", "system": "Nemo",
     "quality": [{"number": 100}], "annotator": 4, "annotation_id": 4, "lead_time": 3,
     "created_at": "2025-03-04T05:06:07Z", "updated_at": "2025-03-04T05:06:07Z", "category": []},
]  # fmt: skip
DOCCANO = [
    {"id": 5, "text": "Ein kleiner Feler.", "label": [[12, 17, "minor spelling"]],
     "source": "A small mistake.", "segment_id": "1", "system": "Nemo", "Comments": []},
    {"id": 6, "text": "Zwei.", "label": [[0, 4, "major"]],
     "source": "Two.", "segment_id": "2", "system": "Nemo", "Comments": []},
]  # fmt: skip
RELATIONS = [
    {"id": 5, "text": "Ein kleiner Feler.", "source": "A small mistake.", "segment_id": "1",
     "system": "Nemo", "relations": [{"id": 0, "from_id": 0, "to_id": 0, "type": "same"}],
     "entities": [{"id": 0, "label": "minor", "start_offset": 12, "end_offset": 17}]},
]  # fmt: skip
POTATO = [
    {"id": "1", "displayed_text": "Ein kleiner Feler.", "system": "Nemo",
     "label_annotations": {"quality": {"scale_70": "70"}},
     "span_annotations": [{"start": 12, "end": 17, "span": "Feler", "annotation": "minor"}],
     "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 2s "}},
    {"id": "2", "displayed_text": "Zwei.", "system": "Nemo",
     "label_annotations": {"quality": {"90": "true"}}, "span_annotations": {},
     "behavioral_data": {"time_string": "Time spent: 0d 0h 0m 5s "}},
]  # fmt: skip
POTATO_2 = [
    {"instance_id": "1", "user_id": "u1", "labels": {"quality": {"value": 70}},
     "spans": {"severity": [{"schema": "severity", "name": "minor", "start": 12, "end": 17}]},
     "links": {}, "system": "Nemo"},
]  # fmt: skip
POTATO_TSV = (
    "user\tinstance_id\tdisplayed_text\tsystem\tquality:::70\tquality:::90\n"
    "u1\t1\tEin kleiner Feler.\tNemo\ttrue\t\nu2\t2\tZwei.\tNemo\t\ttrue\n"
)
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="EN-us" segtype="sentence"/><body>
<tu tuid="a"><note>seen</note><prop type="x">1</prop>
 <tuv xml:lang="en-US">
  <seg>A <bpt i="1">&lt;b&gt;</bpt>big<ept i="1">&lt;/b&gt;</ept> dog<ph>%s</ph>.</seg></tuv>
 <tuv xml:lang="de"><seg>Ein <hi>großer</hi> Hund.</seg></tuv>
 <tuv xml:lang="fr"><seg>Un grand chien.</seg></tuv></tu>
<tu tuid="b"><tuv xml:lang="en-US"><seg>Alone.</seg></tuv></tu>
<tu tuid="c"><tuv xml:lang="en-US"><seg>Two</seg></tuv>
 <tuv xml:lang="de-DE"><seg>Zwei</seg></tuv></tu>
</body></tmx>
"""
XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a.html" source-language="en" target-language="de" datatype="html"><body>
<trans-unit id="1"><source>A <g id="1">big</g> dog<x id="2"/>.</source>
 <seg-source><mrk mtype="seg" mid="0">A big dog.</mrk></seg-source>
 <target state="translated">Ein <g id="1">großer</g> <bpt id="3">&lt;b&gt;</bpt>Hund.</target>
 <note>seen</note>
 <alt-trans><source>A dog.</source><target>Ein Köter.</target></alt-trans></trans-unit>
</body></file>
<file original="b.html" source-language="en" target-language="de"><body>
<group><trans-unit id="1"><source>Two</source><target/></trans-unit></group>
</body></file></xliff>
"""
XLIFF_2 = """<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0"
 xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" srcLang="en" trgLang="de">
<file id="f"><unit id="u">
 <mtc:matches><mtc:match ref="#u"><source>No</source><target>Nein</target></mtc:match></mtc:matches>
 <notes><note>seen</note></notes>
 <segment id="s1" state="final"><source>A <pc id="1">big</pc> dog<ph id="2"/>.</source>
  <target>Ein großer Hund<cp hex="0021"/></target></segment>
 <ignorable><source> </source></ignorable>
 <segment id="s2"><source>Two</source></segment>
</unit></file></xliff>
"""
MLQE = (
    "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\tsystem\n"
    '0\tOne\tEins\t[70, 60, 51]\t60.3\t[0.1, -0.2, "nan"]\t0.0\t-0.3\tNemo\n'
    "1\tTwo\tZwei\t[20, 5.0]\t12.5\t[-1.5, -2]\t-1.7\t-0.4\tNemo\n"
)
COMET = (
    "lp,src,mt,ref,score,raw,annotators,domain,year,system\n"
    "en-de,One,Eins,Eins,0.5,88.0,2,news,2021,Nemo\n"
    "en-de,Two,Zwei,Zwei,-0.3,55.0,1,news,2021,Nemo\n"
)
MQM = (
    "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n"
    "Nemo\td\t1\t1\tr1\tA small mistake.\tEin kleiner <v>Feler. </v>\tFluency/Spelling\tMinor\t"
    '{"timestamp": 1725456558197, "note": "x"}\n'
    "Nemo\td\t1\t1\tr2\tA small mistake.\tEin kleiner Feler.\tNo-error\tNo-error\t{}\n"
)
WMT = (
    '<dataset><doc id="d"><src lang="en"><seg id="1">One</seg></src>'
    '<ref lang="de" translator="A"><seg id="1">Eins</seg></ref></doc></dataset>'
)
DOCUMENTS = {
    "doc_id": "en-de_#_news_#_d1",
    "src_text": "One.\n\nTwo.",
    "refs": {"refA": "Eins.\n\nZwei."},
}
BLANKS = (
    '"segment" "system" "source" "output" "annotator" "score" "human_score" "start" "end" '
    '"severity"\n'
    '"1" 1 "Nemo" "S 1" "Nemo 1" "R" 80 0.5 0 4 "minor"\n'
    '"2" 2 "Nemo" "S 2" "Nemo 2" "R" 70 0.25 0 4 "minor"\n'
)
COPIES = (
    "SEG_ID\tDoc\tSource\tTagged_Source\tTarget\tMT\tTagged_Target\tError Category\tSeverity\t"
    "Annotator_ID\n"
    "1\td\tA small mistake.\t\tEin Feler.\tNemo\tEin <tag>Feler</tag>.\tSpelling\tMinor\t7\n"
    "1\td\tA small mistake.\tA <tag>small</tag> mistake.\tEin Feler.\tNemo\t\tOmission\tMajor\t7\n"
    "2\td\tTwo.\t\tZwei.\tNemo\t\t\t\t7\n"
)
# The ends are the last characters.
SIDES = [
    {"source": "A small mistake.", "target": "Ein Feler.", "SEG_ID": "1", "MT_Engine": "Nemo",
     "Annotator_ID": 7,
     "source_errors": [{"term": "small", "startIndex": 2, "endIndex": 6, "severity": "Major",
                        "error_category": "Omission"}],
     "target_errors": [{"term": "Feler", "startIndex": 4, "endIndex": 8, "severity": "Minor",
                        "error_category": "Spelling"}]},
    {"source": "Two.", "target": "Zwei.", "SEG_ID": "2", "MT_Engine": "Nemo", "Annotator_ID": 7,
     "source_errors": [], "target_errors": []},
]  # fmt: skip
POTATO_STATE = {
    "user_id": "u1",
    "instance_id_ordering": ["1", "2", "3"],
    "current_instance_index": 2,
    "instance_id_to_behavioral_data": {"1": {"total_time_ms": 2500}},
    "instance_id_to_label_to_value": {
        "1": [[{"schema": "quality", "name": "70"}, "true"]],
        "2": [[{"schema": "quality", "name": "90"}, "true"]],
    },
    "instance_id_to_span_to_value": {
        "1": [[{"schema": "errors", "name": "minor", "title": "minor", "start": 4, "end": 9,
                "id": "s"}, "true"]],
    },
    "training_state": {"passed": False},
}  # fmt: skip
# Format, by its declared name, with a file of it.
OWN = (
    "annotator,is_simulated,segment,system,score,z_targets,is_current,sent_together,n_columns\n"
    "A1,False,1,A,50,0.5,True,1,1\n"
)
SUGGESTIONS = (
    "judgment,number,origin,fate,side,start,end,severity,shown_side,shown_start,shown_end\n"
    "1,0,suggested,kept,target,0,1,minor,target,0,1\n"
)
OFFSETS = (
    "mt_system\tdoc_id\tseg_id\tannotator_id\tsource\ttarget\tstart_ids\tend_ids\terrors\n"
    "Nemo\td1\t0\tr1\tA small mistake.\tEin kleiner Feler.\t12 0\t17 3\tmajor minor\n"
    "Nemo\td1\t1\tr1\tTwo\tZwei\t-1\t-1\tno-error\n"
    "Nemo\td2\t0\tr1\tThree\tDrei\t0\t4\tminor\n"
)
NUMBERED_ERRORS = (
    "segment,system,annotator,source,output,Error1_Type,Error1_Severity,Error2_Type,"
    "Error2_Severity\n"
    "1,Nemo,R,A small mistake.,Ein kleiner Feler.,Spelling,Minor,Omission,Major\n"
    "2,Nemo,R,Two.,Zwei.,None,None,,\n"
)
WORD_TAGS = (
    "segment\tsystem\tannotator\tsource\toutput\ttags\tsource_tags\n"
    "1\tNemo\tR\tA small mistake .\tEin kleiner Feler .\tOK BAD BAD OK\tOK OK OK OK\n"
    "2\tNemo\tR\tTwo words\tZwei\tOK OK BAD\tOK BAD\n"
)
TURK = (
    "HITId,WorkerId,AssignmentStatus,AcceptTime,SubmitTime,Input.id,Input.source,Input.translation,"
    "Input.system,Answer.meaning,Answer.grammar\n"
    "H1,W1,Approved,Wed Jun 09 21:24:01 PDT 2021,Wed Jun 09 21:25:01 PDT 2021,1,One,Eins,Nemo,5,4\n"
    "H2,W1,Approved,Mon Dec 06 09:00:00 PST 2021,Mon Dec 06 09:00:30 PST 2021,2,Two,Zwei,Nemo,1,2\n"
)
PARAGRAPHS = [
    {"language_pair": "en-de", "domain": "news", "document_id": "d1",
     "metric_scores": {"Kiwi": [0.5, 0.25], "MetricX": [-1.5, None]}},
    {"language_pair": "en-de", "domain": "news", "document_id": "d2",
     "metric_scores": {"Kiwi": [0.75], "MetricX": [-2.5]}},
]  # fmt: skip
PEARMUT = {
    "campaign_id": "c", "info": {"assignment": "task-based", "protocol": "ESA"},
    "data": [[[{"src": "One", "tgt": {"A": "Eins"}}]]],
}  # fmt: skip
PEARMUT_LOG = {"user_id": "u", "item_i": 0, "item": [{"src": "One", "tgt": {"A": "Eins"}}],
               "annotation": [{"A": {"score": 70}}], "actions": []}  # fmt: skip
APPRAISE = (
    "u1,Nemo,1,TGT,eng,deu,70,1665744151.351,1665744158.765\nu1,Nemo,2,TGT,eng,deu,0,1665744159,1665744170\n"
    "u1,Nemo,2,CHK,eng,deu,5,1665744171,1665744180\nu2,Dory,1,TGT,eng,deu,33,0,1665744190\n"
)
SURVEY = (
    'ResponseId,1_Nemo,2_Nemo\nResponse ID,How good?,How good?\n"{""ImportId"":""_recordId""}",'
    '"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\nR_1,80,70\n'
)
FORMATS: list[tuple[str, str, str]] = [
    ("a campaign of Touchstone", "own.json", '{"touchstone": 1, "texts": {}, "task": {}}'),
    ("a campaign of Pearmut", "c.json", json.dumps(PEARMUT)),
    ("a log of Pearmut", "c.jsonl", json.dumps(PEARMUT_LOG)),
    (
        "batches of Appraise",
        "batches.json",
        '[{"task": {}, "items": [{"itemID": 1, "sourceText": "a"}]}]',
    ),
    ("a manifest of Appraise", "manifest.json", '{"TASKS_TO_ANNOTATORS": []}'),
    ("scores of Appraise", "scores.csv", APPRAISE),
    ("WMT’s quality estimation, errors by offsets", "dev.tsv", OFFSETS),
    ("errors in numbered columns", "errors.csv", NUMBERED_ERRORS),
    ("words tagged OK or BAD", "words.tsv", WORD_TAGS),
    ("tags of words without the words", "test.tags", "OK BAD OK\nOK\n"),
    ("Mechanical Turk", "Batch_1_results.csv", TURK),
    ("WMT25 scores of paragraphs", "Nemo.jsonl", "\n".join(map(json.dumps, PARAGRAPHS))),
    ("WMT’s XML or SGML", "set.xml", WMT),
    ("TMX", "memory.tmx", TMX),
    ("XLIFF", "job.xlf", XLIFF),
    ("XLIFF", "job2.xlf", XLIFF_2),
    ("WMT25 or WMT26 documents", "genmt.jsonl", json.dumps(DOCUMENTS)),
    ("our export of judgments", "x-judgments.csv", OWN),
    ("our export of suggestions", "x-suggestions.csv", SUGGESTIONS),
    ("MQM with tags or tokens, as of Google and Marot", "mqm.tsv", MQM),
    ("MQM with tagged copies of the texts", "copies.tsv", COPIES),
    ("errors of source and output", "sides.json", json.dumps(SIDES)),
    ("Potato", "user_state.json", json.dumps(POTATO_STATE)),
    ("Label Studio", "project.json", json.dumps(TASKS)),
    ("Label Studio", "minimal.json", json.dumps(MINIMAL)),
    ("doccano", "ann.jsonl", "\n".join(map(json.dumps, DOCCANO))),
    ("doccano", "all.jsonl", "\n".join(map(json.dumps, RELATIONS))),
    ("Potato", "u1/annotated_instances.jsonl", "\n".join(map(json.dumps, POTATO))),
    ("Potato", "annotations.jsonl", "\n".join(map(json.dumps, POTATO_2))),
    ("Potato", "annotated_instances.tsv", POTATO_TSV),
    ("a survey of LimeSurvey, Qualtrics or Google Forms", "survey.csv", SURVEY),
    ("MLQE", "dev.tsv", MLQE),
    ("COMET’s direct assessments", "da.csv", COMET),
    ("mt-metrics-eval scores", "M.seg.score", "Nemo\t0.5\nNemo\t0.25\n"),
    ("COMET’s JSON", "to.json", '{"/x/Nemo.txt": [{"src": "a", "mt": "b", "COMET": 0.5}]}'),
    ("MetricX’s JSON lines", "x-Nemo.jsonl", '{"hypothesis": "b", "prediction": 3.5}'),
    ("sacreBLEU’s JSON", "b-Nemo.json", '[{"name": "BLEU", "score": 33.1, "signature": "s"}]'),
    ("scores that COMET printed", "out.txt", "Nemo\tSegment 0\tscore: 0.5\nNemo\tscore: 0.5\n"),
    ("one score per line", "bleurt-Nemo.txt", "0.5\n0.25\n"),
    ("a table separated by blanks", "r.txt", BLANKS),
    ("JSON lists of scores", "comet.json", '{"Nemo": [0.5, 0.25]}'),
]
