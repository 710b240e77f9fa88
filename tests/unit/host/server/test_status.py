"""What a status shows."""

from types import SimpleNamespace

from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerStatus
from tui.host.server.status import ShownStatus


def test_a_secret_that_is_learned_later_is_redacted_in_the_status_too():
    redactor = Redactor({})
    shown = ShownStatus(redactor)
    transport = SimpleNamespace(
        stages=(),
        pid=5,
        stderr=SimpleNamespace(reason="last words", last="later"),
        messages=SimpleNamespace(noise=2, invalid_words="", first_noise="last words"),
        reach=None,
    )
    status = ServerStatus.before_any_start(ServerSpec("srv", "x", ("last words",)), 0)
    before = shown.of(status, transport)
    assert (before.stderr_last, before.printed, before.launch) == ("last words", "last words", "x last words")
    redactor.add({"TOKEN": "last words"})
    after = shown.of(status, transport)
    assert {after.stderr_last, after.printed, after.launch.removeprefix("x ")} == {"[redacted:TOKEN]"}
    assert after.pid is None and shown.of(status, None).noise == 0
