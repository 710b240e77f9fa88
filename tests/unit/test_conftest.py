"""The fixtures and hooks of all tests."""

from types import SimpleNamespace
from typing import Any

import pytest
from xdist.remote import WorkerInteractor

from tests import conftest


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
def test_only_phases_that_are_shown_or_counted_are_reported(when: str, outcome: str, shown: bool):
    assert conftest.is_shown("testreport", {"when": when, "outcome": outcome}) is shown


@pytest.mark.parametrize(
    ("verbose", "durations", "junit", "sent"),
    [(-1, None, None, 1), (0, None, None, 1), (1, None, None, 3), (-1, 0, None, 3), (-1, None, "a.xml", 3)],
)
def test_a_worker_sends_the_start_and_end_of_a_test_only_if_they_are_shown(
    verbose: int, durations: int | None, junit: str | None, sent: int
):
    events: list[str] = []
    worker = object.__new__(WorkerInteractor)
    worker.sendevent = lambda name, **content: events.append(name)
    option = SimpleNamespace(verbose=verbose, durations=durations, xmlpath=junit)
    plugins = SimpleNamespace(get_plugins=lambda: {object(), worker})
    session: Any = SimpleNamespace(config=SimpleNamespace(option=option, pluginmanager=plugins))
    conftest.pytest_sessionstart(session)
    WorkerInteractor.pytest_runtest_logstart(worker, "test_a", ("", 1, ""))
    worker.sendevent("runtest_protocol_complete", item_index=0)
    WorkerInteractor.pytest_runtest_logfinish(worker, "test_a", ("", 1, ""))
    assert len(events) == sent
