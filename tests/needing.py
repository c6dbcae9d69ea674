"""Which extensions a module of the tests needs: what it imports, and what that imports in turn.

A module that asks for an extension's pages without importing it says `NEEDS = {"package", …}`, a
test is marked `needs("package", …)`.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def extensions_of_the_project() -> frozenset[str]:
    """The packages of this project that are extensions."""
    paths = [*ROOT.glob("*/extension.py"), *ROOT.glob("extensions/*/extension.py")]
    return frozenset(".".join(path.parent.relative_to(ROOT).parts) for path in paths)


def needs(path: Path) -> set[str]:
    """Return the extensions without which a module cannot be imported or run."""
    waiting, seen, found = [path], {path}, set[str]()
    while waiting:
        for name in _imports(waiting.pop()):
            package = name.partition(".")[0]
            found |= {
                each for each in extensions_of_the_project() if f"{name}.".startswith(f"{each}.")
            }
            module = ROOT / f"{name.replace('.', '/')}.py"
            if package in ("tests", "benchmarks") and module not in seen and module.exists():
                seen.add(module)
                waiting.append(module)
    return found


@cache
def _imports(path: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NEEDS":
            names |= {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
    return frozenset(names)
