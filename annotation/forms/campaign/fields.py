"""The words of the campaign form: labels, help, and which fields stand together."""

from dataclasses import dataclass
from typing import Any

from django import forms

LABELS = {
    "shown_text": "Gray text",
    "protocol": "How outputs are judged",
    "answers": "Own screen, scales, errors, post-editing and choices",
    "assignment_mode": "Who gets which item",
    "exploration_percent": "Percent of screens with systems drawn evenly",
    "cold_start": "Documents of each system before its standing counts",
    "items_per_annotator": "Most items an annotator",
    "max_same_source": "Most items an annotator over one source text",
    "claim_minutes": "Minutes until an unanswered item goes back",
    "traps_per_annotator": "Traps per annotator",
    "trap_ratio": "Length of the traps",
    "bad_references_per_annotator": "Bad references per annotator",
    "repeats_per_annotator": "Repeats per annotator",
    "references_per_annotator": "References as outputs per annotator",
    "control_spacing": "Screens between controls",
    "rotated_checks": "Checks with moved words",
    "check_percent": "Percent chance of a check before a screen",
    "consent": "Consent text",
    "goodbye": "Words after the last item",
    "asks_background": "Ask for native language and experience",
    "shows_context": "Annotators can open the document around a segment",
    "comprehension": "Comprehension test",
    "pass_mark": "Right answers that pass",
    "test_attempts": "Attempts",
    "stop_after": "Failed checks until somebody is stopped",
    "speed_rule": "Ratings faster than anyone can read",
    "edit_minutes": "Minutes to revise an answer",
    "time_cap_seconds": "Seconds paid at most for one screen",
    "seconds_per_word": "and for each word to rate",
    "idle_seconds": "Seconds without a sign of work until the page asks",
    "hourly_rate": "Pay for an hour",
    "currency": "Currency",
    "shows_pay": "Annotators read about pay before their first item",
    "shows_corrections": "Annotators see what reviewers decided",
    "is_private": "Only members see the campaign",
    "notify_email": "E-mail when complete",
    "notify_webhook": "Webhook when complete",
    "z_pool": "z-scores rest on",
    "seed": "Random seed",
}
HELP = {
    "study": "Campaigns with the same study name are averaged in its tables. Optional.",
    "shown_text": "What the output is compared with, above it on the page.",
    "answers": "Left empty, all is as the protocol has it. Each scale is a human score of its own "
    "that metrics are compared with; controls and z-scores rest on the first. Try it before you "
    "open the campaign.",
    "question": "Left empty, the question of the protocol, which names the length where it is "
    "controlled. {percent} stands for it.",
    "instructions": "Left empty, the standard text for this way of judging, in the five languages "
    "of the annotators’ pages. Markdown.",
    "goodbye": "Below the thanks; ${TOKEN} stands for the completion code.",
    "systems_per_screen": "A remainder is spread evenly, so that no screen has one system.",
    "annotators_per_item": "So many different people rate every item.",
    "exploration_percent": "In dynamic assignment; in the others better systems come more often. "
    "The more, the surer are all systems’ scores.",
    "cold_start": "In dynamic assignment. Until then all are drawn evenly.",
    "items_per_annotator": "Unless shares are fixed. 0: no limit.",
    "max_same_source": "Unless shares are fixed. 0: no limit.",
    "claim_minutes": "Unless shares are fixed.",
    "traps_per_annotator": "Targets cut short. On screens of one item every annotator gets the "
    "same ones.",
    "trap_ratio": "Share of the complete target that a trap keeps.",
    "bad_references_per_annotator": "An output that the annotator rates too, with some words "
    "replaced from another segment. Ten or more make a test possible.",
    "repeats_per_annotator": "An output that the annotator has rated, once more.",
    "references_per_annotator": "Only where the gray text is the source.",
    "control_spacing": "At least so many screens stand between two controls, and between a "
    "control and the output that it is compared with.",
    "rotated_checks": "Screens where five words of an output have changed places: the others must "
    "score higher. Nobody gets one twice.",
    "check_percent": "Of gold, too; not with fixed shares. 0: gold is spread evenly.",
    "shows_context": "Its gray texts; each opening is stored. Needs documents in the test set.",
    "consent": "Left empty, nobody is asked to consent. Markdown.",
    "edit_minutes": "Left empty, as long as the campaign is open. 0: never.",
    "comprehension": "A line is a question; below it, a line with “-” is a choice, with “*” the "
    "right choice, with “>” what is told after a wrong answer. Below a line “[de]” come the same "
    "questions in German, so also [en], [zh-hans], [cs] and [ar]; other languages get the first "
    "ones. Left empty, there is no test.",
    "pass_mark": "0: all of them.",
    "test_attempts": "Who fails the last one is stopped. 0: no limit.",
    "stop_after": "Traps and gold items, looked at after every tenth answer. The person can write "
    "you a message, and you decide under People whether they go on. 0: nobody is stopped.",
    "speed_rule": "More than 952 words, or 1,428 characters, a minute of the texts on the screen. "
    "To be stopped, an annotator must have rated more than half of their last ten screens so fast. "
    "Progress names such annotators in any case.",
    "time_cap_seconds": "Longer pauses are stored, and not paid.",
    "seconds_per_word": "Or for each character, where the language counts those. 0: the same for "
    "all screens.",
    "idle_seconds": "Half a minute later, time is not paid until somebody is back.",
    "hourly_rate": "Of working time. Left empty, pages speak of time and not of pay.",
    "currency": "Three letters, as in EUR.",
    "shows_corrections": "Once an item that they rated is adjudicated, from the list of their "
    "ratings.",
    "is_private": "Members and site admins. Other researchers do not see that it exists.",
    "z_pool": "The judgments that an annotator’s mean and standard deviation are taken over.",
    "seed": "The same seed gives the same resamples and hybrid systems. Controls and orders also "
    "depend on a secret of the campaign.",
}
WIDGETS: dict[str, Any] = {
    "protocol": forms.RadioSelect,
    "assignment_mode": forms.RadioSelect,
    "question": forms.Textarea(attrs={"rows": 3}),
    "instructions": forms.Textarea(attrs={"rows": 4}),
    "consent": forms.Textarea(attrs={"rows": 4}),
    "goodbye": forms.Textarea(attrs={"rows": 2}),
}
# What every database can hold, whatever the one at hand does.
LIMITS = {
    "traps_per_annotator": 10_000,
    "bad_references_per_annotator": 10_000,
    "repeats_per_annotator": 10_000,
    "references_per_annotator": 10_000,
    "control_spacing": 10_000,
    "rotated_checks": 1_000,
    "exploration_percent": 100,
    "check_percent": 100,
    "cold_start": 10_000,
    "max_same_source": 10_000,
    "items_per_annotator": 10_000_000,
    "claim_minutes": 1_000_000,
    "pass_mark": 1_000,
    "test_attempts": 1_000,
    "stop_after": 10_000,
    "edit_minutes": 10_000_000,
    "time_cap_seconds": 1_000_000,
    "seed": 2**63 - 1,
}
# Where shares are not fixed alone.
POOL = ("items_per_annotator", "max_same_source", "claim_minutes")
DYNAMIC = ("exploration_percent", "cold_start")


