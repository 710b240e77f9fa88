"""A sentence for each way in which a start, a connection or a call can fail.

The transport knows what the process did. The user sees what happened, the server's last line, and the next
step.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui.core.errors import McptuiError, reason_of
from tui.core.jsonrpc.protocol import UNSUPPORTED_VERSION
from tui.core.servers import EraChoice, ServerSpec, ServerStatus, StopReason, Transport
from tui.core.text import abridged, capitalized, clean_line, quoted_name, whole_words
from tui.core.tools import CallFailure
from tui.core.units import plural
from tui.core.workbench import RawAnswer
from tui.host.frames.id_gate import NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.frames.link import NO_ANSWER, NoCommonVersion, RequestError
from tui.host.sign_in.sign_ins import SIGN_IN_REQUIRED, SIGN_IN_STEP, SIGN_IN_WITH
from tui.host.transports import ServerTransport

LOG_OR_RETRY = "Press l for its log, r to retry."
RETRY = "Press r to retry."
REVIEW = "Press s to review it."
REMOVE_LINES = 'If it is an MCP server, remove transport = "lines" from its configuration.'
MESSAGE_CHARS = 300
_UNKNOWN = "The call may or may not have taken effect."
_THEIR_ANSWER = NO_ANSWER.removesuffix(" is invalid")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a connection ended: `detail` is what happened, `next_step` what the user can do.

    `code` and `signal` are those of a process that exited on its own. `died`: nobody asked it to exit.
    """

    reason: StopReason
    detail: str = ""
    next_step: str = ""
    code: int | None = None
    signal: str = ""
    died: bool = False


def error_message(error: BaseException) -> str:
    """Return the message of an error: cleaned, bounded, never empty."""
    if isinstance(error, McptuiError | RequestError):  # words of ours, or of the server
        return clean_line(str(error), MESSAGE_CHARS) or type(error).__name__
    return reason_of(error, MESSAGE_CHARS)


def needs_consent(spec: ServerSpec, *, refused: bool = False) -> Ending:
    """Say that a server was not started: there is no consent yet, or it was `refused` in an earlier run."""
    why = "you declined it" if refused else "needs your consent"
    detail = f"Not started: it comes from {clean_line(spec.source, 300)} and {why}."
    return Ending(StopReason.NEEDS_CONSENT, detail, REVIEW)


def with_sign_in(status: ServerStatus, sign_in: str) -> ServerStatus:
    """Return a status with the state of the sign-in; one that the user put off is no failure."""
    if not sign_in:
        return status
    only_signing_in = sign_in == SIGN_IN_REQUIRED or status.next_step.startswith((SIGN_IN_STEP, SIGN_IN_WITH))
    waits = only_signing_in and status.reason is StopReason.FAILED_TO_START
    if not waits:
        return replace(status, sign_in=sign_in)
    return replace(status, sign_in=sign_in, reason=StopReason.NEEDS_SIGN_IN, next_step=SIGN_IN_STEP)


def command_line(spec: ServerSpec) -> str:
    """Return the command as typed in a shell, shortened in the middle if it is long."""
    shown = clean_line(shlex.join((os.path.basename(spec.command), *spec.shown_command[1:])), 1000)
    return abridged(shown, 80)


def last_line(transport: ServerTransport) -> str:
    """Return " Last line: …" of the server's stderr, or " Log: …" if another line says why, or ""."""
    stderr = transport.stderr
    reason = clean_line(stderr.reason, MESSAGE_CHARS)
    label = "Last line" if stderr.reason == stderr.last else "Log"
    return f" {label}: {reason}" if reason else ""


def what_next(transport: ServerTransport) -> str:
    """Return what the user can do about a connection that ended."""
    if transport.reach is None:
        return transport.next_step or LOG_OR_RETRY
    return f"{transport.next_step} {RETRY}".strip()


