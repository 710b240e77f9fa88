"""The error tree. Every error says what happened, where, why, and what to do next.

`reason_of` words the errors of libraries and of the system, whose own words are for programmers.
"""

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tui.core.language import error_reasons as reasons
from tui.core.language.translate import Message, altered, as_message, message
from tui.core.language.translate import sentences as in_turn
from tui.core.text import clean_line


class McptuiError(Exception):
    """An error that the user can act on: what happened and why, and what to do (`next_step`).

    Texts made by `message` are shown in the user's language, by `localized(error)`.

    `where` is a server's or profile's name, a file with a key path, or "".
    """

    def __init__(self, message: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        named = not self.where or self.message.startswith(f"{self.where} ")
        text = self.message if named else composed("{where}: {text}", where=self.where, text=self.message)
        return sentences(text, self.next_step)


def sentences(text: str, next_step: str) -> str:
    """Return what happened and what to do about it as one or two sentences."""
    if not next_step:
        return text
    if text.endswith((".", "!", "?", ":")):
        return in_turn(text, next_step)
    return composed("{text}. {next_step}", text=text, next_step=next_step)


def composed(template: str, /, **parts: str) -> str:
    """Fill one of `JOINTS`. The text is a message if one of its parts is."""
    if any(isinstance(part, Message) for part in parts.values()):
        return as_message(template, **parts)
    return template.format(**parts)


JOINTS = ("{where}: {text}", "{text}. {next_step}", "{text}, {next_step}", "{place} {problem}", "{text}.")
"""How the parts of an error are put together."""


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dotted(path: Iterable[str | int]) -> str:
    """Return a key path as it is written in TOML, safe for a screen."""
    parts = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part + 1}]")
            continue
        text = shown_text(part, 64)
        escaped = text.replace("\\", r"\\").replace('"', r"\"")
        key = text if _BARE_KEY.fullmatch(text) else f'"{escaped}"'
        parts.append(f".{key}" if parts else key)
    return "".join(parts)


def shown_text(text: str, limit: int) -> str:
    """Return text of a file as one clean line, with hidden characters as code points: `a[U+200B]b`."""
    if text.isascii():
        return clean_line(text, limit)
    from tui.core.hidden_text.readable import readable_line  # these patterns are rarely needed

    return readable_line(text, limit)


def as_sentences(problems: Iterable[str]) -> str:
    """Return several problems as one text, a sentence each. The last one has no full stop."""
    told = [without_stop(problem) for problem in problems]
    text = told[-1] if told else ""
    for one in reversed(told[:-1]):
        asks = one.endswith("?")
        text = in_turn(one, text) if asks else composed("{text}. {next_step}", text=one, next_step=text)
    return text


def with_stop(text: str) -> str:
    """Return a text as a sentence, with its full stop."""
    return text if text.endswith((".", "!", "?", ":")) else composed("{text}.", text=text)


def without_stop(text: str) -> str:
    """Return a text without its full stop."""
    return altered(text, lambda said: said.strip().rstrip(".。"))


class UsageError(McptuiError):
    """The command line names something that does not exist, or contradicts itself (exit code 2)."""


class ConfigError(McptuiError):
    """The configuration cannot be used (exit code 2)."""


class ModelError(McptuiError):
    """The model endpoint failed.

    Attributes:
        status: the HTTP status, or None if there was none.
        retryable: whether a retry may help (timeouts, 429, 5xx); never for quota or billing.
        retry_after: seconds the endpoint asked us to wait, or None.
        overflow: the conversation does not fit into the model's window.
        window: tokens that fit into it, if the endpoint says so.
        generation: text of the model that the endpoint failed to parse as a call, or "".
        said: all that the endpoint says, for patterns, or "".
        loading: the endpoint is still loading the model.
        no_tools: the endpoint says that this model cannot call functions; it may still write calls as text.
        final: what is left to do where a retry cannot help, a `Do` of `tui.model`, or "".
    """

    generation: str = ""
    said: str = ""
    loading: bool = False
    no_tools: bool = False
    final: str = ""

    def __init__(
        self,
        message: str,
        *,
        where: str = "",
        next_step: str = "",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        overflow: bool = False,
        window: int | None = None,
    ) -> None:
        super().__init__(message, where=where, next_step=next_step)
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.overflow = overflow
        self.window = window


