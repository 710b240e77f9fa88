"""Fixtures for every test: a check for leaks, and a separate home folder."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType

import hypothesis
import psutil
import pytest
from hypothesis.internal.conjecture import providers

from tests.terminal.forking_python import APP, COMMANDS, SDK, Forks, Python, forking_python

FD_DIR = "/proc/self/fd"

# The suite must finish within minutes and use the same examples for every change.
# `pytest --hypothesis-profile=search` searches for new ones.
hypothesis.settings.register_profile(
    "suite",
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # as it is on a busy machine
)
hypothesis.settings.register_profile("search", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("suite")

# `mcptui test` would report its failures to the job that runs the tests.
os.environ.pop("GITHUB_ACTIONS", None)

# Tests start hundreds of programs, and compiled modules save each of them half a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# Child processes inherit ignored signals: SIGINT is ignored in a shell's background job, SIGHUP under nohup.
# A signal with a handler is reset to its default action in them. SIGINT must raise here, as it does in the
# foreground: a test of ctrl+c would run until its timeout.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda *_: None)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

MOST_WORKERS = 8
POLL_SECONDS = 0.01
"""How often a condition is looked at: six workers on two cores wait most of the time."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of workers for `-n auto`: four more than CPUs, since tests wait a lot."""
    return min(MOST_WORKERS, (os.cpu_count() or 1) + 4)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the objects of collected tests, which live to the end, from every garbage collection.

    Also keep hypothesis from trying the constants of all loaded modules: examples would differ after every
    change, and each worker would read every module for them.
    """
    if hypothesis.settings.get_current_profile_name() == "suite":
        providers.is_local_module_file = lambda path: False  # type: ignore[assignment]
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(30_000, 20, 20)


def _descriptors() -> set[str]:
    """Return the numbers of all open descriptors, or none if the system cannot list them."""
    try:
        return set(os.listdir(FD_DIR))
    except FileNotFoundError:
        return set()


def _children(of: set[int]) -> set[int]:
    """Return the ids of all descendants of some processes."""
    if not os.path.exists("/proc/self/task"):
        there = [psutil.Process(pid) for pid in of if psutil.pid_exists(pid)]
        return {child.pid for process in there for child in process.children(recursive=True)}
    found: set[int] = set()
    unread = list(of)
    while unread:
        tasks = f"/proc/{unread.pop()}/task"
        lists = []
        try:
            for task in os.listdir(tasks):
                with open(f"{tasks}/{task}/children", "rb", buffering=0) as children_of_task:
                    lists.append(children_of_task.read())
        except OSError:  # the process has just ended
            continue
        children = {int(pid) for pids in lists for pid in pids.split()}
        unread += children - found
        found |= children
    return found


def _leaked_descriptors(before: set[str]) -> list[str]:
    found = []
    for number in sorted(_descriptors() - before):
        with contextlib.suppress(OSError):  # already closed, like the descriptor of the listing itself
            target = os.readlink(f"{FD_DIR}/{number}")
            if "pipe" in target or "socket" in target or "ptmx" in target:
                found.append(f"{number} -> {target}")
    return found


def wait_until(condition: Callable[[], object], seconds: float = 30.0, what: str = "") -> None:
    """Wait for a condition that other threads or processes fulfil; fail with `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what or condition}")
        threading.Event().wait(POLL_SECONDS)


async def until(condition: Callable[[], object], seconds: float = 30.0, what: str = "") -> None:
    """Wait for a condition while the event loop runs; fail with `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what or condition}")
        await asyncio.sleep(POLL_SECONDS)


@contextlib.contextmanager
def refusing_port() -> Iterator[int]:
    """Yield a local port that refuses connections and that no other process can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="session")
def shared_processes() -> set[int]:
    """Return the ids of processes that serve several tests. The fixtures that start them add them.

    `nothing_left_behind` cannot rely on its list of children for them: the kernel may omit some from the list
    while another child exits.
    """
    return set()


@pytest.fixture(scope="session")
def forks(shared_processes: set[int]) -> Iterator[Forks]:
    """Return a Python that starts programs as forks of a process that has imported what they need."""
    with forking_python(*APP, *COMMANDS, *SDK) as forks:
        shared_processes.add(forks.pid)
        yield forks


@pytest.fixture
def quick_python(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start commands and agents as forks of a process that has imported them."""
    monkeypatch.setattr(Python, "command", forks.python)


@pytest.fixture
def own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start commands as processes of their own, in a test whose module uses `quick_python`."""
    monkeypatch.setattr(Python, "command", sys.executable)


@pytest.fixture(autouse=True)
def nothing_left_behind(shared_processes: set[int]) -> Iterator[None]:
    """Fail a test that leaves a child process, a thread, a pipe or a socket behind."""
    parents = {os.getpid(), *shared_processes}
    children = _children(parents)
    threads = set(threading.enumerate())
    descriptors = _descriptors()
    yield
    deadline = time.monotonic() + 10
    while True:
        left = sorted(_children(parents) - children - shared_processes)
        extra = [
            thread
            for thread in threading.enumerate()
            if thread not in threads and not thread.name.startswith(("asyncio_", "ThreadPoolExecutor"))
        ]
        leaked = _leaked_descriptors(descriptors)
        if not (left or extra or leaked):
            return
        if time.monotonic() > deadline:
            break
        gc.collect()
        threading.Event().wait(0.02)
    killed = []
    for pid in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            killed.append(str(process := psutil.Process(pid)))
            process.kill()
    pytest.fail(f"left behind: processes {killed}, threads {extra}, descriptors {leaked}", pytrace=False)


@pytest.fixture(scope="session")
def unused_homes() -> list[Path]:
    """Return homes in which no test has written anything. Making and deleting one costs as much as a test."""
    return []


@pytest.fixture(autouse=True)
def separate_home(
    unused_homes: list[Path], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Point every folder that mcptui writes to at an empty one, and hide the user's API keys."""
    if unused_homes:
        home = unused_homes.pop()
    else:
        homes = tmp_path_factory.getbasetemp() / "homes"  # thousands of homes, so not directly in basetemp
        homes.mkdir(exist_ok=True)
        home = Path(tempfile.mkdtemp(dir=homes))
    for name in list(os.environ):
        foreign = name.startswith(("MCPTUI_", "OPENAI_", "OLLAMA_", "TMUX", "WAYLAND_"))
        if foreign or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    yield home
    with contextlib.suppress(OSError):  # deleted, or not readable
        if not os.listdir(home):
            unused_homes.append(home)


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """Have a working keychain, and return its entries by service and name."""
    kept: dict[tuple[str, str], str] = {}
    module = ModuleType("keyring")
    module.get_password = lambda service, name: kept.get((service, name))  # type: ignore[attr-defined]
    module.set_password = lambda service, name, value: kept.update({(service, name): value})  # type: ignore[attr-defined]
    module.delete_password = lambda service, name: kept.pop((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return kept
