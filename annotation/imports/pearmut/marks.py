"""What a campaign of Pearmut says of places in its outputs: suggestions, and rules of controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotation.imports.drafts import ItemDraft
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.offsets import Convention, Raw, Said, are_counted, are_included
from annotation.imports.pearmut.prefilled import read_spans
from annotation.imports.pearmut.rules import Check, as_raw, as_stored
from annotation.protocols import Protocol


@dataclass
class Marks:
    """Errors marked beforehand and rules beside ranges, by the number of their item.

    Of a check, the text and the places on its screen by model are kept with it.
    """

    errors: dict[int, Raw] = field(default_factory=dict)
    checks: dict[int, tuple[Check, str, Mapping[str, int | None]]] = field(default_factory=dict)

    def settle(
        self,
        findings: Findings,
        items: list[ItemDraft],
        protocol: Protocol,
        said: Said,
        answered: Sequence[Raw],
    ) -> Convention:
        """Put suggestions and rules into the items; return how offsets are read.

        `answered` are the errors of the log, which tell what offsets count, too.
        """
        raws = [*self.errors.values(), *(as_raw(*each[:2]) for each in self.checks.values())]
        n_tokens = max(1, len(protocol.spans.tokens)) if protocol.spans else 1
        counts = are_counted(findings, [*raws, *answered], said.breaks, n_tokens)
        included = are_included(findings, list(self.errors.values()), said.ends, counts)
        for number, raw in self.errors.items():
            spans = read_spans(findings, raw, protocol, Convention(included, counts))
            items[number] = replace(items[number], suggestions=spans)
        for number, (check, text, places) in self.checks.items():
            ends = Convention(counts_breaks=counts)
            rules = as_stored(findings, check, text, places, protocol, ends)
            items[number] = replace(items[number], rules=rules)
        return Convention(included, counts)
