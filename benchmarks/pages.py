"""How much is on every page of the demo, how fast it is there, and what it looks like.

    python -m benchmarks.pages [--site http://localhost:8000]
      [--pictures docs/screenshots/after] [--every-picture FOLDER]

Without `--site`, a demo is started in a temporary folder and ended afterwards. Prints a table: for
each page at 1280 px the fields that are visible and those that are one fold away, the links and
words of its main part, the time of the largest contentful paint, the size of everything that is
transferred to a browser without a cache, and how often Tab is pressed from the top of the page to
its main button, by the links that skip what comes before it. A number above its bound is bold, and
then the exit status is 1. Fields behind two folds count as little as those of another page, and on
the page of a task folded fields count as visible. `--pictures` also writes those pictures that the
documentation shows, at 1280 and 360 px, and `--every-picture` those of all pages, with a sheet of
all of one width.
"""

import argparse
import io
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import product
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright

from benchmarks.annotation.browsing import free_port
from metaeval.repeats import refuse_repeats

PASSWORD = "touchstone-demo"  # noqa: S105 (of the demo, as printed)
DEMO = "/campaigns/demo-zh-en-80"
OPEN = "/campaigns/try-it"
# What is looked at: the name of its picture, and its address.
RESEARCHER = {
    "study": "/studies/demo/",
    "results": f"{DEMO}/results/",
    "correlations": f"{DEMO}/correlations/",
    "scatter": f"{DEMO}/scatter/",
    "systems": f"{DEMO}/systems/",
    "significance": f"{DEMO}/significance/",
    "whatif": f"{DEMO}/whatif/",
    "samplesize": f"{DEMO}/samplesize/",
    "power": f"{DEMO}/power/",
    "report": f"{DEMO}/report/",
    "paper-table": f"{DEMO}/correlations/table/",
    "monitor": f"{DEMO}/monitor/",
    "quality": f"{DEMO}/quality/",
    "campaigns": "/campaigns/",
    "campaign": f"{OPEN}/",
    "people": f"{OPEN}/access/",
    "try": f"{OPEN}/preview/",
    "testsets": "/testsets/",
    "testset": "/testsets/demo-zh-en/",
    "upload": "/testsets/upload/",
    "task": "/campaigns/new/?testset=demo-zh-en",
    "import": "/campaigns/import/",
    "metrics": "/metrics/",
    "runs": "/runs/",
    "studies": "/studies/",
    "compare": "/compare/?campaign=demo-zh-en-80&campaign=demo-zh-en-50",
    "matrix": "/matrix/",
    "run-start": "/testsets/demo-zh-en/score/",
    "preferences-start": "/testsets/demo-zh-en/preferences/start/",
    "mtme-import": "/campaigns/import/mt-metrics-eval/",
    "plan": "/power/",
    "export": f"{DEMO}/export/",
    "letters": f"{OPEN}/access/mail/",
    "accounts": "/accounts/",
    "models": "/models/",
    "training": "/training/",
    "training-start": "/training/start/",
    "judges": "/judges/",
    "workers": "/workers/",
}
ANNOTATOR = {
    "tasks": "/",
    "item": "/annotate/try-it/",
    "item-esa": "/annotate/try-esa/",
    "item-mqm": "/annotate/try-mqm/",
    "item-document": "/annotate/try-documents/",
    "item-side-by-side": "/annotate/try-side-by-side/",
    "history": "/annotate/try-it/history/",
}
# The most fields, of those the most one fold away, links and words.
BOUNDS = {
    "task": (30, 30, 9, 350),
    "results": (12, None, 15, 250),
    "study": (12, None, 60, 350),
    "people": (8, None, 8, 220),
    "import": (10, None, 8, 250),
    "matrix": (12, None, None, None),
}
MOST_MS, MOST_KIB, MOST_TABS = 500, 100, 12
COLUMNS = ("page", "fields", "folded", "links", "words", "LCP ms", "KiB", "tabs")
PAINTS = 3
# What is pictured, at which widths and at most how high.
PICTURED = (
    "study", "results", "correlations", "scatter", "systems", "paper-table", "monitor", "quality",
    "campaigns", "people", "upload", "task", "import", "training-start", "workers", "item",
    "item-mqm",
)  # fmt: skip
HEIGHTS = {1280: 1400, 360: 1400}
# Pictures on a sheet, in a row and each as wide and high as this.
ROW, THUMB = 8, (200, 219)
COUNT = """() => {
  const part = document.querySelector(".frame") ?? document.querySelector("main");
  const folds = (each) => {
    let n = 0;
    for (let at = each; at; at = at.parentElement?.closest("details:not([open])")) n += at !== each;
    return n;
  };
  const isShown = (each) => each.checkVisibility({ visibilityProperty: true });
  const fields = [...part.querySelectorAll("input:not([type=hidden]), select, textarea")];
  const isAway = (each) => each.closest("[hidden], dialog:not([open])") || folds(each) !== 1;
  const shown = fields.filter(isShown);
  const folded = fields.filter((each) => !isShown(each) && !isAway(each));
  const links = [...document.querySelector("main").querySelectorAll("a[href]")].filter(isShown);
  // What only screen readers say repeats what is drawn.
  const spoken = [...document.querySelectorAll("main .visually-hidden")];
  for (const each of spoken) each.style.display = "none";
  const words = document.querySelector("main").innerText.match(/[\\p{L}\\p{N}][^\\s]*/gu) ?? [];
  for (const each of spoken) each.style.display = "";
  return [shown.length, folded.length, links.length, words.length];
}"""
PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => resolve(0), 3000);
})"""
BYTES = """() => ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
  .reduce((sum, each) => sum + each.transferSize, 0)"""
IS_COMPUTED = "() => !document.querySelector('[data-fresh-at]')"
COMPUTING_MS = 90_000
IS_MAIN = """() => {
  const buttons = [...document.querySelectorAll("main .primary")];
  const main = buttons.find((each) => each.checkVisibility());
  return main ? main === document.activeElement : null;
}"""
IS_SKIP = """() => document.activeElement.matches("main .skip")"""


@contextmanager
def demo() -> Iterator[str]:
    """Start a demo, wait until its numbers are there, and end it."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="touchstone-pages-") as folder:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(port)],
            env={**os.environ, "TOUCHSTONE_VAR": folder},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            if not any("Touchstone is at" in line for line in process.stdout):
                raise SystemExit("the demo did not start")
            yield f"http://localhost:{port}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


