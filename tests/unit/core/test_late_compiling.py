"""Methods of dataclasses and patterns are compiled on first use."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tui.core.late_compiling import late

ROOT = Path(__file__).parents[3]

LATE = """
import dataclasses
from tui.core.late_compiling import compile_methods_late
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


def printed_by(code: str, **env: str) -> str:
    """Return the output of a fresh interpreter; this one has already imported dataclasses."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("MCPTUI_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=known | env, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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


def test_a_pattern_is_compiled_on_first_use():
    broken = late("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_a_late_compiled_pattern_behaves_like_an_ordinary_one():
    text, raw = late(r"(?P<word>b+)", re.IGNORECASE), late(rb"b+")
    assert [text.sub("_", "aBbc") for _ in range(2)] == ["a_c", "a_c"]
    found = text.search("aBbc")
    assert found is not None and found["word"] == "Bb"
    assert text.pattern == r"(?P<word>b+)" and raw.findall(b"abbc") == [b"bb"]


def test_patterns_for_failures_and_questions_are_not_compiled_at_startup():
    code = (
        "import re, sys\n"
        "made, compiled = [], re._compiler.compile\n"
        "def noting(pattern, *more):\n"
        "    frame = sys._getframe(1)\n"
        "    while frame.f_globals['__name__'] == 're':\n"
        "        frame = frame.f_back\n"
        "    made.append(frame.f_globals['__name__'])\n"
        "    return compiled(pattern, *more)\n"
        "re._compiler.compile = noting\n"
        "import tui.addons.demo.demo, tui.model.endpoints.endpoint_errors, tui.storage.exports.markdown\n"
        "late = 'demo.demo', 'demo_choice', 'endpoint_errors', 'failures', 'shapes'\n"
        "print([name for name in made if name.startswith('tui') and name.endswith(late)])"
    )
    assert printed_by(code) == "[]"
