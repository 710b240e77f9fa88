"""The tree keeps its shape: small files, and tests that stand where their module does."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_file_is_too_long_to_be_read_in_one_go():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / "tui").rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert long == {}


def test_every_unit_test_stands_where_its_module_does():
    strays = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests" / "unit").glob("*/**/test_*.py")
        if not (
            ROOT / "tui" / path.relative_to(ROOT / "tests" / "unit").parent / path.name.removeprefix("test_")
        ).exists()
    ]
    assert strays == []


def test_every_module_docstring_is_there():
    bare = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tui").rglob("*.py")
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert bare == []
