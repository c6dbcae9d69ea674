"""What a protocol asks, by the systems on its screen and by its answers: the usual questions.

They are stored in English and translated where they are shown; {percent} stands for the length.
"""

from enum import StrEnum

from django.utils.translation import gettext_noop


class Asks(StrEnum):
    """What there is to do first: give a score, values on scales, mark errors, and so on."""

    SCORE = "score"
    SCALES = "scales"
    MARKED_SCORE = "errors, then a score"
    ERRORS = "errors alone"
    EDIT = "post-edit"


# For one system and for several; each at full length and at a required one.
Pair = tuple[str, str]
QUESTIONS: dict[Asks, tuple[Pair, Pair]] = {
    # The one about length is that of Cheng et al. 2023, section 4, word for word.
    Asks.SCORE: (
        (
            gettext_noop("How accurately does the translation express the meaning of the source?"),
            gettext_noop(
                "How much do you agree that the black text expresses {percent} of the main "
                "information in the gray text (paraphrasing is acceptable)?"
            ),
        ),
        (
            gettext_noop("How accurately does each text express the meaning of the source?"),
            gettext_noop(
                "How much do you agree that each text expresses {percent} of the main "
                "information in the source (paraphrasing is acceptable)?"
            ),
        ),
    ),
    Asks.SCALES: (
        (
            gettext_noop("Rate the translation on each scale."),
            gettext_noop(
                "The translation should have {percent} of the full length. Rate it on each scale."
            ),
        ),
        (
            gettext_noop("Rate each text on each scale."),
            gettext_noop(
                "Every text should have {percent} of the full length. Rate each text on each scale."
            ),
        ),
    ),
    Asks.MARKED_SCORE: (
        (
            gettext_noop(
                "Considering the errors you marked, how well does the translation keep the "
                "meaning, and how well does it read?"
            ),
            gettext_noop(
                "The translation should have {percent} of the full length. Considering the "
                "errors you marked, how well does it keep the main information, and how "
                "well does it read?"
            ),
        ),
        (
            gettext_noop(
                "Mark the errors in each text, then rate how well the text keeps the "
                "meaning and how well it reads."
            ),
            gettext_noop(
                "Every text should have {percent} of the full length. Mark the errors in "
                "each text, then rate how well the text keeps the main information and how "
                "well it reads."
            ),
        ),
    ),
    Asks.ERRORS: (
        (
            gettext_noop(
                "Mark every error in the translation, and choose its category and severity."
            ),
            gettext_noop(
                "The translation should have {percent} of the full length, so missing "
                "details are not errors. Mark every other error, and choose its category "
                "and severity."
            ),
        ),
        (
            gettext_noop("Mark every error in each text, and choose its category and severity."),
            gettext_noop(
                "Every text should have {percent} of the full length, so missing details "
                "are not errors. Mark every other error, and choose its category and "
                "severity."
            ),
        ),
    ),
    Asks.EDIT: (
        (
            gettext_noop(
                "Change the translation as little as possible so that it says what the source "
                "says and reads well."
            ),
            gettext_noop(
                "The translation should have {percent} of the full length. Change it as "
                "little as possible so that it keeps the main information and reads well."
            ),
        ),
        (
            gettext_noop(
                "Change each text as little as possible so that it says what the source "
                "says and reads well."
            ),
            gettext_noop(
                "Every text should have {percent} of the full length. Change each as "
                "little as possible so that it keeps the main information and reads well."
            ),
        ),
    ),
}

# What replaces the source, by its word; questions about it are translated as wholes.
OTHERS = {"audio": "recording", "video": "video", "image": "picture", "reference": "reference"}
_ABOUT_OTHERS = (
    gettext_noop("How accurately does the translation express the meaning of the recording?"),
    gettext_noop("How accurately does the translation express the meaning of the video?"),
    gettext_noop("How accurately does the translation express the meaning of the picture?"),
    gettext_noop("How accurately does the translation express the meaning of the reference?"),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main "
        "information in the recording (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main "
        "information in the video (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main "
        "information in the picture (paraphrasing is acceptable)?"
    ),
    gettext_noop("How accurately does each text express the meaning of the recording?"),
    gettext_noop("How accurately does each text express the meaning of the video?"),
    gettext_noop("How accurately does each text express the meaning of the picture?"),
    gettext_noop("How accurately does each text express the meaning of the reference?"),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information "
        "in the recording (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information "
        "in the video (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information "
        "in the picture (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information "
        "in the reference (paraphrasing is acceptable)?"
    ),
    gettext_noop(
        "Change the translation as little as possible so that it says what the recording "
        "says and reads well."
    ),
    gettext_noop(
        "Change the translation as little as possible so that it says what the video says "
        "and reads well."
    ),
    gettext_noop(
        "Change the translation as little as possible so that it says what the picture "
        "says and reads well."
    ),
    gettext_noop(
        "Change the translation as little as possible so that it says what the reference "
        "says and reads well."
    ),
    gettext_noop(
        "Change each text as little as possible so that it says what the recording says "
        "and reads well."
    ),
    gettext_noop(
        "Change each text as little as possible so that it says what the video says and reads well."
    ),
    gettext_noop(
        "Change each text as little as possible so that it says what the picture says and "
        "reads well."
    ),
    gettext_noop(
        "Change each text as little as possible so that it says what the reference says "
        "and reads well."
    ),
)
COLOURS = ("black text", "gray text")


def names_colours(question: str) -> bool:
    """Return whether a question, in English, calls the texts by their colours, as the study does.

    >>> names_colours("How accurately does the translation express the meaning of the source?")
    False
    """
    return any(words in question for words in COLOURS)


def question_about(question: str, kind: str) -> str:
    """Return a usual question, in English, about what replaces the source.

    >>> question_about("How accurately does each text express the meaning of the source?", "audio")
    'How accurately does each text express the meaning of the recording?'
    """
    word = OTHERS.get(kind, "source")
    asked = question.replace("gray text", word).replace("source", word)
    return asked if asked in _ABOUT_OTHERS else question
