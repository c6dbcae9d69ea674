"""The terms that pages explain."""

from annotation.glossary import GROUPS


def write() -> str:
    """Return the page."""
    lines = ["# Glossary"]
    for group, terms in GROUPS.items():
        lines += ["", f"## {group}", ""]
        lines += [f"- **{term.label}** {term.text}" for term in terms]
    return "\n".join(lines)
