"""Order several answers of one annotator to one item: revisions, copies, contradictions."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.imports.judgments.answers import Answer
from annotation.imports.judgments.options import LAST_WINS
from annotation.uploads.problems import Report
from metaeval.messages import message, plural


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
        versions = list({answer.content: answer for answer in reversed(answers)}.values())[::-1]
        self.copies += len(answers) - len(versions)
        if len(versions) < 2:
            return versions
        self.revised += len(versions) - 1
        for orders in ([a.revision for a in versions], [a.time for a in versions]):
            if None not in orders and len(set(orders)) == len(versions):
                numbered = sorted(zip(orders, range(len(versions)), strict=True))
                return [versions[number] for _, number in numbered]
        if self.ties == LAST_WINS:
            self.by_rule += 1
            return versions
        self._contradict(versions)
        return versions

    def _contradict(self, versions: Sequence[Answer]) -> None:
        for answer in versions[1:]:
            self.report.error(
                message(
                    "judgments.contradiction",
                    "“{annotator}” has a different judgment of the same item in {place}, and no "
                    "time or revision shows which is later. Choose that the last row counts, or "
                    "name the column that distinguishes the two (item, batch, kind or campaign).",
                    annotator=answer.who,
                    place=versions[0].row.place.label,
                ),
                answer.row.at("score"),
            )

    def say(self) -> None:
        """Report what was found."""
        if self.copies:
            self.report.warn(
                plural(
                    "judgments.copies",
                    "{n} row is a copy of another and was skipped.",
                    "{n} rows are copies of others and were skipped.",
                    n=self.copies,
                )
            )
        if self.revised:
            self.report.note(
                plural(
                    "judgments.revised",
                    "{n} judgment was revised later. All versions are stored; the last is current.",
                    "{n} judgments were revised later. All versions are stored; the last is "
                    "current.",
                    n=self.revised,
                )
            )
        if self.by_rule:
            self.report.note(
                plural(
                    "judgments.last-row-counts",
                    "The rule that the last row counts was used {n} time.",
                    "The rule that the last row counts was used {n} times.",
                    n=self.by_rule,
                )
            )
