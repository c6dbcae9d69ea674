"""The tools whose campaigns are imported: Appraise and Pearmut."""

from annotation.campaign_files.storing import Wish
from annotation.imports.sources import Drafts, Question, Tool
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Place
from annotation.uploads.waiting import Sent
from extensions.formats import appraise, pearmut
from extensions.formats.forms import AppraiseForm, PearmutForm
from metaeval.messages import message

# The key of the choice for check items that repeat no target.
UNMATCHED = "unmatched"


def read_appraise(sent: Sent, report: Report) -> Drafts:
    """Read batches and manifest, with scores if there are any."""
    return appraise.read(
        sent.files["batches"],
        sent.files["manifest"],
        report,
        scores=sent.files.get("scores"),
        name=sent.words.get("name", ""),
        ends=sent.words.get("ends", ""),
        unmatched=sent.words.get(UNMATCHED, ""),
    )


def read_pearmut(sent: Sent, report: Report) -> Drafts:
    """Read campaigns, with logs if there are any."""
    return pearmut.read(
        sent.files["campaign"],
        report,
        parts=sent.several("campaign")[1:],
        source_language=sent.words["source_language"],
        target_language=sent.words["target_language"],
        name=sent.words.get("name", ""),
        ends=sent.words.get("ends", ""),
        breaks=sent.words.get("breaks", ""),
        logs=sent.several("log"),
        media=[sent.files["recordings"]] if "recordings" in sent.files else [],
    )


def open_pearmut(file: InputFile, report: Report, wish: Wish) -> Drafts:
    """Read a campaign in one file, whose languages are stated."""
    if not (wish.source_language and wish.target_language):
        text = message(
            "campaign-file.no-languages",
            "This is not a campaign file of Touchstone, because it has no key “touchstone”. If it "
            "is a file of Pearmut, state its languages.",
        )
        report.error(text, Place(file.name))
        return []
    return pearmut.read(
        file,
        report,
        source_language=wish.source_language,
        target_language=wish.target_language,
        name=wish.slug,
        ends=wish.ends,
        media=wish.media,
    )


TOOLS = (
    Tool(
        AppraiseForm,
        read_appraise,
        Question(UNMATCHED, "appraise.unmatched", appraise.UNMATCHED, "formats/_unmatched.html"),
    ),
    Tool(PearmutForm, read_pearmut, open_file=open_pearmut),
)
