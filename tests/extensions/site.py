"""Score, and walk the main pages of the core as an administrator, in an installation of its own.

Run with DJANGO_SETTINGS_MODULE and a TOUCHSTONE_VAR, fresh or left by a walk before. Prints each
page that does not answer 200, each link or form that leads to a missing address and, of each
argument `address|text`, whether the page lacks the text; nothing where all is well.
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

PLACES = ("/", "/campaigns/", "/testsets/", "/testsets/upload/", "/metrics/", "/campaigns/import/",
          "/search/?q=training", "/search/?q=demo", "/workers/", "/archive/", "/changes/",
          "/glossary/", "/manage/campaign/demo-en-zh-80/")  # fmt: skip
# Where an extension adds them.
ADDED = ("/studies/", "/studies/demo/", "/studies/demo/printed/", "/studies/demo/layers/",
         "/studies/demo/shortness/", "/matrix/", "/compare/", "/compare/?study=demo",
         "/training/")  # fmt: skip


def is_there(address: str) -> bool:
    """Whether a page has an address of its own."""
    try:
        resolve(urlsplit(address).path)
    except Resolver404:
        return False
    return True


def faults(client: Client, address: str) -> list[str]:
    """What is wrong with a page."""
    response = client.get(address, follow=True)
    if response.status_code not in (200, 202):
        return [f"{address}: {response.status_code}"]
    wrong = []
    for link in re.findall(r'(?:href|action)="(/[^"]*)"', response.content.decode()):
        path = urlsplit(link.replace("&amp;", "&")).path
        if not path.startswith("/static/") and not is_there(path):
            wrong.append(f"{address}: {path}")
    return wrong


# As a judge was described when it was added.
JUDGE = {
    **{"name": "judge-a", "label": "Judge A", "measures": ["judge-a"]},
    **{"measure_labels": ["Judge A"], "needs_source": True, "needs_reference": False},
    **{"queue": "judges", "family": "judge"},
    "options": {
        **{"endpoint": "gone", "model": "small", "template": "error-spans@1", "passes": 1},
        **{"temperature": 0.0, "top_p": 1.0, "seed": 1, "sampling": "sent"},
        **{"pooling": "trimmed mean", "structure": "as the server can"},
        **{"limit": 1024, "limit_name": "max_tokens"},
    },
}


def score(test_set: TestSet) -> None:
    """Score by metrics of the core, and leave a run of a judge whose endpoint is gone."""
    chosen = ("--metric=bleu", "--metric=chrf", "--here")
    call_command("score", test_set.slug, *chosen, stdout=StringIO())
    row = ConfiguredMetric.objects.create(
        name="judge-a", label="Judge A", family="judge", description=JUDGE
    )
    run = MetricRun.objects.create(test_set=test_set, metric=row.name, total=1, status="done")
    JudgeSpending.objects.create(run=run, endpoint="gone", model="small")


def _cannot_be_started(metric: str) -> None:
    test_set = MetricRun.objects.get(metric=metric).test_set
    started = starting.start(test_set=test_set, metrics=[metric])
    if started.runs or started.refused != [catalogue.refusal(metric)]:
        print(f"{metric} can be started: {started}")


def main() -> None:
    """Migrate, load the demo, score, walk."""
    call_command("migrate", verbosity=0)
    if not TestSet.objects.exists():
        score(load_demo()[0])
        User.objects.create_superuser("walker")
    if "extensions.judges" not in settings.EXTENSIONS:
        _cannot_be_started("judge-a")
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username="walker"))
    test_sets = TestSet.objects.order_by("pk")
    places = [*PLACES, *filter(is_there, ADDED)]
    places += [each.get_absolute_url() for each in test_sets]
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
