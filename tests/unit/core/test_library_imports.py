"""Libraries are imported without some of their parts (here, a package written by the test), one at a time."""

import gc
import sys
import threading

import pytest

from tests.programs import ROOT, printed_by
from tui.core.library_imports import collector_paused, enable_collector, importing

LOAD = """
import sys
from tui.core.library_imports import import_without
import_without("desk", ["desk.drawers"])
"""


@pytest.fixture
def desk(tmp_path):
    """Return variables that add a package `desk`, whose part `drawers` says that it is loaded."""
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
    return {"PYTHONPATH": f"{ROOT}:{tmp_path}"}


def test_an_omitted_part_is_never_loaded(desk):
    assert printed_by(f"{LOAD}print(sys.modules.keys() & {{'desk', 'desk.drawers'}})", **desk) == "{'desk'}"


def test_capitalized_names_become_empty_classes_and_others_modules(desk):
    code = f"{LOAD}import desk\nprint(type(desk.Upper).__name__, desk.shapes.__name__)"
    assert printed_by(code, **desk) == "type desk.drawers.shapes"


def test_a_later_import_gets_the_real_class(desk):
    code = f"{LOAD}from desk.drawers import Upper\nimport desk\nprint(Upper is desk.Upper)"
    assert printed_by(code, **desk) == "loaded\nFalse"


def test_with_whole_libraries_requested_the_complete_library_is_loaded(desk):
    code = f"{LOAD}print('desk.drawers.lower' in sys.modules)"
    assert printed_by(code, **desk, MCPTUI_WHOLE_LIBRARIES="1") == "loaded\nTrue"


def test_a_library_that_is_already_imported_is_unchanged(desk):
    first = "import desk, desk.drawers\nbefore = desk.drawers\n"
    code = f"{first}{LOAD}print(sys.modules['desk.drawers'] is before)"
    assert printed_by(code, **desk) == "loaded\nTrue"


def test_a_library_that_fails_with_empty_classes_is_loaded_completely(desk, tmp_path):
    with (tmp_path / "desk" / "__init__.py").open("a") as package:
        package.write(
            "Upper.size = Upper.size if hasattr(Upper, 'size') else 1 / (Upper.__mro__[1] is object)\n"
        )
    code = f"{LOAD}print('desk.drawers' in sys.modules)"
    assert printed_by(code, **desk).endswith("loaded\nTrue")


CHURNING = """
import sys, threading

def churn():
    names = [f"churn{number}" for number in range(1000)]
    while not over.is_set():
        for name in names:
            sys.modules[name] = sys
        for name in names:
            del sys.modules[name]

over = threading.Event()
sys.setswitchinterval(1e-6)
sys.modules.update(dict.fromkeys((f"many{number}" for number in range(50_000)), sys))
threading.Thread(target=churn).start()
try:
    from tui.core.library_imports import import_without
    import_without("desk", ["desk.drawers"])
finally:
    over.set()
print('desk' in sys.modules)
"""


def test_modules_imported_by_other_threads_do_not_cause_the_whole_library_to_load(desk):
    assert printed_by(CHURNING, **desk) == "True"


AT_ONCE = """
import threading
from tui.core.library_imports import import_without

def load():
    ready.wait()
    found.add(import_without("desk", ["desk.drawers"]))

ready, found = threading.Barrier(8), set()
threads = [threading.Thread(target=load) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(found))
"""


def test_threads_that_load_a_library_at_once_share_one_load(desk):
    assert printed_by(AT_ONCE, **desk) == "1"


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


LATE = """
import dataclasses
from tui.core.library_imports import compile_methods_late
compile_methods_late()

@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: object = None

@dataclasses.dataclass
class Box:
    size: int
"""

SAID = """
import copy, inspect, pickle

def said(ask):
    try:
        return ask()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

a, b, c = Point(1, 2), Point(1, 2), Point(3)
box = Box(1)
loop = Box(1)
loop.size = loop
box.size = 5
for ask in (
    lambda: (a == b, a == c, a != b, a == (1, 2), a.__eq__(3), hash(a) == hash(b), len({a, b, c})),
    lambda: repr((a, c, box, loop)),
    lambda: setattr(a, "x", 2),
    lambda: setattr(a, "z", 2),
    lambda: delattr(a, "y"),
    lambda: hash(Point([])),
    lambda: hash(box),
    lambda: (box == Box(5), dataclasses.replace(a, x=7), dataclasses.asdict(a), copy.copy(a)),
    lambda: (str(inspect.signature(Point)), Point.__doc__, Point.__repr__.__qualname__),
    lambda: Point(1, 2) < Point(1, 3),
    lambda: pickle.loads(pickle.dumps(a)) == a,
    lambda: Point.__hash__.__qualname__,
    lambda: Point.__dataclass_params__,
):
    print(said(ask))
    print(said(ask))
"""

late_only = pytest.mark.skipif(sys.version_info >= (3, 13), reason="these compile all methods at once")


def test_late_compiled_dataclasses_behave_like_ordinary_ones():
    at_once = printed_by(LATE + SAID, MCPTUI_WHOLE_LIBRARIES="1")
    assert "FrozenInstanceError: cannot assign to field 'x'" in at_once
    assert printed_by(LATE + SAID) == at_once


@late_only
def test_a_method_is_compiled_and_replaced_on_its_first_call():
    code = f"{LATE}before = Point.__hash__\nhash(Point(1))\nprint(Point.__hash__ is before)\n"
    again = "before = Point.__hash__\nhash(Point(1))\nprint(Point.__hash__ is before)\n"
    assert printed_by(code + again) == "False\nTrue"


def test_with_whole_libraries_requested_methods_are_compiled_at_once():
    code = f"{LATE}before = Point.__hash__\nhash(Point(1))\nprint(Point.__hash__ is before)\n"
    assert printed_by(code, MCPTUI_WHOLE_LIBRARIES="1") == "True"


def test_a_python_without_the_replaced_parts_is_unchanged():
    code = f"import dataclasses\nvars(dataclasses).pop('_create_fn', None)\n{LATE.partition('@')[0]}"
    assert printed_by(f"{code}print(hasattr(dataclasses, '_create_fn'))") == "False"


@late_only
def test_this_python_has_the_replaced_internals():
    """Seen with Python 3.11 and 3.12."""
    assert printed_by("import dataclasses\nprint(dataclasses._create_fn.__name__)") == "_create_fn"
