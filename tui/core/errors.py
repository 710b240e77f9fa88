"""The error tree. Every error says what happened, where, why, and what to do next.

`reason_of` words the errors of libraries and of the system, whose own words are for programmers.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tui.core.text import clean_line, encoding_of


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
    """

    generation: str = ""
    said: str = ""
    loading: bool = False

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


class NoTools(ModelError):
    """The endpoint says that this model cannot call functions; it may still write calls as text."""


class ServerError(McptuiError):
    """A server did not start, died, or broke the protocol so that a call has no result."""


class StorageError(McptuiError):
    """A recording's file cannot be opened or read."""


REASON_CHARS = 200
MAX_CHAIN = 20

_JSON_REASONS = {
    "Expecting value": "a value is missing",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Illegal trailing comma": "a comma too many",
    "Extra data": "text after the end of the value",
    "Unterminated string": "a string is not closed",
    "Invalid control character": "a control character in a string",
    "Invalid \\": "an invalid escape sequence in a string",
    "Unexpected UTF-8 BOM": "a byte order mark at the start",
}
_TOML_REASONS = {
    "Expected '=' after a key": "= is missing after a key",
    "Expected ']' at the end of a table": "] is missing after the name of a table",
    "Expected ']]' at the end of an array": "]] is missing after the name of a table",
    "Expected newline or end of document": "text after a value",
    "Invalid initial character for a key": "a key is missing",
    "Invalid statement": "a key is missing",
    "Invalid value": "invalid value",
    "Invalid date": "invalid date",
    "Unclosed array": "a list is not closed",
    "Unclosed inline table": "an inline table is not closed",
    "Duplicate inline table key": "a key appears twice",
    "Cannot overwrite a value": "a key appears twice",
    "Cannot declare": "a table appears twice",
    "Cannot mutate immutable": "a table is extended that was complete",
    "Cannot redefine namespace": "a table appears twice",
    "Cannot define": "a key appears twice",
    "Unterminated string": "a string is not closed",
    'Expected "\'"': "a string is not closed",
    "Expected '\"'": "a string is not closed",
    "Illegal character '\\n'": "a string is not closed",
    "Illegal character": "a control character",
    "Found invalid character": "a control character",
    "Unescaped '\\'": "an invalid escape sequence in a string",
    "Invalid hex value": "an invalid escape sequence in a string",
    "Escaped character is not": "an invalid escape sequence in a string",
    "TOML parser": "invalid value",
}
_HTTP_REASONS = {
    "Server disconnected": "the connection was closed before the response",
    "peer closed connection": "the connection was closed in the middle of the response",
    "peer unexpectedly closed": "the connection was closed in the middle of the response",
    "Receive buffer too long": "the headers of the response are too long",
    "Too little data for declared": "the message is shorter than announced",
    "Too much data for declared": "the message is longer than announced",
    "illegal header line": "a header line of the response is not valid HTTP",
    "illegal status line": "the first line of the response is not valid HTTP",
    "illegal ": "the response is not valid HTTP",
    "Illegal header": "a header is invalid",
    "Illegal ": "the request is not valid HTTP",
    "Malformed ": "the response is not valid HTTP",
    "malformed data": "the response is not valid HTTP",
    "bad Content-Length": "the Content-Length of the response is invalid",
    "conflicting Content-Length": "the Content-Length of the response is invalid",
    "Sorry, Transfer-Encoding": "the response has an unsupported Transfer-Encoding",
    "multiple Transfer-Encoding": "the response has an unsupported Transfer-Encoding",
    "unsupported HTTP version": "the HTTP version of the response is unsupported",
    "Error ": "the compressed data is damaged",
    "Exceeded maximum allowed redirects": "too many redirects",
    "Request URL is missing": "the URL must start with http:// or https://",
    "Request URL has an unsupported": "the URL must start with http:// or https://",
    "Invalid port": "the port in the URL is invalid",
    "Invalid URL": "the URL is invalid",
    "Invalid non-printable": "the URL contains a control character",
    "Invalid IDNA": "the host name is invalid",
    "Invalid IPv": "the IP address is invalid",
    "All connection attempts failed": "no connection could be opened",
    "Connection error": "the connection failed",
    "Request timed out": "no response in time",
    "Connection closed": "the connection was closed",
    "Timed out while waiting": "no response in time",
}
_SQLITE_REASONS = {
    "database disk image is malformed": "the file is damaged",
    "malformed database schema": "the file is damaged",
    "file is not a database": "it is not a SQLite file",
    "file is encrypted": "it is not a SQLite file",
    "database is locked": "another program uses the file",
    "database table is locked": "another program uses the file",
    "database or disk is full": "the disk is full",
    "disk I/O error": "reading or writing the file failed",
    "attempt to write a readonly": "the file is read-only",
    "unable to open database": "the file cannot be opened",
    "no such table": "a table is missing",
    "no such column": "a column is missing",
    "interrupted": "it was interrupted",
    "string or blob too big": "a value is too large",
    "unsupported file format": "the file has an unsupported format",
}
_HTTP_KINDS = {
    "RemoteProtocolError": "the other side violates the protocol",
    "LocalProtocolError": "the request violates the protocol",
    "DecodingError": "the compressed data is damaged",
    "ReadTimeout": "no response in time",
    "WriteTimeout": "the request could not be sent in time",
    "ConnectTimeout": "no connection in time",
    "PoolTimeout": "no connection in time",
    "TooManyRedirects": "too many redirects",
    "UnsupportedProtocol": "the URL must start with http:// or https://",
    "InvalidURL": "the URL is invalid",
}
_PLAIN_REASONS = {
    "Exceeds the limit": "a number has too many digits",
    "No closing quotation": "a quote is not closed",
    "No escaped character": "a backslash at the end",
    "embedded null": "it contains a null character",
    "source code string cannot contain null": "it contains a null character",
    "Error -": "the compressed data is damaged",
    "Incorrect padding": "it is not valid Base64",
    "Invalid base64": "it is not valid Base64",
    "Non-base64": "it is not valid Base64",
    "Out of range float": "a number is not finite",
    "Circular reference": "it contains itself",
    "Object of type": "a value has no form in JSON",
    "Port could not be cast": "the port is not a number",
    "Port out of range": "the port is out of range",
    "Invalid IPv6 URL": "the IPv6 address is invalid",
    "Nesting": "it is nested too deeply",
    "Compressed file ended": "it ended early",
    "That compression method": "its compression is not supported",
    "File name in directory": "the zip file is damaged",
}
_PATTERN_REASONS = {
    "missing ), unterminated subpattern": "a parenthesis is not closed",
    "missing ), unterminated comment": "a comment is not closed",
    "missing )": "a parenthesis is not closed",
    "unbalanced parenthesis": "a parenthesis is closed that was not opened",
    "unexpected )": "a parenthesis is closed that was not opened",
    "unterminated character set": "a bracket is not closed",
    "missing ]": "a bracket is not closed",
    "bad character range": "a range in brackets is invalid",
    "multiple repeat": "a repetition follows another",
    "bad repetition operator": "a repetition follows another",
    "nothing to repeat": "nothing to repeat before *, +, ? or {}",
    "no argument for repetition": "nothing to repeat before *, +, ? or {}",
    "min repeat greater": "a repetition's minimum exceeds its maximum",
    "invalid repetition size": "a repetition is too large",
    "bad escape (end": "a backslash at the end",
    "trailing \\": "a backslash at the end",
    "incomplete escape": "an escape sequence is incomplete",
    "bad escape": "an escape sequence is invalid",
    "invalid escape": "an escape sequence is invalid",
    "octal escape": "an escape sequence is invalid",
    "undefined character name": "a character name is unknown",
    "missing {": "a character name is incomplete",
    "missing }": "a character name is incomplete",
    "missing character name": "a character name is incomplete",
    "missing group name": "a group's name is missing",
    "missing <": "a group's name is missing",
    "missing >": "a group's name is not closed",
    "bad character in group name": "a group's name is invalid",
    "redefinition of group name": "two groups have the same name",
    "unknown group name": "there is no group of this name",
    "invalid group reference": "there is no group of this number",
    "cannot refer to": "a group refers to itself",
    "unknown extension": "unknown syntax after (?",
    "unexpected end of pattern": "it ends too early",
    "global flags not at the start": "flags such as (?i) must be at the start",
    "unknown flag": "a flag is unknown",
    "missing flag": "a flag is missing",
    "missing -, : or )": "flags are not closed",
    "missing :": "flags are not closed",
    "bad inline flags": "invalid flags",
    "look-behind requires": "look-around is not supported",
    "pattern too large": "it is too large",
}
"""The words of Python's `re` and of RE2."""

