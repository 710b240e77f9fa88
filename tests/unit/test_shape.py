"""The shape of the tree: small files, and tests that mirror their modules."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_file_is_too_long():
    long = {
        str(path.relative_to(ROOT)): lines
        for room in ("tui", "tests")
        for path in (ROOT / room).rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert long == {}


def test_every_unit_test_mirrors_the_folder_of_its_module():
    """`test_loop.py` and `test_loop_saved.py` are both about `loop.py`."""
    unit = ROOT / "tests" / "unit"
    strays = []
    for path in unit.glob("*/**/test_*.py"):
        modules = {found.stem for found in (ROOT / "tui" / path.relative_to(unit).parent).glob("*.py")}
        name = path.stem.removeprefix("test_")
        if not any(name == module or name.startswith(f"{module}_") for module in modules):
            strays.append(str(path.relative_to(ROOT)))
    assert strays == []


def test_every_module_has_a_docstring():
    bare = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tui").rglob("*.py")
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert bare == []


def test_no_group_is_repeated_possessively():
    """Python 3.11.0 to 3.11.2 keep the match of the last, failed repetition of such a group."""
    possessive = re.compile(r"\(\?:.*[^\\]\)[*+?]\+")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "tui").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if possessive.search(line)
    ]
    assert found == []
