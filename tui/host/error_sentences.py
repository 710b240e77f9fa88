"""A sentence for each way in which a start, a connection or a call can fail.

The transport knows what the process did. The user sees what happened, the server's last line, and the next
step.
"""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui.core.errors import McptuiError, composed, reason_of
from tui.core.jsonrpc.protocol import UNSUPPORTED_VERSION
from tui.core.language.translate import message, n_message, sentences, together
from tui.core.servers import EraChoice, ServerSpec, ServerStatus, StopReason, Transport
from tui.core.text import abridged, capitalized, clean_line, quoted_name, whole_words
from tui.core.tools import CallFailure
from tui.core.workbench import RawAnswer
from tui.host.frames.id_gate import NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.frames.link import NO_ANSWER, NoCommonVersion, RequestError
from tui.host.sign_in.sign_ins import SIGN_IN_REQUIRED, SIGN_IN_STEP, SIGN_IN_WITH
from tui.host.transports import ServerTransport

LOG_OR_RETRY = message("Press l for its log, r to retry.")
RETRY = message("Press r to retry.")
REVIEW = message("Press s to review it.")
REMOVE_LINES = message('If it is an MCP server, remove transport = "lines" from its configuration.')
MESSAGE_CHARS = 300
_UNKNOWN = message("The call may or may not have taken effect.")


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
    why = message("you declined it") if refused else message("needs your consent")
    detail = message(
        "Not started: it comes from {source} and {why}.", source=clean_line(spec.source, 300), why=why
    )
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
    """Return "Last line: …" of the server's stderr, or "Log: …" if another line says why, or ""."""
    stderr = transport.stderr
    reason = clean_line(stderr.reason, MESSAGE_CHARS)
    if not reason:
        return ""
    if stderr.reason == stderr.last:
        return message("Last line: {line}", line=reason)
    return message("Log: {line}", line=reason)


def what_next(transport: ServerTransport) -> str:
    """Return what the user can do about a connection that ended."""
    if transport.reach is None:
        return transport.next_step or LOG_OR_RETRY
    return sentences(transport.next_step, RETRY)


def not_json(transport: ServerTransport, said: str = "") -> str:
    """Return what the server wrote to stdout instead of messages, or "" if `said` has it already."""
    if transport.reach is not None:
        return ""
    if transport.noise_hint:
        hint = transport.noise_hint
        return "" if hint in said else capitalized(_sentence(hint))
    messages, invalid, noise = transport.messages, "", ""
    if messages.invalid_words:
        invalid = _sentence(message("It sent {words}", words=messages.invalid_words))
    if messages.noise:
        noise = n_message(
            "It wrote text to stdout that is not JSON-RPC ({n} line, first: {first}).",
            "It wrote text to stdout that is not JSON-RPC ({n} lines, first: {first}).",
            messages.noise,
            first=quoted_name(messages.first_noise, 60),
        )
    return sentences(invalid, noise)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else composed("{text}.", text=text)


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
    output = sentences(not_json(transport), last_line(transport))
    if isinstance(error, RequestError) and _is_version_problem(error):
        detail = _no_version(*versions, error.code == UNSUPPORTED_VERSION, spec.act_as or "mcptui")
        output = ""
        next_step = message("Update the server, or mcptui.")
        if spec.act_as:
            next_step = message("Update the server, or remove `act_as`.")
    elif seconds is not None:
        detail = message(
            "no response to {request} within {seconds:g} s.", request=waiting_for, seconds=seconds
        )
        if spec.transport is Transport.LINES:
            detail = message("no hello within {seconds:g} s.", seconds=seconds)
            next_step = REMOVE_LINES
        detail = sentences(detail, unanswered(transport))
    elif transport.fatal:
        detail = _sentence(transport.fatal)
        if transport.reach is None and transport.next_step:  # the cause is known
            output = ""
    elif died and ended is not None:
        code, signal = ended.code, ended.signal
        ran = composed("{place} {problem}", place=f"`{command_line(spec)}`", problem=ended.sentence())
        detail = _sentence(ran)
    else:
        said = message("it closed its stdout") if error is None else _refusal(error, waiting_for)
        detail, output = _sentence(said), sentences(not_json(transport, said), last_line(transport))
    untried = "" if spec.era is EraChoice.AUTO or transport.is_final else _NOT_TRIED[spec.era]
    return Ending(StopReason.FAILED_TO_START, sentences(detail, untried, output), next_step, code, signal)


_NOT_TRIED = {
    EraChoice.MODERN: message('initialize was not tried because era is "modern".'),
    EraChoice.LEGACY: message('server/discover was not tried because era is "legacy".'),
}


def _refusal(error: BaseException, waiting_for: str) -> str:
    said = error_message(error)
    if said.startswith(NO_ANSWER):
        why = said.removeprefix(NO_ANSWER).removeprefix(": ")
        if not why:
            return message("its response to {request} is invalid", request=waiting_for)
        return message("its response to {request} is invalid: {why}", request=waiting_for, why=why)
    if isinstance(error, RequestError) and error.code != NO_RESPONSE:
        return message("it responded to {request} with an error: {said}", request=waiting_for, said=said)
    return said


