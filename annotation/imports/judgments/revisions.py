"""Several answers of one person to one thing: revisions, copies, or contradictions."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.options import LAST_WINS
from annotation.uploads.problems import Report
from core.text import pluralize


@dataclass
class Revisions:
    """Orders answers; `copies` and `revised` count what was found."""

    ties: str
    report: Report
    copies: int = 0
    revised: int = 0
    by_rule: int = 0

    def order(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return the different answers to one thing, the first one first."""
        kept = list({answer.content: answer for answer in reversed(answers)}.values())[::-1]
        self.copies += len(answers) - len(kept)
        if len(kept) < 2:
            return kept
        self.revised += len(kept) - 1
        for orders in ([a.revision for a in kept], [a.time for a in kept]):
            if None not in orders and len(set(orders)) == len(kept):
                numbered = sorted(zip(orders, range(len(kept)), strict=True))
                return [kept[number] for _, number in numbered]
        if self.ties == LAST_WINS:
            self.by_rule += 1
            return kept
        self._contradict(kept)
        return kept

    def _contradict(self, kept: Sequence[Answer]) -> None:
        for answer in kept[1:]:
            self.report.error(
                f"“{answer.who}” answered the same thing differently in {kept[0].row.place}, and "
                "no time or revision tells which came later. Say that the last row counts, or name "
                "the column that tells the two apart (item, batch, kind or campaign)",
                answer.row.at("score"),
            )

    def say(self) -> None:
        """Report what was found."""
        if self.copies:
            self.report.warn(
                f"{pluralize(self.copies, 'row is', 'rows are')} there twice; each counts once"
            )
        if self.revised:
            rule = f", {self.by_rule:,} times by the rule that the last row counts"
            self.report.note(
                f"{self.revised:,} answers were revised later: both are kept, the last is current"
                f"{rule if self.by_rule else ''}"
            )
