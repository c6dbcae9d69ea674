"""Questions that earlier versions asked.

Campaigns of those versions store them and go on asking them. They stay here, word for word, so that
annotators read them in their language.
"""

from django.utils.translation import gettext_noop

EARLIER = (
    gettext_noop("How accurately does the black text express the meaning of the recording?"),
    gettext_noop("How accurately does the black text express the meaning of the video?"),
    gettext_noop("How accurately does the black text express the meaning of the picture?"),
    gettext_noop("Rate the black text as a translation of the recording on each scale."),
    gettext_noop("Rate the black text as a translation of the video on each scale."),
    gettext_noop("Rate the black text as a translation of the picture on each scale."),
    gettext_noop("Rate each text as a translation of the recording on each scale."),
    gettext_noop("Rate each text as a translation of the video on each scale."),
    gettext_noop("Rate each text as a translation of the picture on each scale."),
    gettext_noop(
        "Change the black text as little as possible so that it says what the recording says "
        "and reads well."
    ),
    gettext_noop(
        "Change the black text as little as possible so that it says what the video says and "
        "reads well."
    ),
    gettext_noop(
        "Change the black text as little as possible so that it says what the picture says and "
        "reads well."
    ),
    gettext_noop("How accurately does the black text express the meaning of the gray text?"),
    gettext_noop("How accurately does each text express the meaning of the gray text?"),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in "
        "the gray text (paraphrasing is acceptable)?"
    ),
    gettext_noop("Rate the black text as a translation of the gray text on each scale."),
    gettext_noop("The black text should have {percent} of the full length. Rate it on each scale."),
    gettext_noop("Rate each text as a translation of the gray text on each scale."),
    gettext_noop(
        "Considering the errors you marked, how well does the black text keep the meaning, and "
        "how well does it read?"
    ),
    gettext_noop(
        "The black text should have {percent} of the full length. Considering the errors you "
        "marked, how well does it keep the main information, and how well does it read?"
    ),
    gettext_noop("Mark every error in the black text, and choose its category and severity."),
    gettext_noop(
        "The black text should have {percent} of the full length, so missing details are not "
        "errors. Mark every other error, and choose its category and severity."
    ),
    gettext_noop(
        "Change the black text as little as possible so that it says what the gray text says "
        "and reads well."
    ),
    gettext_noop(
        "The black text should have {percent} of the full length. Change it as little as "
        "possible so that it keeps the main information and reads well."
    ),
    gettext_noop(
        "Change each text as little as possible so that it says what the gray text says and "
        "reads well."
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the recording?"
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the video?"
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the picture?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in "
        "the recording?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in "
        "the video?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in "
        "the picture?"
    ),
    gettext_noop("Rate the black text as a rendering of the recording, on every scale."),
    gettext_noop("Rate the black text as a rendering of the video, on every scale."),
    gettext_noop("Rate the black text as a rendering of the picture, on every scale."),
    gettext_noop("Rate each text as a rendering of the recording, on every scale."),
    gettext_noop("Rate each text as a rendering of the video, on every scale."),
    gettext_noop("Rate each text as a rendering of the picture, on every scale."),
    gettext_noop(
        "Change the black text only as far as needed, until it says what the recording says "
        "and reads well."
    ),
    gettext_noop(
        "Change the black text only as far as needed, until it says what the video says and "
        "reads well."
    ),
    gettext_noop(
        "Change the black text only as far as needed, until it says what the picture says and "
        "reads well."
    ),
    gettext_noop(
        "Change each text only as far as needed, until it says what the recording says and "
        "reads well."
    ),
    gettext_noop(
        "Change each text only as far as needed, until it says what the video says and reads well."
    ),
    gettext_noop(
        "Change each text only as far as needed, until it says what the picture says and reads "
        "well."
    ),
    gettext_noop(
        "How much do you agree that the black text expresses {percent} of the main information "
        "in the gray text?"
    ),
    gettext_noop(
        "How much do you agree that each text expresses {percent} of the main information in "
        "the gray text?"
    ),
    gettext_noop("Rate the black text as a rendering of the gray text, on every scale."),
    gettext_noop(
        "The black text should have {percent} of the full length. Rate it on every scale."
    ),
    gettext_noop("Rate each text as a rendering of the gray text, on every scale."),
    gettext_noop("Every text should have {percent} of the full length. Rate each on every scale."),
    gettext_noop(
        "How well does the black text keep the meaning and read, given the errors you marked?"
    ),
    gettext_noop(
        "The black text should have {percent} of the full length. How well does it keep the "
        "main information and read, given the errors you marked?"
    ),
    gettext_noop(
        "Mark the errors in every text, then rate how well it keeps the meaning and reads."
    ),
    gettext_noop(
        "Every text should have {percent} of the full length. Mark its errors, then rate how "
        "well it keeps the main information and reads."
    ),
    gettext_noop("Mark every error in the black text; choose its category and its severity."),
    gettext_noop(
        "The black text should have {percent} of the full length, so leaving out details is no "
        "error. Mark every other error; choose its category and its severity."
    ),
    gettext_noop("Mark every error in each of the texts; choose its category and its severity."),
    gettext_noop(
        "Every text should have {percent} of the full length, so leaving out details is no "
        "error. Mark every other error; choose its category and its severity."
    ),
    gettext_noop(
        "Change the black text only as far as needed, until it says what the gray text says "
        "and reads well."
    ),
    gettext_noop(
        "The black text should have {percent} of the full length. Change it only as far as "
        "needed, until it keeps the main information and reads well."
    ),
    gettext_noop(
        "Change each text only as far as needed, until it says what the gray text says and "
        "reads well."
    ),
    gettext_noop(
        "Every text should have {percent} of the full length. Change each only as far as "
        "needed, until it keeps the main information and reads well."
    ),
)