class Visitor:
    """Somebody who has signed in; each of their browsers begins with an empty cache."""

    def __init__(self, browser: Browser, site: str, name: str) -> None:
        self.browser, self.site = browser, site
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{site}/login/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "login" not in url)
        self.state = context.storage_state()
        context.close()

    @contextmanager
    def sees(self, path: str, width: int) -> Iterator[Page | None]:
        """Open a page, and wait until it rests; give None if the site has no such page."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            reduced_motion="reduce",
            storage_state=self.state,
        )
        page = context.new_page()
        response = page.goto(self.site + path)
        if response is None or response.status >= 400:
            yield None
        else:
            page.wait_for_load_state("networkidle")
            with suppress(TimeoutError):
                page.wait_for_function(IS_COMPUTED, timeout=COMPUTING_MS)
            yield page
        context.close()


def tabs_to_main(page: Page) -> int | None:
    """Return how often Tab is pressed until the main button has the focus; None if it has none."""
    if page.evaluate(IS_MAIN) is None:
        return None
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for pressed in range(2, 200):
        page.keyboard.press("Tab")
        if page.evaluate(IS_MAIN):
            return pressed
        if page.evaluate(IS_SKIP):
            page.keyboard.press("Enter")
            if page.evaluate(IS_MAIN):
                return pressed
    return 200


def measure(visitor: Visitor, path: str) -> list[float | None] | None:
    """Return the numbers of a page under `COLUMNS`, but its name; None if there is none."""
    with visitor.sees(path, 1280):
        pass  # what has not been computed yet is computed now
    paints: list[float] = []
    while True:
        with visitor.sees(path, 1280) as page:
            if page is None:
                return None
            paints.append(page.evaluate(PAINT))
            if len(paints) == PAINTS:
                paint, kib = statistics.median(paints), page.evaluate(BYTES) / 1024
                return [*page.evaluate(COUNT), round(paint), round(kib), tabs_to_main(page)]


def line(name: str, numbers: list[float | None]) -> tuple[str, bool]:
    """Return a page's line of the table, and whether it keeps its bounds."""
    bounds = [*BOUNDS.get(name, (None,) * 4), MOST_MS, MOST_KIB, MOST_TABS]
    over = [
        most is not None and number is not None and number > most
        for number, most in zip(numbers, bounds, strict=True)
    ]
    cells = ["–" if each is None else f"{each:g}" for each in numbers]
    marked = [f"**{cell}**" if is_over else cell for cell, is_over in zip(cells, over, strict=True)]
    return f"| {' | '.join((name, *marked))} |", not any(over)


