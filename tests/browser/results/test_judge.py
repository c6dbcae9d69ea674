"""A judge of error spans that is asked over HTTP: from the form to its spans beside a person's."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.judging import judgments
from annotation.judging.answers import Answer as Judged
from annotation.models import Assignment, Campaign
from annotation.protocols import Span
from core.work import sending
from metrics.models import JudgeSpending, MetricRun, SegmentSpans
from metrics.runs import scoring
from tests.browser.conftest import Visitor
from tests.browser.full_world import screens_of
from tests.extensions.judges.answers import output_of
from tests.extensions.judges.server import Answer, Server, prompt_of, serving
from tests.metrics.fleet import make_worker
from tests.world import make_world

# Seconds after which something hangs.
WAIT = 60


class Halting:
    """Every output begins with a major error, says this server; from the fourth on it waits."""

    server: Server

    def __init__(self) -> None:
        self.is_halfway, self.may_go_on = Event(), Event()

    def __call__(self, asked: dict[str, Any], times: int) -> Answer:
        if "to judge" not in prompt_of(asked):  # the probe
            return Answer('{"errors": []}')
        if len(self.server.seen) > 4:
            self.is_halfway.set()
            self.may_go_on.wait(WAIT)
        word = output_of(asked).split()[0]
        error = {"side": "target", "span": word, "context": word, "category": "accuracy"}
        return Answer(json.dumps({"errors": [error | {"severity": "major"}]}))


@contextmanager
def working_off(run: MetricRun, halting: Halting) -> Iterator[None]:
    """A worker beside us, which ends before the block does."""

    def work() -> None:
        try:
            scoring.drain(run.pk, worker="test")
        finally:
            connections.close_all()

    worker = Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        halting.may_go_on.set()
        worker.join()


def mark(campaign: Campaign) -> None:
    """The annotator marks "Sen" and "quiet" in the first output."""
    assignment = Assignment.objects.filter(annotator__campaign=campaign).earliest("position")
    user, output = assignment.annotator.user, assignment.item.output
    assert user is not None
    assert output is not None
    assert output.text.startswith("Sentence ")
    quiet = output.text.index("quiet")
    answer = Judged(
        public_id=assignment.public_id, submit_key=uuid.uuid4(), started_at=timezone.now(), seen=0,
        spans=(
            Span("target", 0, 3, "minor", "fluency/grammar"),
            Span("target", quiet, quiet + 5, "major", "accuracy/mistranslation"),
        ),
    )  # fmt: skip
    judgments.submit(user=user, answers=[answer])


def start(page: Page, home: str, test_set: str) -> MetricRun:
    """Add a judge and start a run of it, by labels alone."""
    page.goto(f"{home}/judges/")
    page.get_by_role("link", name="Add a judge").click()
    expect(page.get_by_text("The texts leave this machine").first).to_be_visible()
    page.get_by_label("Name", exact=True).fill("finder")
    page.get_by_label("Label").fill("Finder")
    page.get_by_label("Model", exact=True).fill("tiny")
    page.get_by_label("Template").select_option("error-spans@1")
    page.get_by_role("button", name="Add metric").click()
    expect(page.locator("#messages")).to_contain_text("Added Finder.")
    page.goto(f"{home}/testsets/{test_set}/score/?q=finder")
    page.get_by_label("Finder").check()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#run")).to_have_attribute("data-status", "Queued")
    return MetricRun.objects.get()


def expect_spans_beside_peoples(page: Page) -> None:
    """The judge touched the minor error with more than it, and missed the major one."""
    expect(page.locator("#spans-table tr", has_text="Finder")).to_be_visible()
    found = page.get_by_role("region", name="Errors found by severity").locator("tbody tr")
    expect(found).to_have_text(["minor 1 1.00 1.00", "major 1 0.00 0.00"])
    miss = page.locator(".misses li")
    expect(miss).to_have_count(1)
    expect(miss).to_contain_text("Missed error, major, accuracy/mistranslation: “quiet”")
    marked = miss.locator("mark")
    expect(marked).to_have_text(["Sen", "tence", "quiet"])
    both, metric, people = "people-minor metric-major", "metric-major", "people-major"
    expect(marked).to_have_class([both, metric, people])


def test_a_judge_is_added_watched_and_its_spans_are_shown(
    visitor: Callable[..., Visitor], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, halting = make_world(), Halting()
    mark(screens_of(world, "mqm"))
    make_worker("judges@one", queues=["judges"])
    someone = visitor()
    page, home = someone.enter("admin"), someone.address
    with serving(halting) as server, monkeypatch.context() as patched:
        # What is started waits for the worker beside us.
        patched.setattr(sending, "send", lambda *_: True)
        halting.server = server
        settings.JUDGE_ENDPOINTS = [server.endpoint(connections=2, timeout=WAIT)]
        run = start(page, home, world.test_set.slug)
        with working_off(run, halting):
            assert halting.is_halfway.wait(WAIT)
            expect(page.locator("#run")).to_have_attribute("data-status", "Running")
        expect(page.locator("#run")).to_have_attribute("data-status", "Done")
    run.refresh_from_db()
    calls = JudgeSpending.objects.get(run=run).calls
    assert (run.failed, calls) == (0, len(server.seen))
    assert SegmentSpans.objects.count() == run.total
    answers = page.locator("dt", has_text="Answers").locator("+ dd")
    expect(answers).to_have_text(str(calls))
    page.get_by_text("By length and severity").click()
    severities = page.get_by_role("region", name="Severities")
    expect(severities.get_by_role("row", name="major")).to_contain_text("100.0%")
    page.goto(f"{home}/campaigns/mqm-task/spans/")
    expect_spans_beside_peoples(page)
