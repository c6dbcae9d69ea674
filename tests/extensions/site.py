"""Walk the main pages of the core as an administrator, in an installation of its own.

Run with DJANGO_SETTINGS_MODULE and a fresh TOUCHSTONE_VAR. Prints each page that does not answer
200, each link or form that leads to a missing address and, of each argument `address|text`, whether
the page lacks the text; nothing where all is well.
"""
# Django's settings come before its models.
# ruff: noqa: E402

import re
import sys
from urllib.parse import urlsplit

import django

django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.demo import load_demo
from annotation.models import Campaign
from core import extensions

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


def main() -> None:
    """Migrate, load the demo, walk."""
    call_command("migrate", verbosity=0)
    test_sets = load_demo()
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("walker"))
    places = [*PLACES, *(each.get_absolute_url() for each in test_sets)]
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
    for package in ("torch", *(() if extensions.installed() else ("training",))):
        if package in sys.modules:
            print(f"{package} was imported")


main()
