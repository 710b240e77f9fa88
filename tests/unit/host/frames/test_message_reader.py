"""Messages from any wire to the gate; lines of stdout are in `test_stdout_reader`."""

from tui.core.jsonrpc.messages import Notification, Request, Response
from tui.host.frames.id_gate import Gate
from tui.host.frames.inbox import BURST, WAITING, Inbox
from tui.host.frames.message_reader import LARGE, MessageReader

NOTICE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'


def reader():
    inbox = Inbox()
    gate = Gate(inbox, lambda message: None)
    return MessageReader(gate, inbox), gate, inbox


async def test_a_large_message_is_read_all_the_same():
    messages, _, _ = reader()
    body = b'{"jsonrpc":"2.0","id":7,"result":{"text":"%s"}}' % (b"x" * LARGE)
    (found,) = await messages.parse(body)
    assert isinstance(found, Response)
    assert len(found.result["text"]) == LARGE


def test_a_notification_that_would_be_dropped_is_not_read():
    messages, _, inbox = reader()
    for number in range(WAITING):
        assert not messages.drop_surplus(NOTICE)
        messages.admit(Notification("notifications/message", {"n": number}), len(NOTICE))
    assert messages.drop_surplus(NOTICE)
    assert inbox.collapsed == 1 and BURST >= WAITING


async def test_the_session_never_gets_a_large_notification_or_the_params_of_a_large_request():
    messages, _, inbox = reader()
    assert messages.admit(Notification("notifications/message", {}), LARGE + 1)
    assert inbox.collapsed == 1
    messages.admit(Request(1, "sampling/createMessage", {"much": 1}), LARGE + 1)
    assert await inbox.get() == Request(1, "sampling/createMessage")
