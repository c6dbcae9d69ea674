"""Labels, help texts and groups of the fields of the campaign form."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

LABELS: dict[str, Any] = {
    "name": _("Name"),
    "public_title": _("Title for annotators"),
    "study": _("Study"),
    "sample": _("Part of the test set"),
    "systems_per_screen": _("Systems per screen"),
    "question": _("Question"),
    "instructions": _("Instructions"),
    "annotators_per_item": _("Annotators per item"),
    "shown_text": _("Compared with"),
    "protocol": _("Protocol"),
    "answers": _("Custom screen, scales, errors, post-editing and choices"),
    "assignment_mode": _("Assignment"),
    "exploration_percent": _("Percentage of screens with evenly drawn systems"),
    "cold_start": _("Documents per system before scores count"),
    "items_per_annotator": _("Maximum items per annotator"),
    "max_same_source": _("Maximum items per annotator and source"),
    "claim_minutes": _("Minutes until an unanswered item returns to the pool"),
    "traps_per_annotator": _("Traps per annotator"),
    "trap_ratio": _("Length of the traps"),
    "bad_references_per_annotator": _("Bad references per annotator"),
    "repeats_per_annotator": _("Repeats per annotator"),
    "references_per_annotator": _("References as outputs per annotator"),
    "control_spacing": _("Screens between control items"),
    "rotated_checks": _("Checks with moved words"),
    "check_percent": _("Chance of a check before each screen, in percent"),
    "consent": _("Consent text"),
    "goodbye": _("Text after the last item"),
    "asks_background": _("Ask for native language and experience"),
    "shows_context": _("Annotators can open the document around a segment"),
    "comprehension": _("Comprehension test"),
    "pass_mark": _("Right answers needed to pass"),
    "test_attempts": _("Attempts"),
    "stop_after": _("Failed control items until an annotator is stopped"),
    "speed_rule": _("Answers faster than anyone can read"),
    "edit_minutes": _("Minutes in which an answer can be revised"),
    "time_cap_seconds": _("Maximum paid seconds per screen"),
    "seconds_per_word": _("Additional paid seconds per word"),
    "idle_seconds": _("Seconds of inactivity until the page asks"),
    "hourly_rate": _("Pay per hour"),
    "currency": _("Currency"),
    "shows_pay": _("Annotators read about pay before their first item"),
    "shows_corrections": _("Annotators see reviewers’ decisions"),
    "is_private": _("Visible to members only"),
    "notify_email": _("E-mail address for the notification"),
    "notify_webhook": _("Webhook for the notification"),
    "z_pool": _("Judgments used for z-scores"),
    "seed": _("Random seed"),
}
HELP: dict[str, Any] = {
    "public_title": _(
        "Shown on annotators’ pages and in their mail. Leave blank to show the name. Name no "
        "system in it."
    ),
    "study": _("Optional. Campaigns with the same study name are averaged in the study’s tables."),
    "sample": _(
        "Leave blank to judge all of it. Write a number, or a share such as 10%; what is judged is "
        "drawn at random with the seed of the campaign, when the draft is saved."
    ),
    "shown_text": _("The text above the output that it is compared with."),
    "answers": _(
        "Leave blank to use the protocol’s defaults. Each scale is a human score of its own that "
        "metrics are compared with; control items and z-scores use the first scale. Try it "
        "before you open the campaign."
    ),
    "question": _(
        "Leave blank to use the protocol’s question, which names the length if it is controlled. "
        "{percent} is replaced by the length."
    ),
    "instructions": _(
        "Leave blank to use the standard text for this protocol, in the five languages of the "
        "annotators’ pages. Markdown."
    ),
    "goodbye": _("Shown below the thanks; ${TOKEN} is replaced by the completion code."),
    "systems_per_screen": _(
        "If the number of systems is not a multiple of this number, sizes are balanced so that "
        "no screen shows a single system."
    ),
    "annotators_per_item": _("The number of different annotators who rate every item."),
    "exploration_percent": _(
        "For dynamic assignment. On the other screens, systems with higher scores are drawn more "
        "often. A higher percentage makes the scores of all systems more certain."
    ),
    "cold_start": _("For dynamic assignment. Before that, all systems are drawn evenly."),
    "items_per_annotator": _("Not for fixed assignment. 0: no limit."),
    "max_same_source": _("Not for fixed assignment. 0: no limit."),
    "claim_minutes": _("Not for fixed assignment."),
    "traps_per_annotator": _(
        "Targets that are cut short. On screens of one item, all annotators get the same traps."
    ),
    "trap_ratio": _("The share of the complete target that a trap keeps."),
    "bad_references_per_annotator": _(
        "Outputs in which some words are replaced by words of another segment. The annotator "
        "rates the original output as well. Ten or more allow a test."
    ),
    "repeats_per_annotator": _("Outputs that the annotator has rated are shown again."),
    "references_per_annotator": _("Only if the source is shown."),
    "control_spacing": _(
        "The minimum number of screens between two control items, and between a control item and "
        "the output that it is compared with."
    ),
    "rotated_checks": _(
        "Screens on which five words of one output were moved: the other outputs must get higher "
        "scores. No annotator gets the same check twice."
    ),
    "check_percent": _(
        "Applies to gold items as well, but not to fixed assignment. 0: gold items are spread "
        "evenly."
    ),
    "shows_context": _(
        "The sources or references of the document. Each opening is stored. The test set needs "
        "documents."
    ),
    "consent": _("Leave blank to ask for no consent. Markdown."),
    "edit_minutes": _("Leave blank to allow revisions as long as the campaign is open. 0: never."),
    "comprehension": _(
        "Write each question on a line. Below it, start a line with “-” for a choice, with “*” "
        "for the right choice, and with “>” for an explanation that is shown after a wrong "
        "answer. After a line “[de]”, repeat the questions in German; the other languages are "
        "[en], [zh-hans], [cs] and [ar]. Annotators whose language is missing get the first "
        "version. Leave blank for no test."
    ),
    "pass_mark": _("0: all of them."),
    "test_attempts": _("Annotators who fail the last attempt are stopped. 0: no limit."),
    "stop_after": _(
        "Traps and gold items are checked after every tenth rating. The annotator can write you "
        "a message, and you decide under People whether they continue. 0: no annotator is "
        "stopped."
    ),
    "speed_rule": _(
        "More than 952 words, or 1,428 characters, of the texts on the screen per minute. An "
        "annotator is stopped if more than half of their last ten screens were rated so fast. "
        "The page Progress always names such annotators."
    ),
    "time_cap_seconds": _("Longer pauses are stored but not paid."),
    "seconds_per_word": _(
        "Or per character, in languages where characters are counted. 0: the same limit for all "
        "screens."
    ),
    "idle_seconds": _("Half a minute later, time is not paid until the annotator is active again."),
    "hourly_rate": _("For working time. Leave blank to show time but no pay."),
    "currency": _("Three letters, such as EUR."),
    "shows_corrections": _(
        "In the list of their ratings, once an item that they rated has been adjudicated."
    ),
    "is_private": _(
        "Members and site admins see the campaign. Other researchers do not see that it exists."
    ),
    "z_pool": _("The judgments that an annotator’s mean and standard deviation are computed from."),
    "seed": _(
        "The same seed gives the same resamples and hybrid systems. Control items and orders "
        "also depend on a secret of the campaign."
    ),
}
WIDGETS: dict[str, Any] = {
    "question": forms.Textarea(attrs={"rows": 3}),
    "instructions": forms.Textarea(attrs={"rows": 4}),
    "consent": forms.Textarea(attrs={"rows": 4}),
    "goodbye": forms.Textarea(attrs={"rows": 2}),
}
# Limits of every supported database.
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
# For assignment from a pool.
POOL = ("items_per_annotator", "max_same_source", "claim_minutes")
DYNAMIC = ("exploration_percent", "cold_start")


@dataclass(frozen=True)
class Group:
    """Fields that are folded under a summary; `folds` are seldom changed and folded once more."""

    name: str
    title: str | Promise
    names: tuple[str, ...]
    folds: tuple[tuple[str | Promise, tuple[str, ...]], ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """Its fields, those of its folds included."""
        return (*self.names, *(name for _title, names in self.folds for name in names))


# The field above the groups.
FIRST = ("name",)
GROUPS = (
    Group(
        "judged",
        _("What is judged"),
        (
            *("length_ratio", "systems", "sample", "protocol", "systems_per_screen"),
            *("shown_text", "question", "answers"),
        ),
    ),
    Group(
        "checked",
        _("Who rates and how it is checked"),
        (
            *("annotators_per_item", "assignment_mode", *DYNAMIC, *POOL),
            *("traps_per_annotator", "bad_references_per_annotator", "practice"),
        ),
        (
            (
                _("More control items and their placement"),
                (
                    *("repeats_per_annotator", "references_per_annotator", "trap_ratio"),
                    *("control_spacing", "rotated_checks", "check_percent"),
                ),
            ),
            (
                _("Comprehension test and stopping rules"),
                (
                    *("comprehension", "pass_mark", "test_attempts"),
                    *("stop_after", "speed_rule", "shows_corrections"),
                ),
            ),
        ),
    ),
    Group(
        "rules",
        _("Rules and pay"),
        (*("instructions", "consent", "hourly_rate", "currency", "shows_pay"),),
        (
            (
                _("Title, study, visibility and revisions"),
                ("public_title", "study", "is_private", "edit_minutes"),
            ),
            (_("Context, background and thanks"), ("shows_context", "asks_background", "goodbye")),
            (_("Paid time"), ("time_cap_seconds", "seconds_per_word", "idle_seconds")),
            (
                _("Notifications and z-scores"),
                ("notify_email", "notify_webhook", "z_pool", "seed"),
            ),
        ),
    ),
)
FIELDS = (*FIRST, *(name for group in GROUPS for name in group.all_names))