def not_json(transport: ServerTransport, said: str = "") -> str:
    """Return what the server wrote to stdout instead of messages, or "" if `said` has it already."""
    if transport.reach is not None:
        return ""
    if transport.noise_hint:
        hint = transport.noise_hint
        return "" if hint in said else f" {capitalized(_sentence(hint))}"
    messages, text = transport.messages, ""
    if messages.invalid_words:
        text = f" It sent {_sentence(messages.invalid_words)}"
    if messages.noise:
        first = quoted_name(messages.first_noise, 60)
        lines = plural(messages.noise, "line")
        text += f" It wrote text to stdout that is not JSON-RPC ({lines}, first: {first})."
    return text


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def start_failure(
    spec: ServerSpec,
    transport: ServerTransport,
    error: BaseException | None,
    *,
    seconds: float | None,
    died: bool,
    waiting_for: str,
    versions: tuple[Sequence[str], Sequence[str]],
) -> Ending:
    """Say why a server did not start.

    `error` is what connecting raised, None if it was given up; `seconds` the timeout, if it ended the start.
    `died`: the process had ended on its own. `waiting_for` is the unanswered request; `versions` are those of
    the server, and ours, newest first.
    """
    ended = transport.exit
    code = None
    signal = ""
    next_step = what_next(transport)
    if isinstance(error, McptuiError):
        return Ending(StopReason.FAILED_TO_START, error.message, error.next_step or next_step)
    output = f"{not_json(transport)}{last_line(transport)}"
    if isinstance(error, RequestError) and _is_version_problem(error):
        detail = _no_version(*versions, error.code == UNSUPPORTED_VERSION, spec.act_as or "mcptui")
        output = ""
        next_step = f"Update the server, or {'remove `act_as`' if spec.act_as else 'mcptui'}."
    elif seconds is not None:
        detail = f"no response to {waiting_for} within {seconds:g} s."
        if spec.transport is Transport.LINES:
            detail = f"no hello within {seconds:g} s."
            next_step = REMOVE_LINES
        detail += unanswered(transport)
    elif transport.fatal:
        detail = _sentence(transport.fatal)
        if transport.reach is None and transport.next_step:  # the cause is known
            output = ""
    elif died and ended is not None:
        code, signal = ended.code, ended.signal
        detail = f"`{command_line(spec)}` {ended.sentence()}."
    else:
        said = "it closed its stdout" if error is None else _refusal(error, waiting_for)
        detail, output = _sentence(said), f"{not_json(transport, said)}{last_line(transport)}"
    untried = "" if spec.era is EraChoice.AUTO or transport.is_final else _NOT_TRIED[spec.era]
    return Ending(StopReason.FAILED_TO_START, f"{detail}{untried}{output}", next_step, code, signal)


_NOT_TRIED = {
    EraChoice.MODERN: ' initialize was not tried because era is "modern".',
    EraChoice.LEGACY: ' server/discover was not tried because era is "legacy".',
}


def _refusal(error: BaseException, waiting_for: str) -> str:
    message = error_message(error)
    if message.startswith(NO_ANSWER):
        return f"its response to {waiting_for}{message.removeprefix(_THEIR_ANSWER)}"
    if isinstance(error, RequestError) and error.code != NO_RESPONSE:
        return f"it responded to {waiting_for} with an error: {message}"
    return message


def _no_version(theirs: Sequence[str], ours: Sequence[str], refused: bool, us: str) -> str:
    named = list(dict.fromkeys(clean_line(version, 40) for version in theirs))
    common = [version for version in named if version in ours]
    if common and not refused:
        return (
            f"it responded to initialize with protocol version {common[0]}, which does not have initialize."
        )
    if common:
        return f"it rejects protocol version {common[0]}, although it lists it as supported."
    supported = f"supports {', '.join(named)}" if named else "names none"
    return f"no common protocol version. The server {supported}, {us} supports {', '.join(ours)}."


def _is_version_problem(error: RequestError) -> bool:
    return isinstance(error, NoCommonVersion) or error.code == UNSUPPORTED_VERSION


_DEFECTS = (LookupError, TypeError, AttributeError, NameError, ImportError, AssertionError, RuntimeError)


def is_defect(error: BaseException) -> bool:
    """Whether an error is a bug in mcptui or its libraries, rather than something that a server did."""
    return isinstance(error, _DEFECTS)


