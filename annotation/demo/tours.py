"""Tours of the demo: steps as data, which a script shows one after the other on their pages.

The address of a page with `#tour-results-3` shows the third step of the tour of results there
(`static/js/tours.js`).
"""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.access import is_researcher
from annotation.demo.load import DEMO_PASSWORD, LOGINS

Words = str | Promise
_STUDY, _CAMPAIGN = "/studies/demo/", "/campaigns/demo-zh-en-80/"
_TRY, _NEW = "/campaigns/try-it/preview/", "/campaigns/new/?testset=demo-zh-en"


@dataclass(frozen=True)
class Step:
    """A page, a selector of what is marked on it, and the words about that."""

    address: str
    marked: str
    words: Words


@dataclass(frozen=True)
class Tour:
    """A tour of two minutes, which ends where real work starts."""

    name: str
    label: Words
    steps: tuple[Step, ...]


RESULTS = Tour(
    "results",
    _("Read results"),
    (
        Step(
            _STUDY,
            "main table",
            _(
                "This study is finished: simulated annotators rated shortened translations in "
                "four campaigns. Each row is a metric, and each column a campaign."
            ),
        ),
        Step(
            f"{_CAMPAIGN}results/",
            ".answer",
            _("Each campaign begins with its answer: the metrics that agree best with people."),
        ),
        Step(
            f"{_CAMPAIGN}results/",
            ".trust",
            _(
                "These marks say how far you can trust the answer. Follow one to see what is "
                "behind it."
            ),
        ),
        Step(
            f"{_CAMPAIGN}correlations/",
            "main table",
            _(
                "All metrics with their intervals. Metrics of one rank cannot be distinguished "
                "with these data."
            ),
        ),
        Step(
            f"{_CAMPAIGN}quality/",
            "main table",
            _("Quality shows how carefully each annotator worked, and whom you may exclude."),
        ),
        Step(
            f"{_CAMPAIGN}correlations/",
            "main a[href*='/table/']",
            _("Now it is your turn: choose rows and columns, and copy the table into your paper."),
        ),
    ),
)
SETUP = Tour(
    "setup",
    _("Set up a campaign"),
    (
        Step(
            "/testsets/upload/",
            "main form",
            _(
                "A campaign begins with texts: the source, references, and a file for each MT "
                "system. Nothing is stored before you have seen a preview."
            ),
        ),
        Step(
            _NEW,
            ".presets",
            _("The demo’s texts are here already. A preset says what annotators do with them."),
        ),
        Step(
            _NEW,
            ".live",
            _("This is what annotators will see. It follows every change that you make."),
        ),
        Step(
            _TRY.replace("preview", "access"),
            "main",
            _("Annotators come by personal links, or by one link for a crowd."),
        ),
        Step(
            _TRY.replace("preview", "monitor"),
            "main",
            _("While they work, this page shows who is done and what needs your attention."),
        ),
        Step(
            _NEW,
            "main form button.primary",
            _("Now it is your turn: choose a preset, and set up a campaign of your own."),
        ),
    ),
)


def _annotate(address: str, last: Step) -> Tour:
    return Tour(
        "annotate",
        _("Rate translations"),
        (
            Step(
                address,
                ".texts",
                _("Read both texts to the end. Annotators never see which system translated."),
            ),
            Step(address, "#question", _("This is the question that you answer.")),
            Step(
                address,
                ".answer",
                _(
                    "Click the scale or its words, or type two digits. A rating can be changed "
                    "until you submit it, and later."
                ),
            ),
            Step(
                address,
                ".extras",
                _("If something is wrong with an item, say so here."),
            ),
            last,
        ),
    )


_SUBMIT = _("Now it is your turn: rate this translation and press Enter.")
_SIGN_OUT = _(
    "Now it is your turn: sign out, and sign in as annotator1 with the same password to rate."
)
FOR_RESEARCHERS = (
    _annotate(_TRY, Step(_TRY, "form[action$='/logout/']", _SIGN_OUT)),
    RESULTS,
    SETUP,
)
FOR_ANNOTATORS = (
    _annotate("/annotate/try-it/", Step("/annotate/try-it/", "[type=submit]", _SUBMIT)),
)
STARTS = {"/", "/campaigns/", _STUDY}


def demo(request: HttpRequest) -> dict[str, object]:
    """Give the templates of a demo the tours of the reader, and the sign-in page its logins."""
    if not settings.DEMO:
        return {}
    if not request.user.is_authenticated:
        return {"demo_logins": ", ".join(LOGINS), "demo_password": DEMO_PASSWORD}
    tours = FOR_RESEARCHERS if is_researcher(request.user) else FOR_ANNOTATORS
    return {"tours": tours, "begins_tours": request.path in STARTS}