def draw(page: Page, width: int, file: Path) -> None:
    """Write the picture of a page; of a longer one, its beginning."""
    height = min(HEIGHTS[width], page.evaluate("() => document.documentElement.scrollHeight"))
    taken = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
    Image.open(io.BytesIO(taken)).convert("RGB").save(file, quality=45, method=6)


def sheet(folder: Path, width: int) -> None:
    """Write one picture of all pictures of a width, in the order of the table."""
    names = [folder / f"{name}-{width}.webp" for name in (*RESEARCHER, *ANNOTATOR)]
    files = [each for each in names if each.exists()]
    size = (ROW * (THUMB[0] + 4), -(-len(files) // ROW) * (THUMB[1] + 4))
    whole = Image.new("RGB", size, "white")
    for number, file in enumerate(files):
        with Image.open(file) as picture:
            picture.thumbnail(THUMB)
            row, column = divmod(number, ROW)
            whole.paste(picture, (column * (THUMB[0] + 4), row * (THUMB[1] + 4)))
    whole.save(folder / f"sheet-{width}.webp", quality=45, method=6)


def main() -> None:
    """Print the table, and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", help="of a demo that runs; default: start one")
    parser.add_argument("--pictures", type=Path, help="folder of the pictures")
    parser.add_argument("--every-picture", type=Path, help="folder of the pictures of all pages")
    args = refuse_repeats(parser).parse_args()
    with nullcontext(args.site) if args.site else demo() as site:
        is_kept = look(site, args.pictures, args.every_picture)
    if args.every_picture:
        for width in HEIGHTS:
            sheet(args.every_picture, width)
    sys.exit(not is_kept)


def look(site: str, pictures: Path | None, every: Path | None) -> bool:
    """Look at all pages of a site; return whether all bounds are kept."""
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}", flush=True)
    is_kept = True
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for who, pages in (("admin", RESEARCHER), ("annotator1", ANNOTATOR)):
            visitor = Visitor(browser, site, who)
            for name, path in pages.items():
                numbers = measure(visitor, path)
                if numbers is None:
                    continue
                text, is_good = line(name, numbers)
                print(text, flush=True)
                is_kept &= is_good
                folders = [pictures if name in PICTURED else None, every]
                for folder, width in product(filter(None, folders), HEIGHTS):
                    with visitor.sees(path, width) as page:
                        if page:
                            folder.mkdir(parents=True, exist_ok=True)
                            draw(page, width, folder / f"{name}-{width}.webp")
        browser.close()
    return is_kept


if __name__ == "__main__":
    main()
