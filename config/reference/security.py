"""The reference page of OWASP's verification standard: each requirement with its test or reason."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from config.reference.site import code, table

SOURCE = Path(__file__).with_name("asvs.tsv")
CHAPTERS = (
    "Encoding and sanitization", "Validation and business logic", "Web frontend",
    "API and web service", "File handling", "Authentication", "Session management",
    "Authorization", "Self-contained tokens", "OAuth and OIDC", "Cryptography",
    "Secure communication", "Configuration", "Data protection",
    "Secure coding and architecture", "Logging and error handling", "WebRTC",
)  # fmt: skip
STATES = ("met", "operator", "accepted", "not applicable")
Row = tuple[str, str, str, str]


def rows() -> Iterator[Row]:
    """Yield requirements that share a line, their state, the reason and the test."""
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        names, state, reason, test = line.split("\t")
        yield names, state, reason, test


def chapter_of(row: Row) -> int:
    """Return the number of the chapter: `V6.2.1` belongs to 6."""
    return int(row[0].split()[0].removeprefix("V").partition(".")[0])


def asvs_page() -> str:
    """Return the page."""
    chapters = {number: list(lines) for number, lines in groupby(rows(), key=chapter_of)}
    counts = [
        (f"V{number}", CHAPTERS[number - 1], *_counts(lines)) for number, lines in chapters.items()
    ]
    parts = [
        "# OWASP ASVS 5.0, level 2",
        "Requirements are named by their numbers in the standard. *operator*: a setting or habit "
        "of whoever runs the site. *accepted*: not met in one point, for the reason given.",
        table(("chapter", "subject", *STATES), counts),
    ]
    for number, lines in chapters.items():
        parts += [
            f"## V{number} {CHAPTERS[number - 1]}",
            table(
                ("requirement", "state", "how", "test"),
                [(names.replace(" V", ", V"), s, how, code(test)) for names, s, how, test in lines],
            ),
        ]
    return "\n\n".join(parts)


def _counts(lines: list[Row]) -> list[int]:
    found = Counter[str]()
    for names, state, _reason, _test in lines:
        found[state] += len(names.split())
    return [found[state] for state in STATES]