_HTTP_LIBRARIES = frozenset(("anyio", "h11", "httpcore", "httpcore2", "httpx", "httpx2", "openai", "wsproto"))
_ADDRESS_REASONS = {
    -2: "the host name cannot be resolved",
    -3: "the host name cannot be resolved at present",
    -5: "the host name has no address",
    8: "the host name cannot be resolved",  # macOS
}
_TLS_REASONS = {
    "CERTIFICATE_VERIFY_FAILED": "the certificate cannot be verified",
    "WRONG_VERSION_NUMBER": "the other side does not use TLS",
    "RECORD_LAYER_FAILURE": "the other side does not use TLS",
    "UNEXPECTED_EOF_WHILE_READING": "the connection was closed during the TLS handshake",
    "UNSUPPORTED_PROTOCOL": "no common TLS version",
    "NO_PROTOCOLS_AVAILABLE": "no common TLS version",
    "TLSV1_ALERT_PROTOCOL_VERSION": "no common TLS version",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the TLS handshake was rejected",
    "TLSV1_UNRECOGNIZED_NAME": "the server has no certificate for this host",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate",
}
_TYPE_REASONS = {
    "missing": "is missing",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "url_parsing": "must be a URL",
    "url_type": "must be a URL",
    "url_scheme": "must be an http or https URL",
    "extra_forbidden": "is not allowed",
    "union_tag_invalid": "has an unknown type",
    "union_tag_not_found": "has no type",
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
        return _of_sqlite(error)
    if "re" in (kinds.get("PatternError"), kinds.get("error")):  # the latter until Python 3.12
        return _starting(str(error), _PATTERN_REASONS) or getattr(error, "msg", "")
    for kind, library in kinds.items():
        if (words := _REASONS.get(kind)) is not None:
            return words(error)
        if library in _HTTP_LIBRARIES:
            text = str(error)
            if kind == "ProxyError" and re.match(r"\d{3} ", text):
                return f"HTTP {text}"
            return _starting(text, _HTTP_REASONS) or _starting(kind, _HTTP_KINDS) or "the connection failed"
    text = str(error)
    return _starting(text, _PLAIN_REASONS) or text or f"internal error ({type(error).__name__})"


def origin_of(error: BaseException) -> BaseException:
    """Return the error that caused an error of an HTTP library or a group, which only wrap it."""
    found = error
    for one in _wrapped(error):
        if isinstance(found, BaseExceptionGroup) or _is_of_http(one) or isinstance(one, OSError):
            found = one
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


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    for one in chain_of(error):
        yield one
        is_vague = isinstance(one, OSError) and one.errno is None and not isinstance(one, TimeoutError)
        if not (isinstance(one, BaseExceptionGroup) or _is_of_http(one) or is_vague):
            return


def _is_of_http(error: BaseException) -> bool:
    """Whether it is of a class of an HTTP library, or of one of mcptui that is based on such a class."""
    return any(kind.__module__.partition(".")[0] in _HTTP_LIBRARIES for kind in type(error).__mro__)


def _starting(text: str, table: Mapping[str, str]) -> str:
    return next((words for start, words in table.items() if text.startswith(start)), "")


def _of_system(error: Any) -> str:
    if type(error).__name__ == "gaierror":
        return _ADDRESS_REASONS.get(error.errno, "the host name cannot be resolved")
    said = error.strerror or ""
    if error.errno is not None and error.errno > 0 and (not said or "call failed" in said):  # asyncio's words
        return os.strerror(error.errno)
    return said or str(error) or "the system reports an error"


def _of_zip(error: Any) -> str:
    text = str(error)
    if "not a zip file" in text:
        return "it is not a zip file"
    return "its checksum is wrong" if "CRC" in text else "the zip file is damaged"


def _of_decoding(error: UnicodeDecodeError) -> str:
    if name := encoding_of(error.object):
        return f"it is {name} text, not UTF-8"
    return f"byte {error.start:,} is not valid {error.encoding.upper()}"


def _of_sqlite(error: Any) -> str:
    return _starting(str(error), _SQLITE_REASONS) or "it cannot be used as a SQLite file"


def _of_tomlkit(error: Any) -> str:
    line, column = getattr(error, "line", None), getattr(error, "col", None)
    return "invalid TOML" if line is None else f"invalid TOML at line {line}, column {column}"


def _of_tls(error: Any) -> str:
    if why := getattr(error, "verify_message", ""):
        return f"the certificate cannot be verified: {why}"
    reason = getattr(error, "reason", None) or ""
    return _TLS_REASONS.get(reason) or f"TLS error {reason}".replace("_", " ").lower().replace("tls", "TLS")


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
    return f"{place} {_TYPE_REASONS.get(first['type'], 'has an unexpected value')}"


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
    "BadZipFile": _of_zip,
    "TOMLKitError": _of_tomlkit,
    "EOFError": lambda _: "it ended early",
    "OSError": _of_system,
}
"""How to word each kind of error, by the name of its class, because most libraries are imported late."""
