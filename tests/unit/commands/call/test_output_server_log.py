"""The log of a server on stderr."""

import json

from tui.commands.call.output import ServerLog
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind


def seen(raw: bytes, kind: Kind | None = None, source: str = "s") -> Captured:
    return Captured(source, Direction.NONE if kind else Direction.IN, 0, 0, raw, kind)


def test_lines_and_log_messages_are_printed_without_secrets_and_escape_sequences(capsys):
    log = ServerLog("s", Redactor({"token": "s3cr3t-value"}))
    message = {"method": "notifications/message", "params": {"level": "info", "data": {"a": "s3cr3t-value"}}}
    log(seen(b"\x1b[31mready s3cr3t-value", Kind.STDERR))
    log(seen(json.dumps(message).encode()))
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("s: ␛[31mready") and told[1].startswith("s info: ")
    assert "s3cr3t-value" not in "".join(told)


def test_other_servers_and_broken_messages_are_not_printed(capsys):
    log = ServerLog("s", Redactor())
    log(seen(b"hello", Kind.STDERR, source="other"))
    log(seen(b'{"method": "notifications/message"'))
    log(seen(b'["notifications/message"]'))
    log(seen(b'{"method": "notifications/message", "params": []}'))
    assert capsys.readouterr().err == ""
