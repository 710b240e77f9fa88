"""The texts of screens are marked for translation, and the translations fit them."""

import ast
import re
import symtable
from collections.abc import Iterator
from string import Formatter

import pytest

from tests import sources
from tests.unit import catalogue
from tests.unit.catalogue import LOCALE, Text, all_texts, entries, marked
from tests.unit.test_texts import texts as literals
from tui.core.text import clean

UNTRANSLATED = 0
"""Texts that are not translated yet. The number may only fall."""

UNMARKED = 334
"""Texts of screens that do not pass through gettext. The number may only fall."""

FROM_TABLES = ("_", "message", "c_message")
"""Functions whose text may be that of a table, which marks it."""

FOLDERS = [path.name for path in LOCALE.iterdir() if list(path.glob("*.po"))]


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    yield
    sources.forget()


@pytest.mark.parametrize("language", FOLDERS)
def test_the_files_contain_the_texts_of_the_program(language):
    listed: dict[Text, str] = {}
    for part, entry in entries(LOCALE / language):
        if not entry.obsolete:
            assert Text.of(entry) not in listed, "in two files"
            listed[Text.of(entry)] = part
    wanted = all_texts()
    assert listed == wanted, f"python -m tests.unit.catalogue: {set(listed.items()) ^ set(wanted.items())}"


@pytest.mark.parametrize("language", FOLDERS)
def test_few_texts_are_not_translated(language):
    missing = [
        entry.msgid
        for _, entry in entries(LOCALE / language)
        if not entry.translated() and not entry.obsolete
    ]
    assert len(missing) <= UNTRANSLATED, "\n".join(missing)


@pytest.mark.parametrize("language", FOLDERS)
def test_translations_have_the_places_and_lines_of_their_texts(language):
    wrong = []
    for _, entry in entries(LOCALE / language):
        originals = [entry.msgid, entry.msgid_plural] if entry.msgid_plural else [entry.msgid]
        for said in filter(None, (entry.msgstr, *entry.msgstr_plural.values())):
            places = set().union(*map(_places, originals))
            bad_place = _places(said) not in (places, places - {"n"} if entry.msgid_plural else places)
            bad_signs = clean(said) != said
            if bad_place or bad_signs or entry.fuzzy or said.count("\n") != entry.msgid.count("\n"):
                wrong.append((entry.msgid, said))
    assert wrong == []


def _places(text: str) -> set[str]:
    """Return the named places of a text; braces that are none of them are text."""
    try:
        return {name for _, name, spec, _ in Formatter().parse(text) if name is not None and (name or spec)}
    except ValueError:
        return set(re.findall(r"\{\w+\}", text))


@pytest.mark.parametrize("language", FOLDERS)
def test_a_text_has_one_translation(language):
    said: dict[Text, set[str]] = {}
    for _, entry in entries(LOCALE / language):
        if entry.translated():
            said.setdefault(Text.of(entry), set()).add(f"{entry.msgstr}{entry.msgstr_plural}")
    assert {text: found for text, found in said.items() if len(found) > 1} == {}


def test_only_literals_are_marked():
    """A text that is put together at run time is not found in a catalog."""
    found = []
    for path, nodes in sources.modules().items():
        for name, arguments in marked(nodes):
            table = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
            if not all(
                isinstance(
                    one, (ast.Constant, *table) if name in ("_", "message", "c_message") else ast.Constant
                )
                for one in arguments
            ):
                found.append(f"{path}:{arguments[0].lineno}")
    assert found == []


def _values_called(table: symtable.SymbolTable) -> Iterator[int]:
    """Yield the lines of functions in which `_` is a value of a function around them."""
    for inner in table.get_children():
        if inner.get_type() == "function" and "_" in inner.get_identifiers() and inner.lookup("_").is_free():
            yield inner.get_lineno()
        yield from _values_called(inner)


def test_no_value_hides_the_function_that_translates():
    """A function in another one, in which `_` is a value, would call that value. mypy does not see it."""
    found = []
    for path in (path for path in sources.modules() if path.startswith("tui/")):
        text = (sources.ROOT / path).read_text(encoding="utf-8")
        found += [f"{path}:{line}" for line in _values_called(symtable.symtable(text, path, "exec"))]
    assert found == []


def unmarked() -> dict[str, list[str]]:
    """Return the texts of several words in modules of screens that are not marked."""
    known = {text for one in all_texts() for text in (one.text, one.plural)}
    found = {}
    for path, nodes in sources.modules().items():
        if _is_screen(path, nodes):
            styles = {node.value.value for node in nodes if _is_css(node)}
            rest = [text for text in literals(nodes) if text not in known | styles]
            if rest:
                found[path] = rest
    return found


def _is_css(node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
        return False
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return isinstance(target, ast.Name) and target.id.endswith("CSS")


def _is_screen(path: str, nodes: list[ast.AST]) -> bool:
    if path.startswith("tui/ui/platform/"):
        return False
    return path.startswith("tui/ui/") or (
        path.startswith("tui/addons/")
        and any(
            isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual") for node in nodes
        )
    )


def test_few_texts_of_screens_are_not_marked():
    found = unmarked()
    count = sum(map(len, found.values()))
    assert count <= UNMARKED, "\n".join(f"{path}: {text}" for path, rest in found.items() for text in rest)


def test_the_files_are_brought_up_to_date_without_losing_a_translation(tmp_path):
    stop, tools = Text("Stop"), Text("{n} tool", "{n} tools")
    catalogue.update(tmp_path, {stop: "keys", tools: "chat"})
    path = tmp_path / "keys.po"
    path.write_text(path.read_text("utf-8").replace('"Stop"\nmsgstr ""', '"Stop"\nmsgstr "停止"'), "utf-8")
    catalogue.update(tmp_path, {tools: "chat"})
    assert '#~ msgid "Stop"\n#~ msgstr "停止"' in path.read_text("utf-8")
    catalogue.update(tmp_path, {stop: "chat", tools: "chat"})
    found = {entry.msgid: (part, entry.msgstr) for part, entry in entries(tmp_path) if not entry.obsolete}
    assert found == {"Stop": ("chat", "停止"), "{n} tool": ("chat", "")}
