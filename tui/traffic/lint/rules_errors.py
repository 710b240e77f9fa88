"""Rules for the errors of responses: their shape, and the codes of the revision. Pure."""

from typing import Any

from tui.core.jsonrpc.protocol import MODERN, REVISIONS, is_modern
from tui.core.language.translate import message
from tui.traffic.lint.rules_messages import BASIC, TRANSPORT, MessageCheck, id_words
from tui.traffic.lint.server_session import SentRequest

_REMOVED_CODES = {-32002: "-32602", -32042: "the result type input_required"}
_MODERN_CODES = (-32020, -32021, -32022)
_HTTP_STATUS = {-32601: 404, -32020: 400, -32022: 400}
"""The status that 2026-07-28 requires with a code."""


def check_error(look: MessageCheck, error: Any, asked: SentRequest | None = None) -> None:
    """Check the error of a response, and whether it is one of the revision."""
    if not isinstance(error, dict):
        look.error("bad-error", message("The error is not an object with code and message."), BASIC)
        return
    code, text = error.get("code"), error.get("message")
    if isinstance(code, bool) or not isinstance(code, int):
        sentence = message("The code of the error is missing. It must be an integer.")
        if "code" in error:
            sentence = message("The code of the error is {code}. It must be an integer.", code=id_words(code))
        look.error("bad-error", sentence, BASIC)
    elif is_modern(look.revision) and look.session.modern:
        if code in _REMOVED_CODES:
            sentence = message(
                "{modern} uses {wanted} instead of the code {code}.",
                modern=MODERN,
                wanted=_REMOVED_CODES[code],
                code=code,
            )
            look.warn("error-code", sentence, BASIC)
        elif -32099 <= code <= -32020 and code not in _MODERN_CODES:
            look.warn(
                "error-code",
                message("The code {code} is reserved and not defined in {modern}.", code=code, modern=MODERN),
                BASIC,
            )
        status = look.entry.detail.get("status")
        wanted = _HTTP_STATUS.get(code)
        if wanted and isinstance(status, int) and status != wanted:
            sentence = message(
                "The code {code} came with HTTP {status}. {modern} requires {wanted}.",
                code=code,
                status=status,
                modern=MODERN,
                wanted=wanted,
            )
            look.warn("error-code", sentence, TRANSPORT)
    elif look.revision in REVISIONS and not is_modern(look.revision) and look.session.opened:
        if code in _MODERN_CODES:
            sentence = message(
                "The code {code} is defined since {modern}, and the revision is {revision}.",
                code=code,
                modern=MODERN,
                revision=look.revision,
            )
            look.warn("error-code", sentence, BASIC)
        elif code == -32602 and asked is not None and asked.method == "resources/read" and asked.uri:
            sentence = message(
                "In {revision}, the code for a resource that is not found is -32002. {modern} replaced it by "
                "{code}.",
                revision=look.revision,
                modern=MODERN,
                code=code,
            )
            look.hint("error-code", sentence, "server/resources")
    if not isinstance(text, str):
        look.error("bad-error", message("The error has no message."), BASIC)
