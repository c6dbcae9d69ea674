"""Score, and walk the main pages of the core as an administrator, in an installation of its own.

Run with DJANGO_SETTINGS_MODULE and a fresh TOUCHSTONE_VAR. Prints each page that does not answer
200, each link or form that leads to a missing address and, of each argument `address|text`, whether
the page lacks the text; nothing where all is well.
"""
# Django's settings come before its models.
# ruff: noqa: E402

import re
import sys
from io import StringIO
from urllib.parse import urlsplit

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.demo import load_demo
from annotation.models import Campaign, TestSet
from metrics import catalogue
from metrics.models import ConfiguredMetric, JudgeSpending, MetricRun
from metrics.runs import starting
from tests.needing import extensions_of_the_project

PLACES = ("/", "/campaigns/", "/testsets/", "/testsets/upload/", "/metrics/", "/studies/",
          "/search/?q=training", "/workers/", "/archive/", "/changes/", "/glossary/")  # fmt: skip


def faults(client: Client, address: str) -> list[str]:
    """What is wrong with a page."""
    response = client.get(address, follow=True)
    if response.status_code not in (200, 202):
        return [f"{address}: {response.status_code}"]
    wrong = []
    for link in re.findall(r'(?:href|action)="(/[^"]*)"', response.content.decode()):
        path = urlsplit(link.replace("&amp;", "&")).path
        try:
            resolve(path)
        except Resolver404:
            if not path.startswith("/static/"):
                wrong.append(f"{address}: {path}")
    return wrong


# As a judge was described when it was added.
JUDGE = {
    **{"name": "judge-a", "label": "Judge A", "measures": ["judge-a"]},
    **{"measure_labels": ["Judge A"], "needs_source": True, "needs_reference": False},
    **{"queue": "judges", "family": "judge", "options": {"model": "small", "template": "a@1"}},
}


def score(test_set: TestSet) -> MetricRun:
    """Score by a metric of the core; leave a run of one whose extension is not installed."""
    chosen = ("--metric=bleu", "--metric=chrf", "--here")
    call_command("score", test_set.slug, *chosen, stdout=StringIO())
    row = ConfiguredMetric.objects.create(
        name="judge-a", label="Judge A", family="judge", description=JUDGE
    )
    run = MetricRun.objects.create(test_set=test_set, metric=row.name, total=1, status="done")
    JudgeSpending.objects.create(run=run, endpoint="gone", model="small")
    started = starting.start(test_set=test_set, metrics=[row.name])
    if started.runs or started.refused != [catalogue.refusal(row.name)]:
        print(f"{row.name} can be started: {started}")
    return run


def main() -> None:
    """Migrate, load the demo, score, walk."""
    call_command("migrate", verbosity=0)
    test_sets = load_demo()
    score(test_sets[0])
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("walker"))
    places = [*PLACES, *(each.get_absolute_url() for each in test_sets)]
    for run in MetricRun.objects.all():
        places += [run.get_absolute_url(), f"/metrics/{run.metric}/"]
    places += [f"/testsets/{test_sets[0].slug}/score/"]
    for campaign in Campaign.objects.exclude(study=""):
        shown = client.get(f"/campaigns/{campaign.slug}/results/").content.decode()
        links = re.findall(rf'href="(/campaigns/{campaign.slug}/[^"?#.]*)"', shown)
        places += sorted(set(links))
        break
    for address in places:
        for fault in faults(client, address):
            print(fault)
    for address, _, text in (each.partition("|") for each in sys.argv[1:]):
        if text not in client.get(address, follow=True).getvalue().decode():
            print(f"{address}: no {text!r}")
    known = extensions_of_the_project() - set(settings.EXTENSIONS)
    for name in sys.modules:
        if name == "torch" or any(f"{name}.".startswith(f"{package}.") for package in known):
            print(f"{name} was imported")


main()
