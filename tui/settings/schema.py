"""What can be configured. The docstrings of the fields are the manual: docs/configuration.md is made of them.

Only this module and `load` know pydantic. Types are strict: a number in quotes is a mistake, not a
number, unless it came from an environment variable, which knows nothing but text.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tui.core.servers import LOG_LEVELS
from tui.core.web.http_rules import header_name_fault, header_value_fault, url_fault
from tui.settings.keymap import flat_keys
from tui.settings.references import KEYCHAIN, NAME, FromEnvironment

MAX_NAME = 64
_SCHEMES = {"http": ("http", "https"), "sse": ("http", "https"), "websocket": ("ws", "wss")}


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a server or a model, or ""."""
    if not name or len(name) > MAX_NAME:
        return f"a name has 1 to {MAX_NAME} characters"
    if not name.isprintable() or name != name.strip():
        return "a name has printable characters only, and no space at its ends"
    if "/" in name or "\\" in name or name.startswith("."):
        return "a name has no / or \\ in it and does not begin with a dot"
    return ""


def snippet_fault(name: str, text: Any) -> str:
    """Return what is wrong with a snippet, or ""."""
    if not re.fullmatch(r"[A-Za-z][\w-]{0,63}", name):
        return "the name of a snippet begins with a letter and has letters, digits, - and _ only"
    if not isinstance(text, str) or not text.strip():
        return "must be a text"
    return "must not contain a null character" if "\0" in text else ""


def _from_environment(read: Callable[[str], Any]) -> BeforeValidator:
    def convert(value: Any) -> Any:
        if isinstance(value, FromEnvironment):
            try:
                return read(value)
            except (ValueError, KeyError):
                return value
        return value

    return BeforeValidator(convert)


def _checked_url(value: str) -> str:
    if fault := url_fault(value):
        raise ValueError(fault)
    return value


def _checked_document(value: str) -> str:
    parts = urlsplit(_checked_url(value))
    if parts.scheme != "https" or parts.path in ("", "/"):
        raise ValueError("must be an address like https://host/client.json")
    return value


def _checked_pattern(value: str) -> str:
    if not re.fullmatch(r"[^/]+/.+", value):
        raise ValueError("must be a pattern of server/tool, like `notes/*`")
    return value


def _checked_variable(value: str) -> str:
    if not re.fullmatch(NAME, value):
        raise ValueError("must be the name of an environment variable, not its value")
    return value


def _checked_key(value: str) -> str:
    if value.startswith(KEYCHAIN) and not re.fullmatch(r"[^/].*/[^/]+", value.removeprefix(KEYCHAIN)):
        raise ValueError("names no place in the keychain: it is `keyring:SERVICE/NAME`")
    return value


def _checked_level(value: str) -> str:
    if value not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return value


def _checked_sampling(value: str) -> str:
    if value not in ("never", "ask", "allow"):
        raise ValueError("must be never, ask or allow")
    return value


def _checked_root(value: str) -> str:
    scheme, colon, _ = value.partition("://")
    if not value or (colon and scheme != "file"):
        raise ValueError("must be a directory, like `~/src` or `file:///home/me/src`")
    return value


def _checked_header(value: str) -> str:
    if fault := header_name_fault(value):
        raise ValueError(fault)
    return value


def _checked_header_value(value: str) -> str:
    """Check a value that is written here; one in the keychain is checked when it is read."""
    if KEYCHAIN not in value and (fault := header_value_fault(value)):
        raise ValueError(fault)
    return value


def _checked_body(value: dict[str, Any]) -> dict[str, Any]:
    if kept := sorted(value.keys() & {"model", "messages", "tools", "stream"}):
        raise ValueError(f"must not contain {', '.join(f'`{name}`' for name in kept)}")
    return value


