"""Judges that list errors first and then give a score: both questions, passes, refusals, pages."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from extensions.judges import templates
from extensions.judges.spending import estimate
from metaeval.messages import DataError
from metrics import catalogue
from metrics.models import JudgeReply, JudgeSpending, MetricRun, SegmentSpans
from tests.extensions.judges.answers import scores
from tests.extensions.judges.server import Answer, prompt_of, serving
from tests.metrics.conftest import drain
from tests.world import World

Start = Callable[..., MetricRun]
# In the placeholders of GEMBA.
ESA = {
    "name": "esa", "kind": "esa", "system": "You annotate.",
    "user": "List errors of: {target_seg}",
    "second": "Errors:\n{error_spans}\nScore the translation: {target_seg}",
}  # fmt: skip
LINES = 'Critical:\nno-error\nMajor:\nstyle - "{word}"\nMinor:\nfluency - "{word}"'


def respond(asked: dict[str, Any], times: int) -> Answer:
    """List two errors, or give 60 and the length of a text whose errors are shown."""
    prompt = prompt_of(asked)
    text = prompt.splitlines()[-1].partition(": ")[2]
    if prompt.startswith("List errors"):
        return Answer(LINES.format(word=text.split()[0]))
    assert "Errors:\nCritical:\nno-error\nMajor:" in prompt
    return Answer(f"Score: {60 + len(text) % 40}")


def start(judge: Start, server: Any, **options: Any) -> MetricRun:
    key = templates.add(**templates.given(ESA, "mine.json")).key
    return judge(server, template=key, structure="plain", **options)


def test_the_score_is_that_of_the_second_question(world: World, judge: Start) -> None:
    with serving(respond) as server:
        run = drain(start(judge, server))
        assert (run.status, run.failed) == ("done", 0)
        first, second = (
            [asked for asked in server.seen if ("Errors:" in prompt_of(asked)) is is_second]
            for is_second in (False, True)
        )
    found = scores(world)
    assert found
    assert found == {text: 60 + len(text) % 40 for text in found}
    assert len(first) == len(second) == len(found)
    assert {tuple(m["role"] for m in each["messages"]) for each in second} == {("system", "user")}
    # Columns after the score count minor, major and critical errors.
    assert [set(scores(world, n).values()) for n in (1, 2, 3)] == [{1.0}, {1.0}, {0.0}]
    assert {len(row.spans) for row in SegmentSpans.objects.all()} == {2}
    expected = estimate(catalogue.find("judge-a"), world.test_set)
    assert expected.calls == JudgeSpending.objects.get(run=run).calls == 2 * len(found)


def test_stored_replies_to_both_questions_are_read_again(world: World, judge: Start) -> None:
    with serving(respond) as server:
        run = drain(start(judge, server, passes=2))
        found, n = scores(world), len(server.seen)
        assert n == 4 * len(found)
        run.signature.scores.all().delete()
        again = drain(judge(server))
        assert len(server.seen) == n
    assert (again.status, scores(world)) == ("done", found)


@pytest.mark.parametrize("bad", ["first", "second"])
def test_without_a_usable_reply_there_is_no_score(world: World, judge: Start, bad: str) -> None:
    def broken(asked: dict[str, Any], times: int) -> Answer:
        is_first = prompt_of(asked).startswith("List errors")
        return Answer("I cannot say.") if is_first == (bad == "first") else respond(asked, times)

    with serving(broken) as server:
        run = drain(start(judge, server))
    assert run.status == "failed"
    assert not run.done
    asked = JudgeReply.objects.filter(run=run).count()
    assert asked >= 2


def test_errors_and_score_as_json(world: World, judge: Start) -> None:
    listed = {"errors": [{"side": "target", "span": "", "context": "", "category": "style",
                          "severity": "minor"}]}  # fmt: skip

    def respond(asked: dict[str, Any], times: int) -> Answer:
        schema = asked["response_format"]["json_schema"]["schema"]
        (wanted,) = schema["properties"]
        return Answer(json.dumps({"score": 71} if wanted == "score" else listed))

    key = templates.add(**templates.given(ESA, "mine.json")).key
    with serving(respond) as server:
        run = drain(judge(server, template=key, structure="schema"))
    assert run.status == "done"
    assert set(scores(world).values()) == {71}


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"second": ""}, "second", "judge.second"),
        ({"kind": "spans"}, "second", "judge.second"),
        ({"second": "{output}"}, "second", "judge.second-placeholder"),
        ({"second": "{errors} {a}"}, "second", "judge.unknown-placeholder"),
        ({"user": "{errors} {output}"}, "user", "judge.unknown-placeholder"),
    ],
)
def test_wrong_templates_are_refused(changes: dict[str, str], field: str, code: str) -> None:
    with pytest.raises(DataError) as caught:
        templates.given(ESA | changes, "mine.json")
    found = caught.value.message.parameters
    assert (found["field"], found["problem"].code) == (field, code)


def test_classes_and_second_questions_are_written_on_pages(as_admin: Client) -> None:
    form = {"name": "ours", "kind": "classes", "user": "{output}?", "classes": "bad\r\n\r\ngood "}
    assert as_admin.post("/judges/templates/add/", form).status_code == 302
    assert templates.get("ours@1").classes == ("bad", "good")
    words = {"user": "{output}??", "classes": "bad\nfair\ngood"}
    assert as_admin.post("/judges/templates/ours/", words).status_code == 302
    assert templates.get("ours@2").classes == ("bad", "fair", "good")
    form = {"name": "steps", "kind": "esa", "user": "{output}?", "second": "{errors} of {output}?"}
    assert as_admin.post("/judges/templates/add/", form | {"second": ""}).status_code == 422
    assert as_admin.post("/judges/templates/add/", form).status_code == 302
    assert templates.get("steps@1").second == "{errors} of {output}?"
    assert "{errors} of {output}?" in as_admin.get("/judges/templates/steps/").text
    assert 'name="classes"' not in as_admin.get("/judges/templates/steps/").text
    listed = as_admin.get("/api/judge-templates/").json()["results"]
    assert next(each for each in listed if each["name"] == "steps")["second"] == form["second"]