class ServerError(McptuiError):
    """A server did not start, died, or broke the protocol so that a call has no result."""


class StorageError(McptuiError):
    """A recording's file cannot be opened or read."""


class IllegalTransition(AssertionError):
    """A server's state was about to change in a way that its table does not allow: a bug in mcptui."""


REASON_CHARS = 200
MAX_CHAIN = 20

_HTTP_LIBRARIES = frozenset(("anyio", "h11", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "wsproto"))


def reason_of(error: BaseException, limit: int = REASON_CHARS) -> str:
    """Return in a few words why an operation failed: one line, cleaned, never empty, without a full stop.

    An error of a class of mcptui keeps its words. For errors of libraries and of the system, the cause that
    the system or the protocol names counts, not the chain of wrappers around it. What they quote from the
    other side, which may be a secret, is left out.
    """
    return altered(clean_line(_reason(error), limit), lambda said: said.rstrip(".。")) or message(
        "unknown cause"
    )


def _reason(error: BaseException) -> str:
    error = origin_of(error)
    if type(error).__module__.startswith("tui.") and not isinstance(error, OSError):
        return str(error)
    kinds = {kind.__name__: kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if kinds.get("Error") == "sqlite3":
        return _starting(str(error), reasons.SQLITE_REASONS) or message("it cannot be used as a SQLite file")
    if "re" in (kinds.get("PatternError"), kinds.get("error")):  # the latter until Python 3.12
        return _starting(str(error), reasons.PATTERN_REASONS) or getattr(error, "msg", "")
    for kind, library in kinds.items():
        if (words := _REASONS.get(kind)) is not None:
            return words(error)
        if library in _HTTP_LIBRARIES:
            text = str(error)
            if kind == "ProxyError" and re.match(r"\d{3} ", text):
                return f"HTTP {text}"
            return (
                _starting(text, reasons.HTTP_REASONS)
                or _starting(kind, reasons.HTTP_REASONS)
                or message("the connection failed")
            )
    text = str(error)
    internal = message("internal error ({error})", error=type(error).__name__)
    return _starting(text, reasons.PLAIN_REASONS) or text or internal


def origin_of(error: BaseException) -> BaseException:
    """Return the error that caused an error of an HTTP library or a group, which only wrap it."""
    found = error
    for one in chain_of(error):
        if isinstance(found, BaseExceptionGroup) or _is_of_http(one) or isinstance(one, OSError):
            found = one
        is_vague = isinstance(one, OSError) and one.errno is None and not isinstance(one, TimeoutError)
        if not (isinstance(one, BaseExceptionGroup) or _is_of_http(one) or is_vague):
            break
    return found


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, the outermost first."""
    seen: BaseException | None = error
    for _ in range(MAX_CHAIN):
        if seen is None:
            return
        yield seen
        if isinstance(seen, BaseExceptionGroup):
            seen = seen.exceptions[0]
        else:
            seen = seen.__cause__ or seen.__context__


def _is_of_http(error: BaseException) -> bool:
    """Whether it is of a class of an HTTP library, or of one of mcptui that is based on such a class."""
    return any(kind.__module__.partition(".")[0] in _HTTP_LIBRARIES for kind in type(error).__mro__)


def _starting(text: str, table: Mapping[str, str]) -> str:
    starts = [(start, words) for words, listed in table.items() for start in listed.split("|")]
    words = max((len(start), words) for start, words in (*starts, ("", "")) if text.startswith(start))[1]
    return as_message(words) if words else ""


def _of_system(error: Any) -> str:
    if type(error).__name__ == "gaierror":
        return as_message(reasons.ADDRESS_REASONS.get(error.errno, reasons.UNRESOLVED))
    said = error.strerror or ""
    if error.errno is not None and error.errno > 0 and (not said or "call failed" in said):  # asyncio's words
        return as_message(os.strerror(error.errno))
    return (
        as_message(said)
        if said in reasons.SYSTEM_REASONS
        else said or str(error) or message("the system reports an error")
    )


_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SAMPLE = 256


def encoding_of(raw: bytes) -> str:
    """Return "UTF-16" or "UTF-32" if that is the encoding of a text, otherwise ""."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return name
    sample = raw[:_SAMPLE]
    zeros = [sum(byte == 0 for byte in sample[first::2]) * 2 for first in (0, 1)]
    # Without a mark, every second byte of a text in a European language is null.
    if len(sample) > 3 and min(zeros) == 0 and max(zeros) > len(sample) * 0.8:
        return "UTF-16"
    quarters = [sample[first::4].count(0) for first in range(4)]
    # Most bytes of program files and databases are null too, but in every place.
    return "UTF-32" if len(sample) > 3 and min(quarters) == 0 and sum(quarters) > len(sample) * 0.7 else ""


def _of_decoding(error: UnicodeDecodeError) -> str:
    if name := encoding_of(error.object):
        return message("it is {encoding} text, not UTF-8", encoding=name)
    encoding = error.encoding.upper()
    return message("byte {byte:,} is not valid {encoding}", byte=error.start, encoding=encoding)


def _of_tomlkit(error: Any) -> str:
    line = getattr(error, "line", None)
    if line is None:
        return message("invalid TOML")
    return _at(message("invalid TOML"), line, error.col)


def _of_tls(error: Any) -> str:
    if why := getattr(error, "verify_message", ""):
        return message("the certificate cannot be verified: {why}", why=why)
    reason = getattr(error, "reason", None) or ""
    said = reason.replace("_", " ").lower().replace("tls", "TLS")
    return _starting(reason, reasons.TLS_REASONS) or message("TLS error {said}", said=said)


def _of_json(error: Any) -> str:
    return _at(
        _starting(error.msg, reasons.JSON_REASONS) or message("invalid JSON"), error.lineno, error.colno
    )


def _of_toml(error: Any) -> str:
    text = str(error)
    why = _starting(text, reasons.TOML_REASONS) or message("invalid TOML")
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", text)
    if place is None:
        return why
    return _at(why, place[1], place[2]) if place[1] else message("{why} at the end of the file", why=why)


def _at(why: str, line: object, column: object) -> str:
    return message("{why} at line {line}, column {column}", why=why, line=line, column=column)


def _of_validation(error: Any) -> str:
    """Word the first fault that pydantic found; it quotes the payload over many lines."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"]) or message("the response")
    problem = _starting(first["type"], reasons.TYPE_REASONS) or message("has an unexpected value")
    return composed("{place} {problem}", place=place, problem=problem)


_REASONS: Mapping[str, Callable[[Any], str]] = {
    "JSONDecodeError": _of_json,
    "TOMLDecodeError": _of_toml,
    "ValidationError": _of_validation,
    "SSLError": _of_tls,
    "UnicodeDecodeError": _of_decoding,
    "UnicodeEncodeError": lambda error: message(
        "{encoding} does not have one of its characters", encoding=error.encoding.upper()
    ),
    "IncompleteReadError": lambda _: message("it ended early"),
    "LimitOverrunError": lambda _: message("a line is too long"),
    "TimeoutError": lambda error: (
        as_message(os.strerror(error.errno)) if error.errno else message("no response in time")
    ),
    "RecursionError": lambda _: message("it is nested too deeply"),
    "MemoryError": lambda _: message("not enough memory"),
    "BadZipFile": lambda error: (
        _starting(str(error), reasons.ZIP_REASONS) or message("the zip file is damaged")
    ),
    "TOMLKitError": _of_tomlkit,
    "EOFError": lambda _: message("it ended early"),
    "OSError": _of_system,
}
"""How to word each kind of error, by the name of its class, because most libraries are imported late."""
