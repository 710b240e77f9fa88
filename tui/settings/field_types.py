"""Types of settings, with what each accepts."""

import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from tui.core.permission.rules import Verdict, parse_rule
from tui.core.servers import LOG_LEVELS
from tui.core.text import clean_line
from tui.core.web import header_name_fault, header_value_fault, is_loopback, repeated_header, url_fault
from tui.settings.references import KEYCHAIN, NAME, FromEnvironment


def _from_environment(read: Callable[[str], Any]) -> BeforeValidator:
    def convert(value: Any) -> Any:
        if isinstance(value, FromEnvironment):
            try:
                return read(value)
            except (ValueError, KeyError):
                return value
        return value

    return BeforeValidator(convert)


def checked(fault_of: Callable[[Any], str]) -> AfterValidator:
    """Return what rejects a value with the text that `fault_of` returns, unless it is ""."""

    def check(value: Any) -> Any:
        if fault := fault_of(value):
            raise ValueError(fault)
        return value

    return AfterValidator(check)


def _matching(pattern: str, fault: str) -> AfterValidator:
    compiled = re.compile(pattern, re.DOTALL)
    return checked(lambda value: "" if compiled.fullmatch(value) else fault)


def rule(action: Verdict | None) -> AfterValidator:
    """Return what rejects a text that is no approval rule; an `action` is not part of the text."""

    def fault_of(value: str) -> str:
        parse_rule(value, action)
        return ""

    return checked(fault_of)


def _headers_fault(value: dict[str, str]) -> str:
    name = repeated_header(value)
    return f"contains {clean_line(name, 60)} in two spellings, which are the same header" if name else ""


def body_fault(value: dict[str, Any]) -> str:
    """Return which fields of a request to a model may not be set, or ""."""
    kept = sorted(value.keys() & {"model", "messages", "tools", "stream"})
    return f"must not contain {', '.join(f'`{name}`' for name in kept)}" if kept else ""


def as_list(value: Any) -> Any:
    """Return a single text as a list."""
    return [value] if isinstance(value, str) else value


def _text_fault(value: str) -> str:
    if "\0" in value:
        return "must not contain a null character"
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        return "must not contain half of a surrogate pair, which is not a character"
    return ""


def issuer_fault(value: str) -> str:
    """Return why a URL cannot be an issuer, or "": its metadata must not be read unencrypted."""
    if fault := url_fault(value):
        return fault
    parts = urlsplit(value)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    return "" if is_safe else "must be an https URL"


ONE_OR_MORE = BeforeValidator(as_list, json_schema_input_type=str | list[str])
Text = Annotated[str, checked(_text_fault)]
Texts = Annotated[list[Text], ONE_OR_MORE]
Filled = Annotated[Text, Field(min_length=1)]
Number = Annotated[float, _from_environment(float), Field(allow_inf_nan=False)]
Whole = Annotated[int, _from_environment(int)]
Positive = Annotated[Whole, Field(ge=1)]
Truth = Annotated[bool, _from_environment(lambda text: {"true": True, "false": False}[text.lower()])]
Url = Annotated[str, checked(url_fault)]
DocumentUrl = Annotated[
    Url, _matching(r"(?i:https)://[^/?#]+/[^?#].*", "must be a URL like https://host/client.json")
]
Key = Annotated[
    Text, _matching(rf"(?!{KEYCHAIN}).*|{KEYCHAIN}[^/].*/[^/]+", "must be `keyring:SERVICE/NAME`")
]
VariableName = Annotated[str, _matching(NAME, "must be the name of an environment variable, not its value")]
EnvName = Annotated[Text, _matching("[^=]+", "is not a name of a variable: it is empty, or contains =")]
ExtensionId = Annotated[
    str, _matching(r"[^/\s]{1,100}/[^\s]{1,100}", "must be an id like `io.modelcontextprotocol/skills`")
]
Level = Annotated[str, _matching("|".join(LOG_LEVELS), f"must be one of {', '.join(LOG_LEVELS)}")]
Sampling = Annotated[str, _matching("never|ask|allow", "must be never, ask or allow")]
Root = Annotated[
    Text, _matching("(?!.*://).+|file://.*", "must be a directory, like `~/src` or `file:///home/me/src`")
]
Seconds = Annotated[Number, Field(gt=0, le=86_400)]
Price = Annotated[Number, Field(ge=0)]
EnvValue = Annotated[
    Text,
    BeforeValidator(
        lambda value: str(value) if type(value) in (int, float) else value, json_schema_input_type=str | float
    ),
]
HeaderName = Annotated[str, checked(header_name_fault)]
# A value from the keychain is checked when it is read.
HeaderValue = Annotated[
    EnvValue, checked(lambda value: "" if KEYCHAIN in value else header_value_fault(value))
]
Headers = Annotated[dict[HeaderName, HeaderValue], checked(_headers_fault)]
