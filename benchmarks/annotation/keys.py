"""What a key press costs on the largest screens: contrastive ESA of 12 segments by 8 systems.

    python -m benchmarks.annotation.keys [--segments 12] [--systems 8] [--protocol contrastive-esa]

Starts gunicorn over a temporary SQLite file and drives Chromium (`chromium` on the PATH). A key
costs what the page's main thread works until it is idle again: scripts, style, layout and paint,
in processor time of that thread, so that other work on the machine does not count. Every other
text has an error and a score before the keys are counted. Bound: a p95 of 100 ms.
"""

import argparse
import os
import shutil
import tempfile
import uuid
from decimal import Decimal

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
# The browser of this script runs an event loop in the thread of the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

import django

django.setup()

import numpy as np
from django.core.management import call_command
from playwright.sync_api import CDPSession, Page, sync_playwright

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Campaign
from benchmarks.annotation.browsing import Server
from benchmarks.planting import plant_scored
from metaeval.repeats import refuse_repeats

SCORE = ("7", "3", "ArrowRight", "ArrowLeft", "PageUp")
READ = ("Home", "ArrowRight", "ArrowRight", "Control+ArrowRight", "ArrowDown")
MARK = ("Control+Shift+ArrowRight", "m", "Control+ArrowRight", "Shift+ArrowRight", "Shift+M")
BOUND = 100


def main() -> None:
    args = arguments()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    token = plant(args)
    server = Server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            page = browser.new_context(viewport={"width": 1920, "height": 1080}).new_page()
            page.set_default_timeout(120_000)
            page.goto(f"http://127.0.0.1:{server.port}/a/{token}/")
            page.locator("#item.is-ready").wait_for()
            tell(measured(page))
    finally:
        server.stop()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--segments", type=int, default=12)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--protocol", default="contrastive-esa")
    return refuse_repeats(parser).parse_args()


def plant(args: argparse.Namespace) -> str:
    """One document on one screen; the token of its annotator's link."""
    test_set = plant_scored(segments=args.segments, systems=args.systems)
    test_set.segments.update(document="letter")
    campaign = Campaign.objects.create(
        slug=f"keys-{uuid.uuid4().hex[:6]}", name="Keys", test_set=test_set, shown_text="source",
        protocol=args.protocol, systems_per_screen=args.systems, annotators_per_item=1,
        traps_per_annotator=0, length_ratio=Decimal(1),
    )  # fmt: skip
    campaign.systems.set(test_set.systems.all())
    (member,) = add_annotators(campaign=campaign, links=1)
    open_campaign(campaign=campaign)
    return member.token


def measured(page: Page) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds (all work, scripts alone) of each key by what it is for."""
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    texts = page.locator('[data-side="target"]')
    sliders = page.get_by_role("slider")
    for n in range(0, texts.count(), 2):
        texts.nth(n).focus()
        for key in ("Home", *MARK[:2]):
            page.keyboard.press(key)
        sliders.nth(min(n, sliders.count() - 1)).focus()
        page.keyboard.press("8")
    costs: dict[str, list[tuple[float, float]]] = {"score": [], "read": [], "mark": []}
    for n in range(1, texts.count(), max(1, texts.count() // 12)):
        for name, keys in {"read": READ, "mark": MARK}.items():
            texts.nth(n).focus()
            costs[name] += [press(page, client, key) for key in keys]
        sliders.nth(min(n, sliders.count() - 1)).focus()
        costs["score"] += [press(page, client, key) for key in SCORE]
    return costs


def press(page: Page, client: CDPSession, key: str) -> tuple[float, float]:
    """Press a key and wait for the second frame after it, when what it changed is drawn."""
    settle(page)
    before = spent(client)
    page.keyboard.press(key)
    settle(page)
    after = spent(client)
    return after[0] - before[0], after[1] - before[1]


def settle(page: Page) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")


def spent(client: CDPSession) -> tuple[float, float]:
    values = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return 1000 * values["TaskDuration"], 1000 * values["ScriptDuration"]


def tell(costs: dict[str, list[tuple[float, float]]]) -> None:
    every = [pair for pairs in costs.values() for pair in pairs]
    for name, pairs in [*costs.items(), ("all", every)]:
        work, script = np.array(pairs).T
        print(
            f"{name}: {len(pairs)} keys, median {np.median(work):.1f} ms, p95 "
            f"{np.percentile(work, 95):.1f}, worst {work.max():.1f}; scripts alone p95 "
            f"{np.percentile(script, 95):.1f}"
        )
    assert np.percentile([work for work, _ in every], 95) <= BOUND


if __name__ == "__main__":
    main()
