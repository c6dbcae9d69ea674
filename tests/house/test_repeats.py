"""An option given twice acts twice or is refused: every option of every command line of ours."""

import argparse
import ast
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from config.reference.site import OURS
from metaeval.repeats import refuse_repeats
from tests.refusals import refused

ROOT = Path(__file__).parents[2]
COMMANDS = {name: str(app) for name, app in get_commands().items() if app in OURS}
PROGRAMS = {
    "metaeval": "metaeval.commands.entry",
    "metrics.conformance": "metrics.conformance",
    "training.refreeeval": "training.refreeeval.__main__",
    "training.translation": "training.translation.__main__",
}
# What some option or other takes.
VALUES = ("1", "0.5", "text", "name=value", "a:b=c", "file:de:en")


class CaughtError(Exception):
    """A program has come to read its command line."""


def parser_of(module: str, monkeypatch: pytest.MonkeyPatch) -> argparse.ArgumentParser:
    """The parser that a program reads its command line with."""
    caught: list[argparse.ArgumentParser] = []

    def catch(parser: argparse.ArgumentParser, *given: object) -> None:
        caught.append(parser)
        raise CaughtError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", catch)
    with pytest.raises(CaughtError):
        importlib.import_module(module).main()
    monkeypatch.undo()
    return caught[0]


def with_commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from with_commands(command)


def reader(parser: argparse.ArgumentParser) -> Callable[..., list[object]]:
    """Read a command line of options alone; what is refused raises ValueError."""

    def fail(message: str) -> None:
        raise ValueError(message)

    parser.error = fail  # type: ignore[assignment,method-assign]
    for action in parser._actions:
        action.required = False
    for group in parser._mutually_exclusive_groups:
        group.required = False

    def read(option: argparse.Action, *values: str) -> list[object]:
        given = [part for value in values for part in (option.option_strings[-1], value)]
        found = getattr(parser.parse_known_args(given)[0], option.dest)
        return found if isinstance(found, list) else [found]

    return read


def fitting(read: Callable[..., list[object]], option: argparse.Action) -> str:
    """A value that an option takes."""
    for value in map(str, option.choices or VALUES):
        try:
            read(option, value)
        except ValueError:
            continue
        return value
    raise AssertionError(f"{option.option_strings} takes none of {VALUES}")


def check(parser: argparse.ArgumentParser) -> int:
    n = 0
    for each in with_commands(parser):
        read = reader(each)
        for option in each._actions:
            if not option.option_strings or option.nargs == 0:
                continue
            n += 1
            value = fitting(read, option)
            try:
                n_values = len(read(option, value, value))
            except ValueError as error:
                n_values = 2 * str(error).endswith("given twice, but only one value is allowed")
            assert n_values == 2, option.option_strings
    return n


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_of_commands_of_manage_py(name: str) -> None:
    parser = load_command_class(COMMANDS[name], name).create_parser("manage.py", name)
    assert check(parser) >= 3  # Django's own of every command


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_of_programs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(parser_of(PROGRAMS[name], monkeypatch)) > 0


def test_every_parser_of_the_repository_refuses_them() -> None:
    """Also those that no test can reach: benchmarks."""
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        top = path.relative_to(ROOT).parts[0]
        if top.startswith(".") or top == "tests":
            continue
        text = path.read_text(encoding="utf-8")
        if ".parse_args(" not in text and ".parse_known_args(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            made = ast.unparse(node.func.value)
            if node.func.attr in ("parse_args", "parse_known_args") and made not in (
                "refuse_repeats(parser)",
                "_parser()",  # metaeval's, which is walked above
            ):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {made}")
    assert wrong == []


def test_a_value_counts_where_two_programs_read_one_after_the_other() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    refuse_repeats(parser)
    assert [parser.parse_args(["--seed", "1"]).seed for _ in range(3)] == [1, 1, 1]


TRAINING = pytest.mark.needs("training")


@pytest.mark.parametrize(
    ("command", "given", "name"),
    [
        pytest.param(
            "train_sweep", ["s", "--corpus", "c", "--set", "alpha=1", "--set", "alpha=2"],
            "alpha", marks=TRAINING),
        pytest.param(
            "train_sweep", ["s", "--corpus", "c", "--vary", "alpha=1,2", "--vary", "alpha=3"],
            "alpha", marks=TRAINING),
        pytest.param(
            "train", ["refreeeval", "--name", "n", "--option", "seed=1", "--option", "seed=2"],
            "seed", marks=TRAINING),
        pytest.param(
            "add_metric", ["cosine", "n", "--option", "references=best", "--option",
                           "references=mean"], "references",
            marks=pytest.mark.needs("extensions.neural")),
        ("import_human_scores", ["manage.py", "--column", "a=score", "--column", "a=segment"], "a"),
        ("import_scores", ["harbour", "manage.py", "--name", "a=b", "--name", "a=c"], "a"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("world")
def test_a_name_given_twice_is_refused(command: str, given: list[str], name: str) -> None:
    with refused("command.repeated-name", kind=CommandError, name=name):
        call_command(command, *given)
