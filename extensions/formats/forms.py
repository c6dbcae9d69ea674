"""The forms of the import page for campaigns of other tools."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms.imports import RECORDINGS, QuestionField, StudyField, ToolForm
from annotation.forms.uploads import FilesField, LanguagesForm, OneFileField
from extensions.formats.ends import CHOICES


class AppraiseForm(ToolForm):
    """Batches, manifest and optional scores."""

    tool = prefix = "appraise"
    title = _("From Appraise")
    holds = _("batches, a manifest and scores")
    roles = ("batches", "manifest", "scores")
    optional = ("scores",)

    batches = OneFileField(label=_("Batches"), help_text=_("JSON: a list of tasks with items."))
    manifest = OneFileField(
        label=_("Manifest"), help_text=_("JSON with CAMPAIGN_NAME and other settings.")
    )
    scores = OneFileField(
        label=_("Scores"),
        help_text=_(
            "Optional: CSV exported from Appraise, without a header. The campaign is then finished "
            "and has these judgments."
        ),
    )
    name = forms.CharField(
        required=False,
        max_length=120,
        label=_("Name"),
        help_text=_("Optional: a name that replaces the manifest’s."),
    )
    study = StudyField()
    question = QuestionField()
    ends = forms.ChoiceField(
        required=False, label=_("Ends of errors marked beforehand"), choices=CHOICES
    )


class PearmutForm(ToolForm, LanguagesForm):
    """A campaign file, which does not have the languages."""

    tool = prefix = "pearmut"
    title = _("From Pearmut")
    holds = _("a campaign file and logs of judgments")
    roles = ("campaign", "log", "recordings")
    optional = ("log", "recordings")

    campaign = FilesField(
        required=False,
        label=_("Campaign"),
        help_text=_(
            "JSON with info, campaign_id and data, or a list of such objects. Several files of one "
            "campaign_id are parts of one campaign."
        ),
    )
    log = FilesField(
        required=False,
        label=_("Judgments"),
        help_text=_(
            "Optional: the logs or the downloaded judgments. The campaign is then finished."
        ),
    )
    recordings = RECORDINGS()
    name = forms.CharField(
        required=False,
        max_length=120,
        label=_("Name"),
        help_text=_("Optional: a name that replaces the campaign_id."),
    )
    study = StudyField()
    question = QuestionField()
    ends = forms.ChoiceField(
        required=False,
        label=_("Ends of errors marked beforehand"),
        choices=CHOICES,
    )
    breaks = forms.ChoiceField(
        required=False,
        label=_("Line breaks in offsets"),
        choices=[
            ("", _("inferred from the marks of omissions")),
            ("counted", _("count as one character (Pearmut 1.1.5 and later)")),
            ("uncounted", _("do not count (Pearmut up to 1.1.4)")),
        ],
    )