@dataclass(frozen=True)
class Group:
    """Fields behind one line that says how they are set. Short ones stand side by side."""

    name: str
    title: str
    names: tuple[str, ...]
    is_grid: bool = False


GROUPS = (
    Group("name", "Name", ("name", "study")),
    Group("texts", "Texts", ("length_ratio", "systems")),
    Group("protocol", "Protocol", ("protocol", "systems_per_screen")),
    Group("answers", "Own screen, scales and errors", ("answers",)),
    Group("compared", "Compared with", ("shown_text", "question")),
    Group(
        "ratings",
        "Ratings",
        ("annotators_per_item", "assignment_mode", *DYNAMIC, *POOL),
        is_grid=True,
    ),
    Group(
        "checks",
        "Attention checks",
        (
            "traps_per_annotator",
            "bad_references_per_annotator",
            "repeats_per_annotator",
            "references_per_annotator",
            "trap_ratio",
            "control_spacing",
            "rotated_checks",
            "check_percent",
        ),
        is_grid=True,
    ),
    Group(
        "told",
        "Instructions",
        ("instructions", "shows_context", "practice", "consent", "asks_background", "goodbye"),
    ),
    Group(
        "qualification",
        "Qualification",
        (
            "comprehension",
            "pass_mark",
            "test_attempts",
            "stop_after",
            "speed_rule",
            "shows_corrections",
        ),
    ),
    Group(
        "pay",
        "Time and pay",
        (
            "time_cap_seconds",
            "seconds_per_word",
            "idle_seconds",
            "hourly_rate",
            "currency",
            "shows_pay",
        ),
        is_grid=True,
    ),
    Group(
        "rest",
        "Everything else",
        (
            "edit_minutes",
            "is_private",
            "notify_email",
            "notify_webhook",
            "seed",
            "z_pool",
        ),
    ),
)
FIELDS = tuple(name for group in GROUPS for name in group.names)
