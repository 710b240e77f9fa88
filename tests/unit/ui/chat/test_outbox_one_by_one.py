"""A queue that processes one item after the other."""

from tests.conftest import until
from tui.ui.chat.outbox import SerialQueue


async def test_an_error_is_reported_and_affects_only_its_own_item():
    told: list[Exception] = []
    done: list[str] = []

    async def do(what: str) -> None:
        if what == "bad":
            raise ZeroDivisionError
        done.append(what)

    queue = SerialQueue(told.append)
    queue.put("bad", do)
    queue.put("good", do)
    await until(lambda: not queue.busy and done)
    assert len(told) == 1 and done == ["good"]
