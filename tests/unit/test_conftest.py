"""What the hooks of all tests do: workers that are forks."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.workers import is_shown

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pytest-xdist starts workers")

EIGHTY_TESTS = """
import os, subprocess, sys, warnings
import pytest

@pytest.mark.parametrize("number", range(80))
def test_it(number, tmp_path):
    print(f"shown by {number}")
    subprocess.run([sys.executable, "-c", f"print('shown by a program of {number}')"], check=True)
    if number == 40:
        os._exit(7)
    assert number % 30 != 5
"""


def ran(folder: Path, code: str, *options: str) -> str:
    """Return what pytest prints about some tests."""
    (folder / "test_some.py").write_text(code)
    (folder / "conftest.py").write_text(
        "from tests.conftest import pytest_cmdline_main, pytest_unconfigure\n"
    )
    command = [sys.executable, "-m", "pytest", f"--basetemp={folder / 'temporary'}", *options]
    done = subprocess.run(
        [*command, f"--rootdir={folder}", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        env={"PYTHONPATH": str(ROOT)},
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def eighty_tests(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ran(tmp_path_factory.mktemp("eighty"), EIGHTY_TESTS, "-n", "3", "-p", "no:cacheprovider")


def test_each_test_runs_in_some_worker(eighty_tests: str):
    assert "4 failed, 76 passed" in eighty_tests


def test_a_worker_that_crashes_is_named_by_its_test_and_replaced(eighty_tests: str):
    assert "test_it[40]" in eighty_tests and "the worker ended with 7" in eighty_tests


@pytest.mark.parametrize("number", [5, 35, 65])
def test_what_a_failed_test_and_its_programs_print_is_shown_and_nothing_else(eighty_tests: str, number: int):
    assert eighty_tests.count(f"shown by {number}\n") == 1
    assert eighty_tests.count(f"shown by a program of {number}\n") == 1
    assert eighty_tests.count("shown by ") == 2 * 6


def test_after_the_first_failure_no_more_are_given(tmp_path: Path):
    said = ran(
        tmp_path,
        "import pytest\n@pytest.mark.parametrize('n', range(500))\ndef test_it(n): assert 0",
        "-n2",
        "-x",
    )
    assert "stopping after" in said and " passed" not in said


def test_a_worker_that_cannot_begin_fails_the_run(tmp_path: Path):
    code = "import os, pytest\nos.register_at_fork(after_in_child=lambda: os._exit(3))\ndef test_it(): pass"
    assert "1 tests were not run" in ran(tmp_path, code, "-n2")


def test_a_worker_that_ends_in_the_middle_of_a_message_is_named_by_its_test(tmp_path: Path):
    code = """
import os
from tests.workers import Sending

def test_it(request):
    plugins = request.config.pluginmanager.get_plugins()
    sending = next(one for one in plugins if isinstance(one, Sending))
    os.write(sending._connection.fileno(), b"\\0\\0\\1\\0half of it")
    os._exit(4)

def test_another(): pass
"""
    said = ran(tmp_path, code, "-n2")
    assert "the worker ended with 4" in said and "1 failed, 1 passed" in said


def test_a_worker_that_fails_after_its_last_test_fails_the_run(tmp_path: Path):
    code = """
import os

def test_it():
    leave = os._exit
    os._exit = lambda status: leave(9)
"""
    assert "0 tests were not run; the worker ended with 9" in ran(tmp_path, code, "-n2")


def test_the_fixtures_of_an_interrupted_worker_are_torn_down(tmp_path: Path):
    code = """
import pathlib, pytest

@pytest.fixture(scope="session")
def program():
    yield
    pathlib.Path(__file__).with_name("torn down").touch()

def test_it(program): raise KeyboardInterrupt
"""
    assert "1 failed" in ran(tmp_path, code, "-n2")
    assert (tmp_path / "torn down").exists()


@pytest.mark.parametrize(
    ("when", "outcome", "shown"),
    [
        ("setup", "passed", False),
        ("setup", "skipped", True),
        ("setup", "failed", True),
        ("call", "passed", True),
        ("call", "failed", True),
        ("teardown", "passed", False),
        ("teardown", "failed", True),
    ],
)
def test_only_a_phase_that_is_shown_or_counted_is_reported(when: str, outcome: str, shown: bool):
    report = cast(Any, SimpleNamespace(when=when, outcome=outcome))
    assert is_shown(report, SimpleNamespace(verbose=-1, durations=None, xmlpath=None)) is shown


@pytest.mark.parametrize(
    "option", [{"verbose": 1}, {"verbose": -1, "durations": 0}, {"verbose": -1, "xmlpath": "a.xml"}]
)
def test_each_phase_is_reported_where_all_are_shown(option: dict[str, Any]):
    report = cast(Any, SimpleNamespace(when="setup", outcome="passed"))
    assert is_shown(report, SimpleNamespace(**{"durations": None, "xmlpath": None} | option))
