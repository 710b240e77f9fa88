"""The error tree. Every error says what happened, where, why, and what to do next.

`reason_of` words the errors of libraries and of the system, whose own words are for programmers.
"""

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tui.core.text import clean_line


class McptuiError(Exception):
    """An error that the user can act on: what happened and why, and what to do (`next_step`).

    `where` is a server's or profile's name, a file with a key path, or "".
    """

    def __init__(self, message: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        named = not self.where or self.message.startswith(f"{self.where} ")
        text = self.message if named else f"{self.where}: {self.message}"
        return sentences(text, self.next_step)


def sentences(text: str, next_step: str) -> str:
    """Return what happened and what to do about it as one or two sentences."""
    if not next_step:
        return text
    return f"{text}{'' if text.endswith(('.', '!', '?', ':')) else '.'} {next_step}"


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
    told = [problem.strip().rstrip(".") for problem in problems]
    return " ".join((*(f"{one}{'' if one.endswith('?') else '.'}" for one in told[:-1]), *told[-1:]))


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

_JSON_REASONS = {
    "a value is missing": "Expecting value",
    "a name in double quotes is missing": "Expecting property name",
    "a colon is missing": "Expecting ':' delimiter",
    "a comma is missing": "Expecting ',' delimiter",
    "a comma too many": "Illegal trailing comma",
    "text after the end of the value": "Extra data",
    "a string is not closed": "Unterminated string",
    "a control character in a string": "Invalid control character",
    "an invalid escape sequence in a string": "Invalid \\",
    "a byte order mark at the start": "Unexpected UTF-8 BOM",
}
_TOML_REASONS = {
    "= is missing after a key": "Expected '=' after a key",
    "] is missing after the name of a table": "Expected ']' at the end of a table",
    "]] is missing after the name of a table": "Expected ']]' at the end of an array",
    "text after a value": "Expected newline or end of document",
    "a key is missing": "Invalid initial character for a key|Invalid statement",
    "invalid value": "Invalid value|TOML parser",
    "invalid date": "Invalid date",
    "a list is not closed": "Unclosed array",
    "an inline table is not closed": "Unclosed inline table",
    "a key appears twice": "Duplicate inline table key|Cannot overwrite a value|Cannot define",
    "a table appears twice": "Cannot declare|Cannot redefine namespace",
    "a table is extended that was complete": "Cannot mutate immutable",
    "a string is not closed": "Unterminated string|Expected \"'\"|Expected '\"'|Illegal character '\\n'",
    "a control character": "Illegal character|Found invalid character",
    "an invalid escape sequence in a string": "Unescaped '\\'|Invalid hex value|Escaped character is not",
}
_HTTP_REASONS = {
    "the connection was closed before the response": "Server disconnected",
    "the connection was closed in the middle of the response": "peer closed|peer unexpectedly closed",
    "the headers of the response are too long": "Receive buffer too long",
    "the message is shorter than announced": "Too little data for declared",
    "the message is longer than announced": "Too much data for declared",
    "a header line of the response is not valid HTTP": "illegal header line",
    "the first line of the response is not valid HTTP": "illegal status line",
    "the response is not valid HTTP": "illegal |Malformed |malformed data",
    "a header is invalid": "Illegal header",
    "the request is not valid HTTP": "Illegal ",
    "the Content-Length of the response is invalid": "bad Content-Length|conflicting Content-Length",
    "the response has an unsupported Transfer-Encoding": "Sorry, Transfer|multiple Transfer",
    "the HTTP version of the response is unsupported": "unsupported HTTP version",
    "the compressed data is damaged": "Error |DecodingError",
    "too many redirects": "Exceeded maximum allowed redirects|TooManyRedirects",
    "the URL must start with http:// or https://": (
        "Request URL is missing|Request URL has an unsupported|UnsupportedProtocol"
    ),
    "the port in the URL is invalid": "Invalid port",
    "the URL is invalid": "Invalid URL|InvalidURL",
    "the URL contains a control character": "Invalid non-printable",
    "the host name is invalid": "Invalid IDNA",
    "the IP address is invalid": "Invalid IPv",
    "no connection could be opened": "All connection attempts failed",
    "the connection failed": "Connection error",
    "no response in time": "Request timed out|Timed out while waiting|ReadTimeout",
    "the connection was closed": "Connection closed",
    "the other side violates the protocol": "RemoteProtocolError",
    "the request violates the protocol": "LocalProtocolError",
    "the request could not be sent in time": "WriteTimeout",
    "no connection in time": "ConnectTimeout|PoolTimeout",
}
"""Beginnings of the messages, or else the class names, of the HTTP libraries' errors."""

_SQLITE_REASONS = {
    "the file is damaged": "database disk image is malformed|malformed database schema",
    "it is not a SQLite file": "file is not a database|file is encrypted",
    "another program uses the file": "database is locked|database table is locked",
    "the disk is full": "database or disk is full",
    "reading or writing the file failed": "disk I/O error",
    "the file is read-only": "attempt to write a readonly",
    "the file cannot be opened": "unable to open database",
    "a table is missing": "no such table",
    "a column is missing": "no such column",
    "it was interrupted": "interrupted",
    "a value is too large": "string or blob too big",
    "the file has an unsupported format": "unsupported file format",
}
_PLAIN_REASONS = {
    "a number has too many digits": "Exceeds the limit",
    "a quote is not closed": "No closing quotation",
    "a backslash at the end": "No escaped character",
    "it contains a null character": "embedded null|source code string cannot contain null",
    "the compressed data is damaged": "Error -",
    "it is not valid Base64": "Incorrect padding|Invalid base64|Non-base64",
    "a number is not finite": "Out of range float",
    "it contains itself": "Circular reference",
    "a value has no form in JSON": "Object of type",
    "the port is not a number": "Port could not be cast",
    "the port is out of range": "Port out of range",
    "the IPv6 address is invalid": "Invalid IPv6 URL",
    "it is nested too deeply": "Nesting",
    "it ended early": "Compressed file ended",
    "its compression is not supported": "That compression method",
    "the zip file is damaged": "File name in directory",
}
_ZIP_REASONS = {"it is not a zip file": "File is not a zip file", "its checksum is wrong": "Bad CRC"}
_PATTERN_REASONS = {
    "a parenthesis is not closed": "missing )",
    "a comment is not closed": "missing ), unterminated comment",
    "a parenthesis is closed that was not opened": "unbalanced parenthesis|unexpected )",
    "a bracket is not closed": "unterminated character set|missing ]",
    "a range in brackets is invalid": "bad character range",
    "a repetition follows another": "multiple repeat|bad repetition operator",
    "nothing to repeat before *, +, ? or {}": "nothing to repeat|no argument for repetition",
    "a repetition's minimum exceeds its maximum": "min repeat greater",
    "a repetition is too large": "invalid repetition size",
    "a backslash at the end": "bad escape (end|trailing \\",
    "an escape sequence is incomplete": "incomplete escape",
    "an escape sequence is invalid": "bad escape|invalid escape|octal escape",
    "a character name is unknown": "undefined character name",
    "a character name is incomplete": "missing {|missing }|missing character name",
    "a group's name is missing": "missing group name|missing <",
    "a group's name is not closed": "missing >",
    "a group's name is invalid": "bad character in group name",
    "two groups have the same name": "redefinition of group name",
    "there is no group of this name": "unknown group name",
    "there is no group of this number": "invalid group reference",
    "a group refers to itself": "cannot refer to",
    "unknown syntax after (?": "unknown extension",
    "it ends too early": "unexpected end of pattern",
    "flags such as (?i) must be at the start": "global flags not at the start",
    "a flag is unknown": "unknown flag",
    "a flag is missing": "missing flag",
    "flags are not closed": "missing -, : or )|missing :",
    "invalid flags": "bad inline flags",
    "look-around is not supported": "look-behind requires",
    "the pattern is too large": "pattern too large",
}
"""The words of Python's `re` and of RE2."""

_HTTP_LIBRARIES = frozenset(("anyio", "h11", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "wsproto"))
_ADDRESS_REASONS = {-3: "the host name cannot be resolved at present", -5: "the host name has no address"}
_TLS_REASONS = {
    "the certificate cannot be verified": "CERTIFICATE_VERIFY_FAILED",
    "the other side does not use TLS": "WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE",
    "the connection was closed during the TLS handshake": "UNEXPECTED_EOF_WHILE_READING",
    "no common TLS version": "UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|TLSV1_ALERT_PROTOCOL_VERSION",
    "the TLS handshake was rejected": "SSLV3_ALERT_HANDSHAKE_FAILURE",
    "the server has no certificate for this host": "TLSV1_UNRECOGNIZED_NAME",
    "the server requires a client certificate": "TLSV13_ALERT_CERTIFICATE_REQUIRED",
}
_TYPE_REASONS = {
    "is missing": "missing",
    "must be a string": "string_type",
    "must be an integer": "int_type|int_parsing|int_from_float",
    "must be a number": "float_type|float_parsing",
    "must be true or false": "bool_type|bool_parsing",
    "must be a list": "list_type",
    "must be an object": "dict_type|model_type|model_attributes_type",
    "must be null": "none_required",
    "must be a URL": "url_parsing|url_type",
    "must be an http or https URL": "url_scheme",
    "is not allowed": "extra_forbidden",
    "has an unknown type": "union_tag_invalid",
    "has no type": "union_tag_not_found",
}


def reason_of(error: BaseException, limit: int = REASON_CHARS) -> str:
    """Return in a few words why an operation failed: one line, cleaned, never empty, without a full stop.

    An error of a class of mcptui keeps its words. For errors of libraries and of the system, the cause that
    the system or the protocol names counts, not the chain of wrappers around it. What they quote from the
    other side, which may be a secret, is left out.
    """
    return clean_line(_reason(error), limit).rstrip(".") or "unknown cause"


def _reason(error: BaseException) -> str:
    error = origin_of(error)
    if type(error).__module__.startswith("tui.") and not isinstance(error, OSError):
        return str(error)
    kinds = {kind.__name__: kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if kinds.get("Error") == "sqlite3":
        return _starting(str(error), _SQLITE_REASONS) or "it cannot be used as a SQLite file"
    if "re" in (kinds.get("PatternError"), kinds.get("error")):  # the latter until Python 3.12
        return _starting(str(error), _PATTERN_REASONS) or getattr(error, "msg", "")
    for kind, library in kinds.items():
        if (words := _REASONS.get(kind)) is not None:
            return words(error)
        if library in _HTTP_LIBRARIES:
            text = str(error)
            if kind == "ProxyError" and re.match(r"\d{3} ", text):
                return f"HTTP {text}"
            return _starting(text, _HTTP_REASONS) or _starting(kind, _HTTP_REASONS) or "the connection failed"
    text = str(error)
    return _starting(text, _PLAIN_REASONS) or text or f"internal error ({type(error).__name__})"


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
    return max((len(start), words) for start, words in (*starts, ("", "")) if text.startswith(start))[1]


def _of_system(error: Any) -> str:
    if type(error).__name__ == "gaierror":
        return _ADDRESS_REASONS.get(error.errno, "the host name cannot be resolved")
    said = error.strerror or ""
    if error.errno is not None and error.errno > 0 and (not said or "call failed" in said):  # asyncio's words
        return os.strerror(error.errno)
    return said or str(error) or "the system reports an error"


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
        return f"it is {name} text, not UTF-8"
    return f"byte {error.start:,} is not valid {error.encoding.upper()}"


def _of_tomlkit(error: Any) -> str:
    line = getattr(error, "line", None)
    return "invalid TOML" if line is None else f"invalid TOML at line {line}, column {error.col}"


def _of_tls(error: Any) -> str:
    if why := getattr(error, "verify_message", ""):
        return f"the certificate cannot be verified: {why}"
    reason = getattr(error, "reason", None) or ""
    said = reason.replace("_", " ").lower().replace("tls", "TLS")
    return _starting(reason, _TLS_REASONS) or f"TLS error {said}"


def _of_json(error: Any) -> str:
    why = _starting(error.msg, _JSON_REASONS) or "invalid JSON"
    return f"{why} at line {error.lineno}, column {error.colno}"


def _of_toml(error: Any) -> str:
    text = str(error)
    why = _starting(text, _TOML_REASONS) or "invalid TOML"
    place = re.search(r" \(at (line \d+, column \d+|end of document)\)$", text)
    return f"{why} at {place[1].replace('end of document', 'the end of the file')}" if place else why


def _of_validation(error: Any) -> str:
    """Word the first fault that pydantic found; it quotes the payload over many lines."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"]) or "the response"
    return f"{place} {_starting(first['type'], _TYPE_REASONS) or 'has an unexpected value'}"


_REASONS: Mapping[str, Callable[[Any], str]] = {
    "JSONDecodeError": _of_json,
    "TOMLDecodeError": _of_toml,
    "ValidationError": _of_validation,
    "SSLError": _of_tls,
    "UnicodeDecodeError": _of_decoding,
    "UnicodeEncodeError": lambda error: f"{error.encoding.upper()} does not have one of its characters",
    "IncompleteReadError": lambda _: "it ended early",
    "LimitOverrunError": lambda _: "a line is too long",
    "TimeoutError": lambda error: os.strerror(error.errno) if error.errno else "no response in time",
    "RecursionError": lambda _: "it is nested too deeply",
    "MemoryError": lambda _: "not enough memory",
    "BadZipFile": lambda error: _starting(str(error), _ZIP_REASONS) or "the zip file is damaged",
    "TOMLKitError": _of_tomlkit,
    "EOFError": lambda _: "it ended early",
    "OSError": _of_system,
}
"""How to word each kind of error, by the name of its class, because most libraries are imported late."""
