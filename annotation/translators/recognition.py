"""Which systems of a test set are human translations, by their names and texts."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.uploads.drafts import SystemDraft, TestSetDraft
from annotation.uploads.problems import Report
from core.text import join_truncated
from metaeval.scores.human_systems import find_reference, looks_human, reference_letter

NAMED = 5


@dataclass(frozen=True)
class Translator:
    """Whether people made a system's outputs, and the name of the reference that they are."""

    is_human: bool
    reference: str


def translator_of(system: SystemDraft, references: Mapping[str, Mapping[str, str]]) -> Translator:
    """Return what a draft says of a system, or else what its name and its texts say.

    `references` has the texts by segment key and name. A system is a reference where (nearly) all
    of its outputs have that reference's text; without any stored reference its name tells which.
    """
    keys = list(system.outputs)
    names = sorted({name for texts in references.values() for name in texts})
    texts = {name: [references.get(key, {}).get(name) for key in keys] for name in names}
    reference = find_reference([system.outputs[key] for key in keys], texts)
    is_named = looks_human(system.name)
    if is_named and not names:
        reference = reference_letter(system.name).upper()
    is_human = bool(reference) or is_named if system.is_human is None else system.is_human
    return Translator(is_human, reference)


def note_human(
    draft: TestSetDraft, report: Report, references: Mapping[str, Mapping[str, str]]
) -> None:
    """Say which systems are taken for human translations."""
    found = {system.label: translator_of(system, references) for system in draft.systems}
    human = [label for label, each in found.items() if each.is_human]
    if human:
        named = join_truncated(human, NAMED)
        report.note(
            f"taken for human translations, which comparisons of metrics leave out: {named}. The "
            "page of the test set can change that"
        )
