"""Regular expressions are searched by a process that can be ended at any moment."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import wait_until
from tui.core.text import composed
from tui.core.traffic import BodyTerm
from tui.storage.recordings.regex_process import RegexProcess

ENDLESS = BodyTerm(r"\w+\w+\w+@", regex=True)
LETTERS = b"a" * 200_000
EASY = BodyTerm(r"b[0-9]c", regex=True)
ANY = st.characters(exclude_categories=[])


@contextmanager
def process(**more) -> Iterator[RegexProcess]:
    with closing(RegexProcess(threading.Event(), **more)) as made:
        yield made


def endless_search(regexes: RegexProcess, found: list) -> threading.Thread:
    """Begin a search that would never end; return its thread once the process is at it."""
    thread = threading.Thread(target=lambda: found.append(regexes.search([ENDLESS], [1], [LETTERS])))
    thread.start()
    wait_until(lambda: regexes.pid and psutil.Process(regexes.pid).cpu_times().user > 0.1)
    return thread


def test_nothing_is_started_before_the_first_search():
    with process() as regexes:
        assert regexes.pid is None


@given(
    bodies=st.lists(st.text(ANY, max_size=30), max_size=8),
    parts=st.lists(st.text(ANY, min_size=1, max_size=2)),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_finds_what_python_finds(started: RegexProcess, bodies: list[str], parts: list[str]):
    terms = [BodyTerm(re.escape(part) + "|^x", regex=True, fold=fold) for part in parts for fold in (0, 1)]
    seqs = list(range(5, 5 + len(bodies)))
    assert started.search(terms, seqs, [body.encode("utf-8", "surrogatepass") for body in bodies]) == [
        [
            seq
            for seq, body in zip(seqs, bodies, strict=True)
            if re.search(composed(term.needle), body, re.I if term.fold else 0)
        ]
        for term in terms
    ]


@pytest.fixture
def started() -> Iterator[RegexProcess]:
    with process() as regexes:
        regexes.search([EASY], [1], [b""])
        yield regexes


def test_one_process_answers_all_searches(started: RegexProcess):
    pid = started.pid
    assert started.search([EASY], [7, 8], [b"b1c", b"bc"]) == [[7]]
    assert started.search([ENDLESS, EASY], [7, 8], [b"ab@", b"B2C"]) == [[], [8]]
    assert started.pid == pid and not started.problem


def test_a_body_that_takes_too_long_is_given_up_and_no_other():
    with process(body_seconds=0.3) as regexes:
        bodies = [b"abc@", LETTERS, b"xyz@"]
        assert regexes.search([ENDLESS], [1, 2, 3], bodies) == [[1, 3]]
        assert regexes.problem == "not searched, the regular expression takes too long: entry 2"
        began = time.monotonic()
        assert regexes.search([ENDLESS], [1, 2, 3], bodies) == [[1, 3]]
        assert time.monotonic() - began < 0.25, "what was given up is not tried again"
        assert regexes.search([EASY], [2], [b"b1c"]) == [[2]]
        assert not regexes.problem


def test_the_screen_has_its_turn_during_a_match_that_never_ends(started: RegexProcess):
    found: list = []
    thread = endless_search(started, found)
    longest, until = 0.0, time.monotonic() + 0.3
    while (began := time.monotonic()) < until:
        threading.Event().wait(0.001)
        longest = max(longest, time.monotonic() - began)
    started._stop.set()
    began = time.monotonic()
    started.interrupt()
    thread.join(5)
    assert time.monotonic() - began < 0.2 and found == [[[]]]
    assert longest < 0.1


def test_after_an_interrupt_the_next_search_starts_anew(started: RegexProcess):
    found: list = []
    thread = endless_search(started, found)
    started._stop.set()
    started.interrupt()
    thread.join(5)
    started._stop.clear()
    assert started.pid is None and not started.problem
    assert started.search([EASY], [1], [b"b1c"]) == [[1]]


def test_an_interrupt_between_searches_ends_no_process(started: RegexProcess):
    pid = started.pid
    started.interrupt()
    assert started.search([EASY], [1], [b"b1c"]) == [[1]] and started.pid == pid


def test_a_process_that_somebody_killed_is_replaced(started: RegexProcess):
    assert started.pid is not None
    os.kill(started.pid, signal.SIGKILL)
    wait_until(lambda: started.pid is None or psutil.Process(started.pid).status() == psutil.STATUS_ZOMBIE)
    assert started.search([EASY], [1], [b"b1c"]) == [[1]]
    assert not started.problem


def test_it_is_gone_when_it_is_closed(started: RegexProcess):
    pid = started.pid
    assert pid is not None
    started.close()
    assert not psutil.pid_exists(pid) and started.pid is None


def test_it_inherits_neither_descriptors_nor_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with (tmp_path / "open").open("w") as file, process() as regexes:
        os.set_inheritable(file.fileno(), True)
        regexes.search([EASY], [1], [b""])
        child = psutil.Process(regexes.pid)
        assert child.open_files() == [] and child.num_fds() == 3
        assert "SOME_API_KEY" not in child.environ()
        assert os.getpgid(child.pid) == child.pid


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends with its timer")
def test_it_dies_with_us_in_the_middle_of_a_match(tmp_path: Path):
    code = (
        "import sys, threading; sys.path.insert(0, sys.argv[1])\n"
        "from tests.unit.storage.recordings.test_regex_process import *\n"
        "regexes = RegexProcess(threading.Event())\n"
        "thread = endless_search(regexes, []); print(regexes.pid, flush=True); thread.join()"
    )
    root = Path(__file__).parents[4]
    host = subprocess.Popen([sys.executable, "-c", code, root], stdout=subprocess.PIPE, cwd=tmp_path)
    with host:
        assert host.stdout is not None
        worker = psutil.Process(int(host.stdout.readline()))
        host.kill()
    wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE, 2)


@pytest.mark.parametrize("python", ["", "/nowhere/python", "/bin/false"])
def test_where_nothing_can_be_started_bodies_are_searched_in_pieces(python: str):
    with process(python=python) as regexes:
        long = b"." * 1500 + b"b1c" + b"." * 5000
        assert regexes.search([EASY], [1, 2, 3], [b"b1c", b"", long]) == [[1, 3]]
        assert regexes.problem.startswith("searched only in pieces, no process could be started (")
        assert regexes.search([EASY], [4], [b"b1c"]) == [[4]]


def test_it_works_from_a_folder_that_holds_nothing_but_the_package(tmp_path: Path):
    """As installed from a wheel: no checkout, no working directory, no variables of Python."""
    packages = tmp_path / "site-packages"
    source = Path(__file__).parents[4] / "tui"
    for name in ("__init__.py", "core", "storage"):
        target = packages / "tui" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source / name)
    code = (
        f"import sys, threading; sys.path.append({str(packages)!r})\n"
        "from tui.core.traffic import BodyTerm\n"
        "from tui.storage.recordings.regex_process import RegexProcess\n"
        "made = RegexProcess(threading.Event())\n"
        "print(made.search([BodyTerm('b.c', True)], [3], [b'abcc']), made.problem); made.close()"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd="/", capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[[3]]", "")
