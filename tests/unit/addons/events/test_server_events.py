from types import SimpleNamespace

import pytest

from tui.addons.events import server_events
from tui.addons.events.server_events import RunningServer
from tui.core.secrets.redact import Redactor
from tui.core.workbench import RawAnswer

KEY = "sk-4kq9ZtYw7Hs2Vb8X"


class Workbench:
    """A server that answers `events/list` with these pages."""

    def __init__(self, *pages, declares=True):
        self.pages, self.declares, self.asked = pages, declares, []

    def extension(self, server, name):
        return {} if self.declares else None

    async def request(self, server, method, params, **how):
        self.asked.append(params)
        return self.pages[min(len(self.asked), len(self.pages)) - 1]


def listed(*pages, **more):
    redactor = Redactor()
    redactor.add_some("s", {"s.key": KEY})
    bench = Workbench(*(RawAnswer(page) if isinstance(page, dict) else page for page in pages), **more)
    return RunningServer(SimpleNamespace(workbench=bench, redactor=redactor), "srv"), bench


def page(*names, cursor=None):
    return {"events": [{"name": name, "description": KEY} for name in names], "nextCursor": cursor}


async def test_event_types_are_listed_page_by_page_without_secrets():
    server, bench = listed(page("a", cursor="2"), page("b"))
    found, problem = await server.types()
    assert ([one.name for one in found], problem) == (["a", "b"], "")
    assert bench.asked == [{}, {"cursor": "2"}] and found[0].description == "[redacted:s.key]"


async def test_pages_without_an_end_are_bounded(monkeypatch):
    monkeypatch.setattr(server_events, "MAX_PAGES", 3)
    server, bench = listed(page("a", cursor="again"))
    assert (await server.types())[1] == "Only the first 1 event types are listed."
    assert len(bench.asked) == 3


@pytest.mark.parametrize(
    "error", [RawAnswer(problem="Lost."), RawAnswer(error={"code": -1, "message": "no"})]
)
async def test_what_was_listed_before_a_failure_is_kept(error):
    server, _ = listed(page("a", cursor="2"), error)
    found, problem = await server.types()
    assert [one.name for one in found] == ["a"] and problem


async def test_a_server_that_does_not_declare_events_is_asked_nothing():
    server, bench = listed(page("a"), declares=False)
    assert await server.types() == ((), "The server “srv” does not offer events.")
    assert (await server.stream("events/stream", {}, print)).problem and bench.asked == []
