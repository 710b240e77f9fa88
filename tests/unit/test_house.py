"""Structural rules that import-linter's contracts (pyproject.toml) cannot express."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest
import textual

from tests import sources
from tests.sources import ROOT, Nodes

MODULES_WITHOUT_A_TEST_OF_THEIR_OWN = 93
"""Most of them are tested through a screen or a command. The number may only fall."""

FILES_IN_A_FOLDER = 25
SCREEN_LINES = 300
"""Most lines of a file that defines a screen."""

UNDER_LINES_OF_THE_APP = 250


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


def _circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return names of which each imports the next or is imported by it, and the last is the first."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


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
    assert _circle(_arrows()) == []


def test_no_parts_of_a_package_import_each_other():
    rooms = {path.parent.name for path in (ROOT / "tui").glob("*/__init__.py")}
    assert "commands" in rooms
    assert {room: circle for room in rooms if (circle := _circle(_parts(room)))} == {}


def test_no_method_raises_not_implemented_error():
    sources = (ROOT / "tui").rglob("*.py")
    assert [str(path) for path in sources if "raise NotImplementedError" in path.read_text("utf-8")] == []


def test_no_folder_has_too_many_files():
    folders = [path for path in (ROOT / "tui").rglob("*") if path.is_dir()]
    counts = {str(path.relative_to(ROOT)): len(list(path.glob("*.py"))) for path in folders}
    assert {name: count for name, count in counts.items() if count > FILES_IN_A_FOLDER} == {}


def test_every_file_that_defines_a_screen_is_short():
    bases = _bases_by_name()

    def is_screen(name: str) -> bool:
        return name in ("Screen", "ModalScreen") or any(map(is_screen, bases.get(name, ())))

    lengths = {
        path: len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for path, nodes in sources.modules().items()
        if any(isinstance(node, ast.ClassDef) and is_screen(node.name) for node in nodes)
    }
    assert len(lengths) > 20, "screens are found by their base classes"
    assert {path: count for path, count in lengths.items() if count > SCREEN_LINES} == {}


def test_the_app_is_short():
    app = ROOT / "tui" / "ui" / "app" / "app.py"
    assert len(app.read_text(encoding="utf-8").splitlines()) < UNDER_LINES_OF_THE_APP


def test_the_number_of_modules_without_their_own_test_does_not_grow():
    untested = []
    for path in (ROOT / "tui").rglob("*.py"):
        folder = ROOT / "tests" / "unit" / path.parent.relative_to(ROOT / "tui")
        names = {test.stem.removeprefix("test_") for test in folder.glob("test_*.py")}
        if path.stem.strip("_") in ("init", "main", "addon"):  # tests/unit/core/test_addons.py reads these
            continue
        if not any(name == path.stem or name.startswith(f"{path.stem}_") for name in names):
            untested.append(str(path.relative_to(ROOT)))
    assert len(untested) <= MODULES_WITHOUT_A_TEST_OF_THEIR_OWN, sorted(untested)


def _bases_by_name() -> dict[str, set[str]]:
    """Return the names of the classes directly above each class, by its name."""
    bases: dict[str, set[str]] = {}
    for nodes in _modules().values():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = bases.get(node.name, set()) | (_bases(node) - {node.name})
    return bases


def test_no_class_has_more_than_two_of_our_classes_above_it():
    bases = _bases_by_name()

    def above(name: str) -> int:
        return max((1 + above(base) for base in bases.get(name, ()) if base in bases), default=0)

    assert {name: above(name) for name in bases if above(name) > 2} == {}


def test_screens_and_the_runtime_look_servers_up_by_find():
    raising = {"status", "start", "stop", "restart", "judged"}
    found = [
        f"{name}:{node.lineno}"
        for name, nodes in _modules().items()
        if name.startswith(("tui.ui.", "tui.runtime."))
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in raising
        if ast.unparse(node.func.value).rpartition(".")[2] in ("host", "_host", "_host()", "host()")
    ]
    assert not found, "these raise an error if a server was removed since its name was shown"


def test_private_names_of_textual_are_used_only_in_the_platform_package():
    """Handlers such as `_on_key`, which Textual calls on each class of a chain, are allowed.

    A name on `self` is ours if a class of ours in the chain defines it and none of Textual's does.
    """
    theirs, ours = _classes(_textual()), _classes(_modules())
    private = set[str]().union(*(cls.private for cls in theirs.values()))
    used = set()
    for module, nodes in _modules().items():
        if module.startswith("tui.ui.platform."):
            continue
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual"):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                used |= {f"{module}: {name}" for name in names if name.startswith("_") and name[1:2] != "_"}
        if module.startswith("tui.ui."):
            used |= {f"{module}: {name}" for name in _borrowed(nodes, ours, theirs, private)}
    assert {name for name in used if not name.rpartition(" ")[2].startswith("_on_")} == set()


class _Class(NamedTuple):
    bases: set[str]
    private: set[str]
    """The private names that it defines."""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("class A(Widget):\n def f(self): self._dirty_regions", {"_dirty_regions"}),
        ("class A(Widget):\n def f(self): self._dirty_regions = 1", {"_dirty_regions"}),
        ("class A(Widget):\n def _dirty_regions(self): ...", {"_dirty_regions"}),
        ("class A(B): ...\nclass B(Widget):\n _dirty_regions = 1", {"_dirty_regions"}),
        ("class A:\n def f(self): self._dirty_regions = 1", set()),
        ("class A(B):\n def f(self): self._dirty_regions\nclass B:\n _dirty_regions = 1", set()),
        ("class A:\n _dirty_regions = 1\n def f(self, w): w._dirty_regions", {"_dirty_regions"}),
        ("def f(w): getattr(w, '_dirty_regions')", {"_dirty_regions"}),
        ("def f(w): w._other", set()),
    ],
)
def test_a_private_name_of_textual_is_found_although_we_have_one_like_it(code, found):
    theirs = {"Widget": _Class({"Node"}, set()), "Node": _Class(set(), {"_dirty_regions"})}
    nodes = list(ast.walk(ast.parse(code)))
    assert set(_borrowed(nodes, _classes({"module": nodes}), theirs, {"_dirty_regions"})) == found


def _textual() -> dict[str, Nodes]:
    paths = Path(textual.__file__).parent.rglob("*.py")
    return {str(path): list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in paths}


def _borrowed(
    nodes: Nodes, ours: dict[str, _Class], theirs: dict[str, _Class], private: set[str]
) -> Iterator[str]:
    """Return the private names of Textual that a module uses on an object of Textual, or overrides."""
    within: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            within |= dict.fromkeys(map(id, ast.walk(node)), node.name)
            yield from _class_of(node).private & _chain(node.name, ours, theirs)[1]
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in private:
            on_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            own, inherited = _chain(within.get(id(node), ""), ours, theirs)
            if not on_self or node.attr not in own or node.attr in inherited:
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "hasattr"):
            yield from (
                arg.value for arg in node.args if isinstance(arg, ast.Constant) and arg.value in private
            )


def _chain(name: str, ours: dict[str, _Class], theirs: dict[str, _Class]) -> tuple[set[str], set[str]]:
    """Return the private names that our class and those above it define: in ours, and in Textual's."""
    own, inherited = set[str](), set[str]()
    rest, seen = [(name, ours, own)], set[tuple[str, bool]]()
    while rest:
        name, classes, names = rest.pop()
        if name not in classes or (name, classes is ours) in seen:
            continue
        seen.add((name, classes is ours))
        names |= classes[name].private
        for base in classes[name].bases:
            is_ours = classes is ours and base in ours and base != name
            rest.append((base, ours, own) if is_ours else (base, theirs, inherited))
    return own, inherited