def internal_error(error: BaseException) -> Ending:
    """Say that a start failed because of a bug, whose traceback has been logged."""
    detail = f"internal error in mcptui ({type(error).__name__}: {error_message(error)})."
    return Ending(
        StopReason.FAILED_TO_START, f"{detail} See mcptui.log for the traceback.", "Press r to retry."
    )


def death(transport: ServerTransport, error: BaseException | None, *, died: bool) -> Ending:
    """Say how a RUNNING server ended unexpectedly; `error` is what the session raised."""
    ended = transport.exit
    if transport.fatal or not died or ended is None:
        why = transport.fatal or (error_message(error) if error is not None else "it closed its stdout")
        return Ending(StopReason.CRASHED, _sentence(why), what_next(transport), died=True)
    reason = StopReason.EXITED if ended.code == 0 else StopReason.CRASHED
    return Ending(reason, f"{ended.sentence()}.", LOG_OR_RETRY, ended.code, ended.signal, died=True)


def left_behind(transport: ServerTransport) -> str:
    """Say which processes of a server escaped its process group, or ""."""
    if len(transport.leftovers) == 1:
        return f"it left process {transport.leftovers[0]} running, and mcptui ended it."
    count = len(transport.leftovers)
    return f"it left {count} processes running, and mcptui ended them." if count else ""


def died_in_call(name: str, transport: ServerTransport, stopped: str = "") -> str:
    """Tell a model why its call got no answer: in these words if it was `stopped`, or with its last lines."""
    server, ended, fatal = f"The server {quoted_name(name)}", transport.exit, transport.fatal
    if stopped:
        return f"{server} {stopped}. {_UNKNOWN}"
    how = ended.sentence() if ended else "closed the connection"
    what = f"failed during the call: {_sentence(fatal)}" if fatal else f"{how} during the call."
    text = f"{server} {what} {_UNKNOWN}"
    tail = "\n".join(whole_words(line, 400) for line in transport.stderr.lines()[-5:])
    return f"{text}\nLast lines of its log:\n{tail}" if tail else text


def unanswered(transport: ServerTransport) -> str:
    """Return a sentence about what came in place of an answer, to add to a timeout; or ""."""
    if transport.is_reopening:  # a request that had been sent has failed
        return " It was not sent: the connection is being reopened."
    if size := transport.incomplete:
        return f" An incomplete message of {size:,} bytes blocks its input. Restart the server."
    if stray := transport.gate.stray:
        return f" The server sent {stray}."
    return ""


def problem_of(answer: RawAnswer) -> str:
    """Return the sentence for an error, or for what came in place of an answer; or ""."""
    if (error := answer.error) is None:
        return answer.problem
    said = clean_line(whole_words(str(error.get("message", "")), 300), 300)
    return f"The server returned error {error.get('code')}: {said}"


def failed_answer(error: Exception) -> RawAnswer:
    """Return the server's error, or what came in place of an answer."""
    if not isinstance(error, RequestError) or _is_ours(error):
        is_large = getattr(error, "code", None) == RESULT_TOO_LARGE
        failure = CallFailure.TOO_LARGE if is_large else CallFailure.PROTOCOL
        return RawAnswer(problem=protocol_failure(error), failure=failure)
    data = {} if error.data is None else {"data": error.data}
    return RawAnswer(error={"code": error.code, "message": error.message, **data})


def protocol_failure(error: BaseException) -> str:
    """Tell a model that the server rejected the call, or sent an unusable response."""
    said = error_message(error)
    if not isinstance(error, RequestError):
        return f"T{NO_ANSWER[1:]}: {said.removeprefix('invalid ')}"
    return (
        capitalized(_sentence(said)) if _is_ours(error) else f"The server returned error {error.code}: {said}"
    )


def _is_ours(error: RequestError) -> bool:
    """Whether mcptui has made the error, in place of an answer."""
    return error.code in (NO_RESPONSE, RESULT_TOO_LARGE) or error.message.startswith(NO_ANSWER)
