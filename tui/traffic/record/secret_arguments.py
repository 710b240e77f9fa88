"""Values of arguments that are secret by their name, taken out of a recorded tool call. Pure.

Only within `arguments`: names of the protocol such as `progressToken` are none of these. The request that the
server gets is not changed.
"""

from tui.core.jsonrpc.skimmer import outline
from tui.core.secrets.named_values import named_values
from tui.core.traffic import Redaction

_CALL, _ARGUMENTS = b'"tools/call"', b'"arguments"'


def without_secret_arguments(raw: bytes) -> tuple[bytes, tuple[Redaction, ...]]:
    """Return a message with a mark for each secret argument of a tool call, and where the marks are."""
    if _CALL not in raw or _ARGUMENTS not in raw:
        return raw, ()
    parts: list[bytes] = []
    marks: list[Redaction] = []
    done = length = 0
    for place in named_values(raw, *_arguments_in(raw)):
        before, mark = raw[done : place.start] + b'"', f"[redacted:{place.name}]".encode()
        parts += (before, mark, b'"')
        length += len(before)
        marks.append(Redaction(length, length + len(mark), place.name))
        length += len(mark) + 1
        done = place.end
    return (b"".join((*parts, raw[done:])), tuple(marks)) if marks else (raw, ())


def _arguments_in(raw: bytes) -> tuple[int, int]:
    """Return where the arguments are; of a batch or a message that is cut off, all behind the first ones."""
    try:
        at, stop = outline(raw).members["params"]
        begin, end = outline(raw[at:stop]).members["arguments"]
    except (ValueError, KeyError):
        return raw.index(_ARGUMENTS), len(raw)
    whole = end - begin > 1 and raw[at + end - 1 : at + end] == b"}"
    return at + begin, at + end if whole else len(raw)
