"""What is wrong with the description of a campaign's own answers, by the path of each value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, Any]
LONGEST = {"scale": 40, "choice": 40, "severity": 20, "category": 80, "label": 80}


@dataclass
class Faults:
    """What is wrong, by the path of the value: `scales[1].max`."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, sentence: str) -> None:
        """Take in one more."""
        self.found.append((path, sentence))

    def entries(self, path: str, value: Any, most: int) -> Iterator[tuple[str, Values]]:
        """Yield the objects of a list with their paths."""
        if not isinstance(value, list) or len(value) > most:
            self.add(path, f"a list of at most {most} is expected")
            return
        for number, each in enumerate(value):
            own = f"{path}[{number}]"
            if isinstance(each, dict):
                yield own, each
            else:
                self.add(own, "an object is expected")

    def known(self, path: str, value: Values, names: Sequence[str]) -> None:
        """Complain of keys that mean nothing here."""
        if unknown := sorted(set(value) - set(names)):
            self.add(path, f"not known here: {', '.join(unknown)} (there are {', '.join(names)})")

    def name(self, path: str, value: Values, kind: str, taken: Sequence[str]) -> str:
        """Return the name of a `kind` of thing, which none of those taken has."""
        name = value.get("name")
        if not isinstance(name, str) or not 0 < len(name.strip()) <= LONGEST[kind]:
            self.add(f"{path}.name", f"a name of 1 to {LONGEST[kind]} characters is expected")
            return ""
        name = name.strip()
        if any(not each.isprintable() for each in name) or (kind == "category" and "/" in name):
            self.add(
                f"{path}.name", "line breaks, tabs and, in categories, “/” cannot be in a name"
            )
        if kind in ("scale", "choice") and (name.isdecimal() or "__" in name):
            self.add(f"{path}.name", f"the name of a {kind} is no number and has no “__”")
        if name.casefold() in {each.casefold() for each in taken}:
            self.add(f"{path}.name", f"“{name}” is there already")
        return name
