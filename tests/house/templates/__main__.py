"""Break long lines of all templates: `python -m tests.house.templates [--check]`."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.templates.layout import formatted

ROOT = Path(__file__).parents[3]


def templates() -> Iterator[Path]:
    """The repository's templates."""
    listed = subprocess.run(
        ["git", "ls-files", "*templates/*.html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    yield from (ROOT / name for name in listed.stdout.splitlines())


def main(arguments: list[str]) -> int:
    """Format all templates, or say which are not; 1 where there are any."""
    changed = 0
    for path in templates():
        text = path.read_text(encoding="utf-8")
        if (new := formatted(text)) != text:
            changed += 1
            print(path.relative_to(ROOT))
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    return int(changed > 0 and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
