"""Read annotators from rows, and distinguish annotators of the same name."""

from collections.abc import Sequence

from annotation.imports.drafts import AnnotatorDraft
from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.exported import cells
from annotation.uploads.problems import Report
from metaeval.messages import message


def tell_apart(answers: Sequence[Answer], report: Report) -> None:
    """Rename annotators of one campaign who have the name of another, but another key."""
    keys: dict[str, list[str]] = {}
    for answer in answers:
        own = keys.setdefault(answer.who, [])
        key = answer.row.name("annotator_key")
        if key not in own:
            own.append(key)
    taken = set(keys)
    for who, own in keys.items():
        for key in own[1:]:
            label = next(n for k in range(2, len(taken) + 3) if (n := f"{who} ({k})") not in taken)
            taken.add(label)
            theirs = [a for a in answers if a.who == who and a.row.name("annotator_key") == key]
            for answer in theirs:
                answer.who = label
            text = message(
                "judgments.annotators-with-one-name",
                "Two annotators are called “{annotator}”. The second is stored as “{label}”.",
                annotator=who,
                label=label,
            )
            report.note(text, theirs[0].row.at("annotator"))


def annotators_of(answers: Sequence[Answer], report: Report) -> dict[str, AnnotatorDraft]:
    """Return what is known of each annotator; whom any row excludes is excluded."""
    found: dict[str, AnnotatorDraft] = {}
    differs: dict[str, Answer] = {}
    for answer in answers:
        stated = cells.annotator(answer.row, report)
        first = found.setdefault(answer.who, stated)
        if stated.is_excluded != first.is_excluded:
            differs.setdefault(answer.who, answer)
            found[answer.who] = stated if stated.is_excluded else first
    for who, answer in differs.items():
        text = message(
            "judgments.exclusion-differs",
            "“{annotator}” is excluded in some rows, but not in others. The annotator is stored as "
            "excluded.",
            annotator=who,
        )
        report.warn(text, answer.row.at("is_excluded"))
    return {who: each for who, each in found.items() if each != AnnotatorDraft()}
