"""A library is imported without some of its parts; here, a package written by the test."""

import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tui.core.library_imports import collector_paused, enable_collector, importing

ROOT = Path(__file__).parents[3]

LOAD = """
import sys
from tui.core.library_imports import import_without
import_without("desk", ["desk"], ["desk.drawers"])
"""


def printed_by(code: str, folder: Path = ROOT, **env: str) -> str:
    """Return the output of a fresh interpreter that can import from a folder."""
    path = {"PYTHONPATH": f"{ROOT}:{folder}"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=path | env, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def desk(tmp_path):
    """Return the folder of a package `desk`, whose part `drawers` prints a line when it is loaded."""
    (tmp_path / "desk" / "drawers").mkdir(parents=True)
    (tmp_path / "desk" / "__init__.py").write_text(
        "from desk.drawers import Upper, shapes\n"
        "from desk.drawers.lower import Lower\n"
        "class Handle(Lower[int]): pass\n"
    )
    (tmp_path / "desk" / "drawers" / "__init__.py").write_text("print('loaded')\nclass Upper: pass\n")
    (tmp_path / "desk" / "drawers" / "shapes.py").write_text("")
    (tmp_path / "desk" / "drawers" / "lower.py").write_text(
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Lower(Generic[T]): pass\n"
    )
    return tmp_path


def test_an_omitted_part_is_never_loaded(desk):
    assert printed_by(f"{LOAD}print(sys.modules.keys() & {{'desk', 'desk.drawers'}})", desk) == "{'desk'}"


def test_capitalized_names_become_empty_classes_and_others_modules(desk):
    code = f"{LOAD}import desk\nprint(type(desk.Upper).__name__, desk.shapes.__name__)"
    assert printed_by(code, desk) == "type desk.drawers.shapes"


def test_a_later_import_gets_the_real_class(desk):
    code = f"{LOAD}from desk.drawers import Upper\nimport desk\nprint(Upper is desk.Upper)"
    assert printed_by(code, desk) == "loaded\nFalse"


def test_with_whole_libraries_requested_the_complete_library_is_loaded(desk):
    code = f"{LOAD}print('desk.drawers.lower' in sys.modules)"
    assert printed_by(code, desk, MCPTUI_WHOLE_LIBRARIES="1") == "loaded\nTrue"


def test_a_library_that_is_already_imported_is_unchanged(desk):
    first = "import desk, desk.drawers\nbefore = desk.drawers\n"
    code = f"{first}{LOAD}print(sys.modules['desk.drawers'] is before)"
    assert printed_by(code, desk) == "loaded\nTrue"


def test_a_library_that_fails_with_empty_classes_is_loaded_completely(desk):
    with (desk / "desk" / "__init__.py").open("a") as package:
        package.write(
            "Upper.size = Upper.size if hasattr(Upper, 'size') else 1 / (Upper.__mro__[1] is object)\n"
        )
    code = f"{LOAD}print('desk.drawers' in sys.modules)"
    assert printed_by(code, desk).endswith("loaded\nTrue")


AN_IMPORT_MEANWHILE = """
import importlib, sys, threading
from tui.core.library_imports import replaced
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class Holding(MetaPathFinder):
    # Stops the import of `colorsys` just before it reaches the finder that finds it.
    def find_spec(self, name, path, target=None):
        if name == "colorsys":
            searching.set()
            assert loaded.wait(30)
        return None

def search():
    try:
        importlib.import_module("colorsys")
        print("found")
    except ImportError as error:
        print(error)

searching, loaded = threading.Event(), threading.Event()
other = threading.Thread(target=search)
sys.meta_path.insert(sys.meta_path.index(PathFinder), Holding())
with replaced(["none.such"]):
    other.start()
    assert searching.wait(30)
loaded.set()
other.join()
"""


def test_a_simultaneous_import_in_another_thread_finds_its_module():
    assert printed_by(AN_IMPORT_MEANWHILE) == "found"


@pytest.fixture(autouse=True)
def _enabled():
    yield
    gc.enable()


def test_the_collector_remains_off_until_the_last_pause_ends():
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_disabled_collector_remains_off_after_a_pause():
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_enabling_the_collector_during_a_pause_takes_effect_at_the_end():
    gc.disable()
    with collector_paused():
        enable_collector()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_second_thread_waits_until_the_first_has_finished():
    order: list[str] = []

    def second() -> None:
        with importing():
            order.append("second")

    with importing():
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_imports_may_nest_in_one_thread():
    with importing(), importing():
        assert not gc.isenabled()
    assert gc.isenabled()