def _classes(modules: dict[str, Nodes]) -> dict[str, _Class]:
    """Return the classes by name; those of one name are one."""
    classes: dict[str, _Class] = {}
    for nodes in modules.values():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                one, other = _class_of(node), classes.get(node.name, _Class(set(), set()))
                classes[node.name] = _Class(one.bases | other.bases, one.private | other.private)
    return classes


def _class_of(node: ast.ClassDef) -> _Class:
    private = {stmt.name for stmt in node.body if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            if isinstance(inner.value, ast.Name) and inner.value.id == "self":
                private.add(inner.attr)
    for stmt in node.body:
        targets = getattr(stmt, "targets", None) or [getattr(stmt, "target", None)]
        private |= {target.id for target in targets if isinstance(target, ast.Name)}
    return _Class(_bases(node), {name for name in private if name.startswith("_") and name[1:2] != "_"})


def _bases(node: ast.ClassDef) -> set[str]:
    named = {base.value if isinstance(base, ast.Subscript) else base for base in node.bases}
    return {base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in named}


CLOCKS = {"localtime", "ctime", "fromtimestamp", "utcfromtimestamp"}
"""Functions that raise for a moment that no clock shows."""

GUARDED = {"tui.commands.traffic_lines", "tui.storage.exports.jsonl", "tui.traffic.filter.filter"}
"""Modules that catch those errors."""


def test_moments_become_dates_in_one_place():
    found = [
        f"{name}: {node.attr}"
        for name, nodes in _modules().items()
        if name not in GUARDED | {"tui.core.units"}
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in CLOCKS
    ]
    assert not found, "use local_time of tui.core.units"


def test_the_ci_script_keeps_bytecode():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.index("\nunset PYTHONDONTWRITEBYTECODE\n") < script.index(".venv/bin/")