def _no_version(theirs: Sequence[str], ours: Sequence[str], refused: bool, us: str) -> str:
    named = list(dict.fromkeys(clean_line(version, 40) for version in theirs))
    common = [version for version in named if version in ours]
    if common and not refused:
        return message(
            "it responded to initialize with protocol version {common}, which does not have initialize.",
            common=common[0],
        )
    if common:
        return message(
            "it rejects protocol version {common}, although it lists it as supported.", common=common[0]
        )
    if not named:
        return message(
            "no common protocol version. The server names none, {us} supports {ours}.",
            us=us,
            ours=", ".join(ours),
        )
    return message(
        "no common protocol version. The server supports {theirs}, {us} supports {ours}.",
        theirs=", ".join(named),
        us=us,
        ours=", ".join(ours),
    )


def _is_version_problem(error: RequestError) -> bool:
    return isinstance(error, NoCommonVersion) or error.code == UNSUPPORTED_VERSION


_DEFECTS = (LookupError, TypeError, AttributeError, NameError, ImportError, AssertionError, RuntimeError)


def is_defect(error: BaseException) -> bool:
    """Whether an error is a bug in mcptui or its libraries, rather than something that a server did."""
    return isinstance(error, _DEFECTS)


def internal_error(error: BaseException) -> Ending:
    """Say that a start failed because of a bug, whose traceback has been logged."""
    detail = message(
        "internal error in mcptui ({name}: {error}).", name=type(error).__name__, error=error_message(error)
    )
    return Ending(
        StopReason.FAILED_TO_START,
        sentences(detail, message("See mcptui.log for the traceback.")),
        message("Press r to retry."),
    )


def death(transport: ServerTransport, error: BaseException | None, *, died: bool) -> Ending:
    """Say how a RUNNING server ended unexpectedly; `error` is what the session raised."""
    ended = transport.exit
    if transport.fatal or not died or ended is None:
        why = transport.fatal or (
            error_message(error) if error is not None else message("it closed its stdout")
        )
        return Ending(StopReason.CRASHED, _sentence(why), what_next(transport), died=True)
    reason = StopReason.EXITED if ended.code == 0 else StopReason.CRASHED
    return Ending(reason, _sentence(ended.sentence()), LOG_OR_RETRY, ended.code, ended.signal, died=True)


def left_behind(transport: ServerTransport) -> str:
    """Say which processes of a server escaped its process group, or ""."""
    if len(transport.leftovers) == 1:
        return message(
            "it left process {process} running, and mcptui ended it.", process=transport.leftovers[0]
        )
    count = len(transport.leftovers)
    if not count:
        return ""
    return n_message(
        "it left {n} process running, and mcptui ended it.",
        "it left {n} processes running, and mcptui ended them.",
        count,
    )


def died_in_call(name: str, transport: ServerTransport, stopped: str = "") -> str:
    """Tell a model why its call got no answer: in these words if it was `stopped`, or with its last lines."""
    server, ended, fatal = quoted_name(name), transport.exit, transport.fatal
    if stopped:
        return sentences(message("The server {server} {stopped}.", server=server, stopped=stopped), _UNKNOWN)
    if fatal:
        what = message(
            "The server {server} failed during the call: {reason}", server=server, reason=_sentence(fatal)
        )
    elif ended:
        what = message("The server {server} {ended} during the call.", server=server, ended=ended.sentence())
    else:
        what = message("The server {server} closed the connection during the call.", server=server)
    text = sentences(what, _UNKNOWN)
    tail = "\n".join(whole_words(line, 400) for line in transport.stderr.lines()[-5:])
    return together(text, "\n", message("Last lines of its log:"), "\n", tail) if tail else text


def unanswered(transport: ServerTransport) -> str:
    """Return a sentence about what came in place of an answer, to add to a timeout; or ""."""
    if transport.is_reopening:  # a request that had been sent has failed
        return message("It was not sent: the connection is being reopened.")
    if size := transport.incomplete:
        return message(
            "An incomplete message of {size:,} bytes blocks its input. Restart the server.", size=size
        )
    if stray := transport.gate.stray:
        return message("The server sent {content}.", content=stray)
    return ""


def problem_of(answer: RawAnswer) -> str:
    """Return the sentence for an error, or for what came in place of an answer; or ""."""
    if (error := answer.error) is None:
        return answer.problem
    said = clean_line(whole_words(str(error.get("message", "")), 300), 300)
    return message("The server returned error {code}: {said}", code=error.get("code"), said=said)


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
        return message("The server's response is invalid: {why}", why=said.removeprefix("invalid "))
    return (
        capitalized(_sentence(said))
        if _is_ours(error)
        else message("The server returned error {code}: {said}", code=error.code, said=said)
    )


def _is_ours(error: RequestError) -> bool:
    """Whether mcptui has made the error, in place of an answer."""
    return error.code in (NO_RESPONSE, RESULT_TOO_LARGE) or error.message.startswith(NO_ANSWER)