def _text_of_number(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _flat(value: Any) -> Any:
    return flat_keys(value) if isinstance(value, dict) else value


def _no_null(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a null character")
    return value


_Texts = str | list[str]
Text = Annotated[str, AfterValidator(_no_null)]
Root = Annotated[Text, AfterValidator(_checked_root)]
Number = Annotated[float, _from_environment(float), Field(allow_inf_nan=False)]
Whole = Annotated[int, _from_environment(int)]
Truth = Annotated[bool, _from_environment(lambda text: {"true": True, "false": False}[text.lower()])]
Url = Annotated[str, AfterValidator(_checked_url)]
DocumentUrl = Annotated[str, AfterValidator(_checked_document)]
Seconds = Annotated[Number, Field(gt=0, le=86_400)]
Price = Annotated[Number, Field(ge=0)]
Patterns = Annotated[
    list[Annotated[str, AfterValidator(_checked_pattern)]],
    BeforeValidator(_as_list, json_schema_input_type=_Texts),
]
EnvValue = Annotated[Text, BeforeValidator(_text_of_number, json_schema_input_type=str | float)]
Headers = dict[
    Annotated[str, AfterValidator(_checked_header)],
    Annotated[EnvValue, AfterValidator(_checked_header_value)],
]


class Section(BaseModel):
    """A table of the configuration."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class ModelSettings(Section):
    """A model that can be chosen with `--model NAME`: any endpoint that speaks the OpenAI chat API."""

    model: Annotated[Text, Field(min_length=1)]
    """The endpoint's own id of the model, like `gpt-5.1` or `qwen3:8b`."""
    base_url: Url = "https://api.openai.com/v1"
    """Address of the endpoint, usually ending in `/v1`."""
    api_key_env: Annotated[str, AfterValidator(_checked_variable)] | None = None
    """The environment variable that holds the key. The key itself then stands in no file."""
    api_key: Annotated[Text, AfterValidator(_checked_key)] | None = None
    """The key itself, better as `"${NAME}"`, or `"keyring:SERVICE/NAME"` for one in the system's keychain."""
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    """How much chance there is in an answer. Not sent if not set: some models refuse it."""
    max_tokens: Annotated[Whole, Field(ge=1)] | None = None
    """The longest reply, in tokens. Not sent if not set."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks. Sent in the field that the provider takes. Not sent if not set."""
    top_p: Annotated[Number, Field(gt=0, le=1)] | None = None
    """Share of the likeliest tokens to choose from. Not sent if not set."""
    seed: Whole | None = None
    """Makes replies repeatable where the endpoint supports it. Not sent if not set."""
    stop: Annotated[
        list[Annotated[Text, Field(min_length=1)]], Field(max_length=4), BeforeValidator(_as_list)
    ] = []
    """Texts at which a reply ends, at most 4."""
    extra_body: Annotated[dict[str, Any], AfterValidator(_checked_body)] = {}
    """Further fields of each request, as a table. They replace those that mcptui sends."""
    context_window: Annotated[Whole, Field(ge=256)] | None = None
    """How many tokens fit into one request."""
    price_in: Price | None = None
    """What a million tokens sent to it cost. With `price_out`, costs are shown."""
    price_cached: Price | None = None
    """What a million of those cost that the endpoint reads from its cache. If not set, as much as others."""
    price_out: Price | None = None
    """What a million tokens of its replies cost."""
    currency: Annotated[Text, Field(min_length=1, max_length=8)] = "USD"
    """The currency of the prices."""
    system: Text | None = None
    """The system text of conversations with this model, in place of the usual one."""
    titles: Literal["text", "model"] = "text"
    """Titles of conversations: `text` of the first question, or by the `model` after its first answer."""
    tool_protocol: Literal["auto", "native", "xml", "chatmcp", "json", "react"] = "auto"
    """`native` is function calling, the others are written as text; `auto` takes what the endpoint can do."""
    headers: Headers = {}
    """HTTP headers sent with each request."""
    first_token_seconds: Seconds = 120.0
    """How long the model may think before its first word."""
    between_chunks_seconds: Seconds = 60.0
    """How long it may be silent in the middle of a reply."""

    @model_validator(mode="after")
    def _has_prices_together(self) -> Self:
        if self.price_cached is not None and self.price_in is None:
            raise ValueError("has a `price_cached` but no `price_in`")
        return self


class LimitSettings(Section):
    """What one turn may use up. At a limit the model is asked for its best answer so far."""

    max_steps: Annotated[Whole, Field(ge=1, le=1000)] = 20
    """Requests to the model in one turn."""
    max_tool_calls: Annotated[Whole, Field(ge=1, le=10_000)] = 100
    """Tool calls in one turn."""
    max_calls_per_reply: Annotated[Whole, Field(ge=1, le=256)] = 16
    """Tool calls taken from one reply; the model is told that the others did not run."""
    turn_seconds: Seconds = 900.0
    """Time for one turn. Waiting for you does not count."""
    tool_seconds: Seconds = 60.0
    """Time for one tool call, unless its server has a `tool_seconds` of its own."""
    consecutive_errors: Annotated[Whole, Field(ge=1, le=100)] = 3
    """Steps in a row in which every call failed."""
    identical_calls_note: Annotated[Whole, Field(ge=2, le=100)] = 3
    """After so many identical calls with identical results the model is told that it goes in a circle."""
    identical_calls_stop: Annotated[Whole, Field(ge=2, le=100)] = 5
    """After so many, the turn ends."""
    result_bytes: Annotated[Whole, Field(ge=256, le=16 * 1024 * 1024)] = 32768
    """How much of one result the model is given, in bytes. You can always see all of it."""
    parallel_calls: Annotated[Whole, Field(ge=1, le=64)] = 5
    """Read-only calls that run at the same time."""
    turn_tokens: Annotated[Whole, Field(ge=1)] | None = None
    """Tokens of all requests of one turn together. No such limit if not set."""
    turn_cost: Annotated[Number, Field(gt=0)] | None = None
    """What one turn may cost, by the prices of the profile. No such limit if not set."""


class ServerOAuthSettings(Section):
    """How to sign in to a remote server that asks for it. Usually nothing of this is needed.

    Secrets are best written as `"${NAME}"`, or `"keyring:SERVICE/NAME"` for one in the system's keychain.
    """

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    """You sign in, in a browser; or mcptui does, with the credentials below, where nobody is there."""
    client_id: Annotated[Text, Field(min_length=1)] | None = None
    """The client that is registered for you. If not set, mcptui registers itself."""
    client_secret: Annotated[Text, AfterValidator(_checked_key)] | None = None
    """Its secret, if it has one."""
    scopes: Annotated[list[Text], BeforeValidator(_as_list, json_schema_input_type=_Texts)] = []
    """What to ask for, in place of what the server suggests."""
    issuer: Url | None = None
    """The authorization server that may get these credentials. If not set, the first one that was used."""
    callback_port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """The port of `http://127.0.0.1:PORT/callback`, if that address is registered. If not set, any."""
    client_metadata_url: DocumentUrl | None = None
    """The address of a client metadata document, in place of the one in `[oauth]`."""
    private_key: Annotated[Text, AfterValidator(_checked_key)] | None = None
    """A private key in PEM, in place of `client_secret`, for `client_credentials`."""
    private_key_algorithm: Literal["RS256", "ES256", "PS256", "EdDSA"] = "RS256"
    """How it signs."""

    @model_validator(mode="after")
    def _has_credentials(self) -> Self:
        if self.grant == "client_credentials" and not (
            self.client_id and (self.client_secret or self.private_key)
        ):
            raise ValueError("needs a `client_id`, and a `client_secret` or a `private_key`, for this grant")
        return self


class ServerSettings(Section):
    """An MCP server. One with `command` is started and spoken to on its stdin and stdout.

    As soon as one is named, the sample servers are no longer started. A path in `command` or `args` that
    exists in the folder of the configuration file is meant from there, unless `cwd` is set.
    """

    command: Annotated[Text, Field(min_length=1)] | None = None
    """The program. Looked up on PATH; never given to a shell."""
    args: list[Text] = []
    """Its arguments."""
    env: dict[str, EnvValue] = {}
    """Variables beside HOME, PATH and the like. For a secret: `"${VAR}"`, or `"keyring:SERVICE/NAME"`."""
    cwd: Annotated[Text, Field(min_length=1)] | None = None
    """The directory it runs in. `~` is your home."""
    transport: Literal["stdio", "http", "sse", "websocket", "lines"] | None = None
    """With a `command` `stdio` or `lines` (non-standard); with a `url` `http`, `sse` or `websocket`."""
    url: Url | None = None
    """Where a server is that somebody else runs."""
    headers: Headers = {}
    """HTTP headers sent to `url`. For a secret: `"${VAR}"`, or `"Bearer keyring:SERVICE/NAME"`."""
    autostart: Truth = True
    """Start it with mcptui. Others are started with a key."""
    restart: Truth = False
    """Start it again, with growing pauses, when it dies by itself."""
    start_seconds: Seconds = 60.0
    """How long a start may take. `npx` and `uvx` download on the first one."""
    tool_seconds: Seconds | None = None
    """Time for one of its tool calls, if not the one of `[limits]`. A task may take as long as the turn."""
    trust_hints: Truth = True
    """Believe it when it says that a tool only reads, so that such calls do not ask."""
    pin: Annotated[list[Text], BeforeValidator(_as_list, json_schema_input_type=_Texts)] = []
    """Names of tools that come first where the model takes fewer than there are, `*` and `?` allowed."""
    disabled: Truth = False
    """Leave it out, but keep it in the file."""
    off: Annotated[list[Text], BeforeValidator(_as_list, json_schema_input_type=_Texts)] = []
    """Names of tools that the model is not offered, `*` and `?` allowed; `"*"` for all. Call them by hand."""
    instructions: Truth = False
    """Give the model the server's own instructions, marked as its words. Read them in its overview first."""
    offer_resources: Truth = False
    """Let the model list and read the server's resources, with tools of mcptui's own."""
    log_level: Annotated[str, AfterValidator(_checked_level)] | None = None
    """The least severe messages that it is asked to log: `debug`, `info`, `notice`, `warning`, `error` …"""
    oauth: ServerOAuthSettings = ServerOAuthSettings()
    """How to sign in to it."""
    roots: Annotated[list[Root], BeforeValidator(_as_list, json_schema_input_type=_Texts)] = []
    """Directories that it is told it may work in. They can be changed while it runs, in its overview."""
    sampling: Annotated[str, AfterValidator(_checked_sampling)] = "never"
    """Whether it may ask the model in use: `never`, `ask` (you see request and reply) or `allow`."""
    sampling_tokens: Annotated[Whole, Field(ge=1)] = 100_000
    """Tokens that its requests to the model may use until mcptui ends."""
    sampling_per_minute: Annotated[Whole, Field(ge=1)] = 10
    """How many requests to the model it may make in a minute."""

    @property
    def kind(self) -> str:
        """The transport, set or worked out."""
        if self.transport or self.command or not self.url:
            return self.transport or "stdio"
        return "websocket" if self.url.startswith(("ws://", "wss://")) else "http"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.kind in ("stdio", "lines"):
            if not self.command and self.url:
                raise ValueError(
                    f"has a `url`, which the transport {self.kind} cannot use; leave `transport` out"
                )
            if not self.command:
                raise ValueError("needs a `command`" + (", or a `url`" if self.kind == "stdio" else ""))
            if re.match(r"(?:https?|wss?)://", self.command):
                raise ValueError("has an address as its `command`; write it as `url`")
            if self.url:
                raise ValueError("has a `command` and a `url`; it can have one of them")
            if self.oauth != ServerOAuthSettings():
                raise ValueError("has `oauth`, which only a server with a `url` can have")
        elif not self.url:
            raise ValueError(f"needs a `url` for the transport {self.kind}")
        elif urlsplit(self.url).scheme not in _SCHEMES[self.kind]:
            raise ValueError(f"has a `url` that does not begin with {_SCHEMES[self.kind][0]}://")
        return self


class ApprovalSettings(Section):
    """Which tool calls run without a question.

    Patterns are `server/tool` with `*` and `?`. A read-only tool runs; others ask. `deny` wins over
    `ask`, `ask` over `allow`. If anything in this table is wrong, every call asks.
    """

    allow: Patterns = []
    """Calls that run without a question."""
    ask: Patterns = []
    """Calls that always ask."""
    deny: Patterns = []
    """Calls that never run; the model is told so."""
    remembered: list[str] = []
    """Tools you always allow, by fingerprint; written by mcptui. Remove one to revoke it at any time."""


class TrafficSettings(Section):
    """What is recorded of everything that travels. `mcptui traffic --list` names the recordings kept."""

    record: bool = True
    """Keep a recording of each run on disk. Without one the traffic of this run can be seen all the same."""
    keep_all: bool = False
    """Keep every body whole. Otherwise the first 256 KiB of each, its size and its SHA-256."""
    recording_mb: Annotated[Whole, Field(ge=1, le=1_000_000)] = 512
    """How large one recording may grow, in MiB; then its oldest entries go."""
    traceparent: Truth = False
    """Send servers a W3C `traceparent` in `_meta`, with one trace for each turn."""
    total_mb: Annotated[Whole, Field(ge=1, le=1_000_000)] = 2048
    """How large all recordings together may grow, in MiB; then the oldest recordings go."""


class OAuthSettings(Section):
    """Signing in to remote servers, for all of them."""

    client_metadata_url: DocumentUrl | None = None
    """The address of a document about mcptui, which some authorization servers take as its `client_id`."""


class RegistrySettings(Section):
    """Where `mcptui search WORDS` and `mcptui add NAME` look for servers. Nothing else asks it."""

    url: Url = "https://registry.modelcontextprotocol.io"
    """A registry that has the API v0.1 of the MCP registry."""


class UiSettings(Section):
    """How it looks and which keys do what."""

    theme: str = "harbor"
    """A theme's name: harbor, quay, dusk, paper, contrast-dark, contrast-light, ansi, or one of yours."""
    keys: Annotated[dict[str, list[str]], BeforeValidator(_flat, json_schema_input_type=dict[str, Any])] = {}
    """Other keys for actions, like `chat.new = "ctrl+k"` or `["ctrl+k", "alt+n"]`. F1 shows them."""


class Settings(Section):
    """The whole configuration."""

    default_model: str | None = None
    """The `[models.NAME]` that is used if `--model` names none. If not set: the first one."""
    models: dict[str, ModelSettings] = {}
    """Models, by name."""
    servers: dict[str, ServerSettings] = {}
    """Servers, by name."""
    limits: LimitSettings = LimitSettings()
    """The hard limits of a turn."""
    approvals: ApprovalSettings = ApprovalSettings()
    """What may run without a question."""
    traffic: TrafficSettings = TrafficSettings()
    """What is recorded."""
    ui: UiSettings = UiSettings()
    """The screen."""
    oauth: OAuthSettings = OAuthSettings()
    """Signing in."""
    registry: RegistrySettings = RegistrySettings()
    """Finding servers."""
    snippets: dict[str, str] = {}
    """Texts that `/NAME` puts into your message."""
