"""What a server crashed with, in the words of its output."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.traffic.explain.crash import last_words, may_be_in_use

PLAIN = """\
starting
Traceback (most recent call last):
  File "/srv/weather.py", line 26, in helper
    return a / b
           ~~^~~
ZeroDivisionError: division by zero

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/v/lib/python3.11/site-packages/mcp/tools/base.py", line 213, in run
    raise UnexpectedToolError(name) from error
mcp.UnexpectedToolError: Error executing tool divide
INFO: next request"""

LIBRARY = """\
Traceback (most recent call last):
  File "/srv/weather.py", line 9, in fetch
    httpx.get(url)
  File "/v/lib/python3.11/site-packages/httpx/_api.py", line 195, in get
    raise ConnectError(message)
httpx.ConnectError: All connection attempts failed"""

GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/srv/weather.py", line 10, in <module>
  |     raise ExceptionGroup("many", errors)
  | ExceptionGroup: many (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/weather.py", line 6, in load
    |     raise KeyError("no")
    | KeyError: 'no'"""

BOXES = """\
[11/29/26 10:44:39] ERROR    Tool 'divide' raised an      server.py:455
                             ╭─ Traceback (most recent ──────╮
                             │ /v/lib/python3.11/site-packag │
                             │ es/anyio/to_thread.py:65 in   │
                             │ run_sync                      │
                             │                               │
                             │   64                          │
                             │ ❱ 65 │   return await get_asy │
                             │                               │
                             │ /srv/weather.py:26 in helper  │
                             │                               │
                             │ ❱ 26 │   return a / b         │
                             ╰───────────────────────────────╯
                             ValueError: the denominator
                             is 0

                             The above exception was the
                             direct cause of the following
                             exception:

                             ╭─ Traceback (most recent ──────╮
                             │ /v/site-packages/mcp/base.py: │
                             │ 213 in run                    │
                             │                               │
                             │ ❱ 213 │   raise UnexpectedToo │
                             ╰───────────────────────────────╯
                             UnexpectedToolError: Error
                             executing tool divide
                    ERROR    next record"""

NODE = """\
failed: TypeError: x is not a function
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
    at boom (file:///srv/weather.js:1:24)
    at Object.<anonymous> (/srv/weather.js:2:7)"""


@each_case(
    ("output", "words"),
    [
        (
            PLAIN,
            ["ZeroDivisionError: division by zero", "at /srv/weather.py:26 in helper", "INFO: next request"],
        ),
        (LIBRARY, ["httpx.ConnectError: All connection attempts failed", "at /srv/weather.py:9 in fetch"]),
        (GROUP, ["KeyError: 'no'", "at /srv/weather.py:6 in load"]),
        (
            BOXES,
            [
                "ValueError: the denominator is 0",
                "at /srv/weather.py:26 in helper",
                "                    ERROR    next record",
            ],
        ),
        (NODE, ["failed: TypeError: x is not a function", "at /srv/weather.js:1 in boom"]),
    ],
)
def test_a_crash_is_told_in_the_words_of_its_author_s_exception(output: str, words: list[str]):
    assert last_words(output.split("\n")) == words


def test_a_crash_without_a_frame_of_the_author_has_no_place():
    plain = PLAIN.replace("/srv/", "/v/site-packages/").split("\n")
    assert last_words(plain)[0] == "ZeroDivisionError: division by zero"
    assert not any(line.startswith("at ") for line in last_words(plain))


def test_the_last_of_several_crashes_counts():
    assert last_words(f"{PLAIN}\n{LIBRARY}".split("\n"))[0].startswith("httpx.ConnectError")


@pytest.mark.parametrize("output", ["", "a\n\nb", PLAIN.rpartition("\nZero")[0], BOXES[:800]])
def test_without_a_whole_crash_the_last_lines_stay(output: str):
    assert last_words(output.split("\n")) == [line for line in output.split("\n") if line][-5:]


PIECES = st.sampled_from(
    [*{line for one in (PLAIN, GROUP, BOXES, NODE) for line in one.split("\n")}, "│", "╰─╯"]
)


@settings(max_examples=20)
@given(st.lists(PIECES, max_size=40))
def test_any_order_of_lines_is_read(lines: list[str]):
    assert len(last_words(lines)) <= 5


@each_case(
    ("code", "log", "expected"),
    [
        (1, [], False),
        (1, ["GREETING is not set"], False),
        (1, ["pidfile exists, quitting"], True),
        (0, ["listening on 127.0.0.1:8000 failed"], True),
        (None, [], False),
        (127, ["sh: nosuch: not found"], False),
        (2, ["python: can't open file 'server.py': [Errno 2] No such file or directory"], False),
        (1, ["./main.go:5:2: undefined: x"], False),
        (101, [" --> src/main.rs:3:5"], False),
        (255, ["PHP Parse error: syntax error in server.php on line 3"], False),
        (1, ["Traceback (most recent call last):", '  File "a.py", line 1', "KeyError: 1"], False),
    ],
)
def test_a_failure_without_a_cause_may_be_something_in_use(code: int | None, log: list[str], expected: bool):
    assert may_be_in_use(code, log) is expected
