"""Imports point one way, and the web process stays light: proved in fresh interpreters."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from core.extensions import load
from tests.needing import extensions_of_the_project

ROOT = Path(__file__).parents[2]
ALL_OF_METAEVAL = (
    "import importlib, pkgutil, metaeval\n"
    "for module in pkgutil.walk_packages(metaeval.__path__, 'metaeval.'):\n"
    "    importlib.import_module(module.name)\n"
)
BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Block())
"""


def run_without(blocked: set[str], code: str) -> subprocess.CompletedProcess[str]:
    script = BLOCK.format(blocked=blocked) + code
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_block_works() -> None:
    assert "blocked: django" in run_without({"django"}, "import django").stderr


FOREIGN = {"django", "rest_framework", "celery", "torch", "transformers"}


def test_what_a_metric_is_needs_neither_django_nor_torch() -> None:
    code = (
        "from metrics.registry import METRICS, load\n"
        "[load(name, source_language='de', target_language='en') for name in METRICS]\n"
    )
    result = run_without(FOREIGN, code)
    assert result.returncode == 0, result.stderr


def test_metaeval_needs_neither_them_nor_anything_of_ours() -> None:
    ours = {"annotation", "metrics", "dashboards", "training", "lifecycle", "config"}
    result = run_without(FOREIGN | ours, ALL_OF_METAEVAL)
    assert result.returncode == 0, result.stderr


def test_the_web_process_never_imports_torch_or_a_model_client() -> None:
    code = (
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
        "os.environ['SECOND_FACTOR'] = 'no'\n"
        "import django; django.setup()\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "assert not {'torch', 'sacrebleu'} & set(sys.modules)\n"
        "assert 'scipy.stats' not in sys.modules  # half a second and 45 MB; scipy.special does\n"
    )
    result = run_without({"torch", "transformers", "comet", "urllib3"}, code)
    assert result.returncode == 0, result.stderr


# package -> the packages of ours that it may import
ALLOWED = {
    "core": {"core", "metaeval"},
    "metaeval": {"metaeval"},
    "annotation": {"annotation", "metaeval", "core"},
    "metrics": {"metrics", "annotation", "metaeval", "core"},
    "dashboards": {
        *("dashboards", "metrics", "annotation", "metaeval", "core"),
        "config.wsgi",  # named on the command line of the demo's server
    },
    "lifecycle": {"lifecycle", "dashboards", "metrics", "annotation", "metaeval", "core"},
}
CORE = sorted(ALLOWED)
# Extensions may use everything below `config` and what they say that they need; nothing else uses
# them.
EXTENSIONS = sorted(extensions_of_the_project())
ALLOWED |= {name: {name, *CORE, *load(name).needs} for name in EXTENSIONS}
OURS = {*CORE, "training", "extensions", "config", "tests"}


@cache
def named_module(text: str) -> set[str]:
    """The module that a dotted path names, with or without something in it; else nothing."""
    if not re.fullmatch(r"\w+(\.\w+)+(:\w+)?", text):
        return set()
    path = text.partition(":")[0]
    places = [path, path.rpartition(".")[0]]
    return {name for name in places if name.count(".") and is_module(ROOT / name.replace(".", "/"))}


def is_module(place: Path) -> bool:
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@cache
def imported_names(path: Path) -> set[str]:
    """Modules of ours that a file imports, or names by a string: they are imported later."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= named_module(node.value)
    return {name for name in names if name.split(".")[0] in OURS}


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_no_import_runs_backwards(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted(folder_of(package).rglob("*.py"))
        for name in imported_names(path)
        if not any(name == good or name.startswith(f"{good}.") for good in ALLOWED[package])
    ]
    assert wrong == []


def folder_of(package: str) -> Path:
    return ROOT / package.replace(".", "/")


def room_of(module: str, app: str) -> str:
    """An app's folder, or a module that lies beside its folders."""
    return ".".join(module.split(".")[: app.count(".") + 2])


