"""Positions in outputs of a Pearmut campaign: suggestions, and rules of control items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.imports.drafts import ItemDraft
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.offsets import Convention, Raw, Stated, are_counted, are_included
from annotation.imports.pearmut.prefilled import read_spans
from annotation.imports.pearmut.rules import Check, as_raw, as_stored
from annotation.protocols import Protocol


@dataclass
class Marks:
    """Errors marked beforehand, and rules other than ranges, by the index of their item.

    Each check has the text of its output, and the places on its screen by model.
    """

    errors: dict[int, Raw] = field(default_factory=dict)
    checks: dict[int, tuple[Check, str, Mapping[str, int | None]]] = field(default_factory=dict)

    def settle(
        self,
        findings: Findings,
        items: list[ItemDraft],
        protocol: Protocol,
        stated: Stated,
        answered: Sequence[Raw],
    ) -> Convention:
        """Put suggestions and rules into the items; return how offsets are read.

        `answered` are the errors of the log, which also show what offsets count.
        """
        raws = [*self.errors.values(), *(as_raw(*each[:2]) for each in self.checks.values())]
        n_tokens = max(1, len(protocol.spans.tokens)) if protocol.spans else 1
        counts = are_counted(findings, [*raws, *answered], stated.breaks, n_tokens)
        included = are_included(findings, list(self.errors.values()), stated.ends, counts)
        for number, raw in self.errors.items():
            spans = read_spans(findings, raw, protocol, Convention(included, counts))
            items[number] = replace(items[number], suggestions=spans)
        for number, (check, text, places) in self.checks.items():
            ends = Convention(counts_breaks=counts)
            rules = as_stored(findings, check, text, places, protocol, ends)
            items[number] = replace(items[number], rules=rules)
        return Convention(included, counts)
