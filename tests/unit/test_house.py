"""Structural rules that import-linter's contracts (pyproject.toml) cannot express."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import textual

from tests import sources
from tests.sources import ROOT, Nodes

MODULES_WITHOUT_A_TEST_OF_THEIR_OWN = 120
"""Most of them are tested through a screen or a command. The number may only fall."""

FILES_IN_A_FOLDER = 25
SCREEN_LINES = 300
APP_LINES = 250


@cache
def _modules() -> dict[str, Nodes]:
    """Return the modules of `tui` by dotted name, with all nodes of their syntax trees."""
    return {
        path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): nodes
        for path, nodes in sources.modules().items()
    }


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    _modules.cache_clear()
    sources.forget()


def _imports(nodes: Nodes) -> Iterator[str]:
    """Return our modules that a module imports, including for types and in functions."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in _modules())
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (inner := f"{node.module}.{alias.name}") in _modules():
                    yield inner
                elif node.module in _modules():
                    yield node.module


@cache
def _arrows() -> dict[str, set[str]]:
    return {name: set(_imports(nodes)) - {name} for name, nodes in _modules().items()}


def _circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups whose members all import each other, directly or not."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        rest = [start]
        while rest:
            for name in arrows.get(rest.pop(), set()) - seen:
                seen.add(name)
                rest.append(name)
        return seen

    beyond = {name: reached(name) for name in arrows}
    circles: list[set[str]] = []
    for name in arrows:
        if name not in beyond[name]:
            continue
        circle = {other for other in beyond[name] if name in beyond.get(other, ())}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)
    return circles


def _parts(room: str) -> dict[str, set[str]]:
    """Return which parts of a package import each other: its folders, and its files outside a folder."""
    parts: dict[str, set[str]] = {}
    for name, targets in _arrows().items():
        for target in targets:
            pair = [n.split(".") for n in (name, target)]
            if all(words[1:2] == [room] and len(words) > 2 for words in pair) and pair[0][2] != pair[1][2]:
                parts.setdefault(pair[0][2], set()).add(pair[1][2])
                parts.setdefault(pair[1][2], set())
    return parts


def test_no_files_import_each_other_in_a_circle():
    assert _circles(_arrows()) == []


def test_no_parts_of_a_package_import_each_other():
    rooms = {path.parent.name for path in (ROOT / "tui").glob("*/__init__.py")}
    assert "commands" in rooms
    assert {room: circles for room in rooms if (circles := _circles(_parts(room)))} == {}


def test_no_method_raises_not_implemented_error():
    sources = (ROOT / "tui").rglob("*.py")
    assert [str(path) for path in sources if "raise NotImplementedError" in path.read_text("utf-8")] == []


def test_no_folder_has_too_many_files():
    folders = [path for path in (ROOT / "tui").rglob("*") if path.is_dir()]
    counts = {str(path.relative_to(ROOT)): len(list(path.glob("*.py"))) for path in folders}
    assert {name: count for name, count in counts.items() if count > FILES_IN_A_FOLDER} == {}


def test_the_app_and_the_screens_are_short():
    ui = ROOT / "tui" / "ui"
    limits = dict.fromkeys(ui.rglob("screen.py"), SCREEN_LINES) | {ui / "app" / "app.py": APP_LINES}
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in limits}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > limits[path]} == {}


def test_the_number_of_modules_without_their_own_test_does_not_grow():
    untested = []
    for path in (ROOT / "tui").rglob("*.py"):
        folder = ROOT / "tests" / "unit" / path.parent.relative_to(ROOT / "tui")
        names = {test.stem.removeprefix("test_") for test in folder.glob("test_*.py")}
        if path.stem.strip("_") in ("init", "main"):
            continue
        if not any(name == path.stem or name.startswith(f"{path.stem}_") for name in names):
            untested.append(str(path.relative_to(ROOT)))
    assert len(untested) <= MODULES_WITHOUT_A_TEST_OF_THEIR_OWN, sorted(untested)


def test_no_class_has_more_than_two_of_our_classes_above_it():
    bases: dict[str, set[str]] = {}
    for nodes in _modules().values():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                named = {b.value if isinstance(b, ast.Subscript) else b for b in node.bases}
                names = {b.id if isinstance(b, ast.Name) else getattr(b, "attr", "") for b in named}
                bases[node.name] = bases.get(node.name, set()) | (names - {node.name})

    def above(name: str) -> int:
        return max((1 + above(base) for base in bases.get(name, ()) if base in bases), default=0)

    assert {name: above(name) for name in bases if above(name) > 2} == {}


def test_private_names_of_textual_are_used_only_in_the_platform_package():
    """Handlers such as `_on_key`, which Textual calls on each class of a chain, are allowed."""
    private = _private_names(Path(textual.__file__).parent)
    private -= {name for nodes in _modules().values() for name in _defined(nodes)}
    used = set()
    for module, nodes in _modules().items():
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in private:
                used.add(f"{module}: {node.attr}")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual._"):
                used.add(f"{module}: {node.module}")
            elif (
                isinstance(node, ast.FunctionDef)
                and node.name in ("_sigtstp_application", "_sigcont_application", "_fatal_error")
                and module.startswith("tui.ui")
            ):
                used.add(f"{module}: {node.name}")
    assert {name for name in used if not name.startswith("tui.ui.platform.")} == set()


def _defined(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _private_names(package: Path) -> set[str]:
    name = re.compile(r"(?:\bdef |\bself\.|^ +)(_[a-z]\w*)\b", re.MULTILINE)
    return {
        found for path in package.rglob("*.py") for found in name.findall(path.read_text(encoding="utf-8"))
    }


def test_the_ci_script_keeps_bytecode():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.index("\nunset PYTHONDONTWRITEBYTECODE\n") < script.index(".venv/bin/")