def rooms_imported(path: Path, app: str) -> set[str]:
    """The rooms of an app that a file imports when it runs, at its top or later."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for each in ast.walk(tree)
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test)
        for node in ast.walk(each)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {room_of(name, app) for name in found if name.startswith(f"{app}.")}


@pytest.mark.parametrize("app", [*sorted(ALLOWED), "config"])
def test_rooms_of_an_app_import_one_way(app: str) -> None:
    """What two rooms need of each other belongs into one of them, or below both."""
    graph: dict[str, set[str]] = {}
    for path in sorted(folder_of(app).rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if ".migrations." in module or module == f"{app}.__init__":
            continue
        room = room_of(module, app)
        graph.setdefault(room, set()).update(rooms_imported(path, app) - {room})
    known = {room: others & graph.keys() for room, others in graph.items()}
    assert len(known) > 1
    TopologicalSorter(known).prepare()  # CycleError names the rooms of a knot


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_what_a_family_of_an_extension_is_needs_neither(extension: str) -> None:
    record = load(extension)
    paths = [*record.families.values(), *filter(None, [record.metrics.replace(".KNOWN", ":KNOWN")])]
    lines = [f"import {path.partition(':')[0]}" for path in paths]
    result = run_without(FOREIGN - {"celery"}, "\n".join(lines))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_nothing_imports_from_inside_an_extension(extension: str) -> None:
    others = {name for name in EXTENSIONS if name == extension or extension in load(name).needs}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for package in sorted({*ALLOWED, "config"} - others)
        for path in sorted(folder_of(package).rglob("*.py"))
        for name in imported_names(path)
        if f"{name}.".startswith(f"{extension}.")
    ]
    assert wrong == []


def test_only_the_record_names_families_that_are_written_as_plug_ins() -> None:
    """What a plug-in of somebody else cannot ask for, they do without."""
    families = {
        path.partition(":")[0].rpartition(".")[0]
        for record in map(load, EXTENSIONS)
        for path in record.families.values()
        if path.endswith("PLUGIN")
    }
    rooms = [folder_of(family) for family in families]
    own = {
        *(folder_of(name) / "extension.py" for name in EXTENSIONS),
        # Which of their metrics every list has.
        ROOT / "extensions/neural/known.py",
        # A command of SentSim's own, which Django finds in an app alone.
        ROOT / "extensions/neural/management/commands/fit_sentsim.py",
    }
    wrong = [
        f"{path.relative_to(ROOT)} names {name}"
        for package in sorted(ALLOWED)
        for path in sorted(folder_of(package).rglob("*.py"))
        if path not in own and not any(path.is_relative_to(room) for room in rooms)
        for name in imported_names(path)
        if any(f"{name}.".startswith(f"{family}.") for family in families)
    ]
    assert families
    assert wrong == []


STAGES = ["uploads", "campaigns", "judging", "quality"]


def test_stages_import_only_earlier_stages() -> None:
    """A stage may use what comes before it in the pipeline, never what comes after."""
    wrong: list[str] = []
    for number, stage in enumerate(STAGES):
        paths = sorted((ROOT / "annotation" / stage).rglob("*.py"))
        assert paths, stage
        for path in paths:
            wrong += [
                f"{path.relative_to(ROOT)} imports {later}"
                for later in STAGES[number + 1 :]
                for name in imported_names(path)
                if f"{name}.".startswith(f"annotation.{later}.")
            ]
    assert wrong == []


# Each room of metaeval may use those before it, and the modules beside the rooms.
ROOMS = [
    "scores",
    "files",
    "correlation",
    "significance",
    "sensitivity",
    "judgments",
    "systems",
    "spans",
    "challenges",
    "wmt",
    "replication",
    "commands",
]


@pytest.mark.parametrize("number", range(len(ROOMS)), ids=ROOMS)
def test_rooms_of_metaeval_import_only_earlier_rooms(number: int) -> None:
    paths = sorted((ROOT / "metaeval" / ROOMS[number]).rglob("*.py"))
    assert paths
    later = tuple(f"metaeval.{room}." for room in ROOMS[number + 1 :])
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in paths
        for name in imported_names(path)
        if name == "metaeval" or any(f"{name}.".startswith(room) for room in later)
    ]
    assert wrong == []


def test_what_stands_beside_the_rooms_of_metaeval_uses_none() -> None:
    for module in ("arrays", "messages", "results", "resampling", "documents"):
        names = imported_names(ROOT / "metaeval" / f"{module}.py")
        assert not [name for name in names if name.split(".")[1] in ROOMS], module
