"""The schema of the configuration. The docstrings of its fields become docs/configuration.md.

Types are strict: a number in quotes is an error, unless it comes from an environment variable.
"""

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tui.core.addons import not_installed, service
from tui.core.errors import without_stop
from tui.core.language.translate import N_, as_message, message
from tui.core.permission.rules import Verdict
from tui.core.web import is_loopback
from tui.settings.field_types import (
    ONE_OR_MORE,
    DocumentUrl,
    EnvName,
    EnvValue,
    ExtensionId,
    Filled,
    Headers,
    Key,
    Level,
    Number,
    Positive,
    Price,
    Root,
    Sampling,
    Seconds,
    Text,
    Texts,
    Truth,
    Url,
    VariableName,
    Whole,
    as_list,
    body_fault,
    checked,
    issuer_fault,
    rule,
)
from tui.settings.keymap import flat_keys

_SCHEMES = {"http": ("http", "https"), "sse": ("http", "https"), "websocket": ("ws", "wss")}


class Section(BaseModel):
    """A table of the configuration."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class ModelSettings(Section):
    """A model profile, selected with `--model NAME`: any endpoint with the OpenAI chat API."""

    model: Filled
    """The model id that the endpoint uses, such as `gpt-5.1` or `qwen3:8b`."""
    base_url: Url = "https://api.openai.com/v1"
    """URL of the endpoint. It usually ends in `/v1`."""
    api_key_env: VariableName | None = None
    """Environment variable that contains the API key. It keeps the key out of the file."""
    api_key: Key | None = None
    """The API key: `"${NAME}"`, or `"keyring:SERVICE/NAME"` for an entry in the keychain.

    Not needed for a key that you paste in mcptui or store with `mcptui config key NAME`.
    """
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = None
    """Sampling temperature. Not sent if not set: some models reject it."""
    max_tokens: Positive | None = None
    """Maximum length of a reply, in tokens. Not sent if not set."""
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """Reasoning effort, sent in the field that the provider expects. Not sent if not set."""
    top_p: Annotated[Number, Field(gt=0, le=1)] | None = None
    """Nucleus sampling: the share of the most likely tokens to choose from. Not sent if not set."""
    seed: Whole | None = None
    """Seed for reproducible replies, where the endpoint supports it. Not sent if not set."""
    stop: Annotated[list[Filled], Field(max_length=4), BeforeValidator(as_list)] = []
    """Stop sequences, at most 4."""
    extra_body: Annotated[dict[str, Any], checked(body_fault)] = {}
    """Additional fields for each request, as a table. They override the fields that mcptui sends."""
    context_window: Annotated[Whole, Field(ge=256)] | None = None
    """Context window, in tokens. If not set, mcptui asks the endpoint, or uses its list of known models."""
    price_in: Price | None = None
    """Price per million input tokens. Costs are shown if this and `price_out` are set."""
    price_cached: Price | None = None
    """Price per million cached input tokens. Default: `price_in`."""
    price_out: Price | None = None
    """Price per million output tokens."""
    currency: Annotated[Text, Field(min_length=1, max_length=8)] = "USD"
    """Currency of the prices."""
    system: Text | None = None
    """System prompt for conversations with this model. Replaces the default one."""
    titles: Literal["text", "model"] = "text"
    """How conversations get titles: `text` uses the first question, `model` asks the model."""
    tool_protocol: Literal["auto", "native", "xml", "chatmcp", "json", "react"] = "auto"
    """How the model calls tools: `native` (function calling), `auto` (detected), or a text dialect."""
    headers: Headers = {}
    """HTTP headers for each request."""
    first_token_seconds: Seconds = 120.0
    """Timeout for the first token, in seconds."""
    between_chunks_seconds: Seconds = 60.0
    """Timeout between two chunks of a reply, in seconds."""

    @model_validator(mode="after")
    def _has_prices_together(self) -> Self:
        if self.price_cached is not None and self.price_in is None:
            raise ValueError(message("has a `price_cached` but no `price_in`"))
        return self


class LimitSettings(Section):
    """Limits of one turn. At a limit, the model is asked for its best answer so far."""

    max_steps: Annotated[Whole, Field(ge=1, le=1000)] = 20
    """Maximum requests to the model in one turn."""
    max_tool_calls: Annotated[Whole, Field(ge=1, le=10_000)] = 100
    """Maximum tool calls in one turn."""
    max_calls_per_reply: Annotated[Whole, Field(ge=1, le=256)] = 16
    """Maximum tool calls in one reply. Additional calls do not run, and the model gets a note."""
    turn_seconds: Seconds = 900.0
    """Timeout of one turn, in seconds. Waiting for you does not count."""
    tool_seconds: Seconds = 60.0
    """Timeout of one tool call, in seconds. Progress restarts it. A server can override it."""
    tool_max_seconds: Seconds | None = None
    """Timeout of one tool call that reports progress, in seconds. If not set, `turn_seconds`."""
    consecutive_errors: Annotated[Whole, Field(ge=1, le=100)] = 3
    """Maximum consecutive steps in which every call failed."""
    identical_calls_note: Annotated[Whole, Field(ge=2, le=100)] = 3
    """After this many identical calls with identical results, the model is told that it repeats itself."""
    identical_calls_stop: Annotated[Whole, Field(ge=2, le=100)] = 5
    """After this many identical calls, the turn ends."""
    result_bytes: Annotated[Whole, Field(ge=256, le=16 * 1024 * 1024)] = 32768
    """Maximum size of one result for the model, in bytes. You always see the full result."""
    parallel_calls: Annotated[Whole, Field(ge=1, le=64)] = 5
    """Maximum read-only calls that run at the same time."""
    turn_tokens: Positive | None = None
    """Maximum tokens of all requests of one turn. No limit if not set."""
    turn_cost: Annotated[Number, Field(gt=0)] | None = None
    """Maximum cost of one turn, by the prices of the profile. No limit if not set."""


class ServerOAuthSettings(Section):
    """How to sign in to a remote server that requires it. Usually none of this is needed.

    Write secrets as `"${NAME}"`, or as `"keyring:SERVICE/NAME"` for an entry in the keychain.
    """

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    """`authorization_code`: you sign in with a browser. `client_credentials`: mcptui signs in without you."""
    client_id: Filled | None = None
    """Client id that was registered for you. If not set, mcptui registers itself."""
    client_secret: Key | None = None
    """Client secret, if there is one."""
    scopes: Texts = []
    """Scopes to request, instead of those that the server suggests."""
    issuer: Url | None = None
    """Authorization server that may receive these credentials. If not set, the first one that was used."""
    callback_port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """Port of `http://127.0.0.1:PORT/callback`, if that URL is registered. If not set, any free port."""
    client_metadata_url: DocumentUrl | None = None
    """URL of a client metadata document, instead of the one in `[oauth]`."""
    private_key: Key | None = None
    """Private key in PEM format, instead of `client_secret`, for `client_credentials`."""
    private_key_algorithm: Literal["RS256", "ES256", "PS256", "EdDSA"] = "RS256"
    """Signature algorithm of `private_key`."""
    identity_provider: Filled | None = None
    """Name in `[identity_providers]`: its sign-in is exchanged for a token of `issuer`, which is required."""

    @model_validator(mode="after")
    def _has_credentials(self) -> Self:
        problem = None
        if self.identity_provider is not None:
            if self.issuer is None:
                problem = message("needs an `issuer`, the authorization server, with `identity_provider`")
            elif fault := issuer_fault(self.issuer):
                problem = message("has an `issuer` that {problem}", problem=fault)
            elif self.grant == "client_credentials":
                problem = message("has an `identity_provider`, which the grant client_credentials cannot use")
        elif self.grant == "client_credentials" and not (
            self.client_id and (self.client_secret or self.private_key)
        ):
            problem = message("needs a `client_id`, and a `client_secret` or a `private_key`, for this grant")
        if problem is not None:
            raise ValueError(problem)
        return self


class IdentityProviderSettings(Section):
    """The identity provider of an organization (OpenID Connect). You sign in once for all its servers.

    Servers use it by `identity_provider` in their `oauth` table.
    """

    issuer: Annotated[Url, checked(issuer_fault)]
    """URL of the identity provider, as its OpenID metadata name it."""
    client_id: Filled
    """Client id that was registered for mcptui."""
    client_secret: Key | None = None
    """Client secret, if there is one: `"${NAME}"` or `"keyring:SERVICE/NAME"`."""
    scopes: Texts = []
    """Scopes to request in addition to `openid`. If not set: `offline_access` if it is supported."""
    callback_port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """Port of `http://127.0.0.1:PORT/callback`, if that URL is registered. If not set, any free port."""


class ServerSettings(Section):
    """An MCP server: a `command` that mcptui starts, or a `url`.

    The sample servers are only used if no server is configured. Paths in `command` and `args` that exist in
    the folder of the configuration file are relative to it, unless `cwd` is set. Other relative paths do not
    work without `cwd`.
    """

    command: Filled | None = None
    """Program to start, found on PATH. No shell is involved."""
    args: list[Text] = []
    """Arguments of `command`."""
    env: dict[EnvName, EnvValue] = {}
    """Variables in addition to HOME, PATH and the like. Secrets: `"${VAR}"` or `"keyring:SERVICE/NAME"`."""
    cwd: Filled | None = None
    """Working directory, `~` for home, `"${PWD}"` for yours. If not set, an empty folder, or its project."""
    transport: Literal["stdio", "http", "sse", "websocket", "lines"] | None = None
    """For `command`: `stdio` or `lines` (non-standard). For `url`: `http`, `sse` or `websocket`."""
    url: Url | None = None
    """URL of a remote server."""
    era: Literal["auto", "legacy", "modern"] = "auto"
    """`legacy` (up to 2025-11-25): no probe. `modern` (2026-07-28): no fallback. `auto` tries both."""
    source: Literal["import", "registry", "bundle", "card"] | None = None
    """Where the server comes from, if not from you. It then needs your consent. Written by mcptui."""
    card: Url | None = None
    """URL of its server card, which mcptui compares with the server. Written by `mcptui add`."""
    headers: Headers = {}
    """HTTP headers for `url`. Secrets: `"${VAR}"` or `"Bearer keyring:SERVICE/NAME"`."""
    autostart: Truth = True
    """Start the server with mcptui. If false, press `s` in the servers pane to start it."""
    restart: Truth | Literal["stop-first"] = False
    """`true`: restart after an unexpected exit. `"stop-first"`: `watch` stops it before it starts anew."""
    watch: Texts = []
    """Files, such as `"src/**/*.py"`. A change restarts the server. Its changed tools are accepted."""
    start_seconds: Seconds = 60.0
    """Startup timeout, in seconds. `npx` and `uvx` download packages on the first start."""
    tool_seconds: Seconds | None = None
    """Timeout of its tool calls, in seconds. Overrides `[limits]`. A task may take as long as the turn."""
    tool_max_seconds: Seconds | None = None
    """Timeout of its tool calls that report progress, in seconds. Overrides `[limits]`."""
    trusted: Truth | None = None
    """Trust its read-only marks and results. If not set, mcptui asks when a mark would allow a call."""
    accept_changes: Truth = False
    """Accept changed tools without asking, if the server is trusted and nothing is suspicious."""
    pin: Texts = []
    """Tools to offer first when not all fit, with `*` and `?`."""
    disabled: Truth = False
    """Ignore the server, but keep it in the file."""
    off: Texts = []
    """Tools that are disabled for the model, with `*` and `?`. You can still call them by hand."""
    instructions: Truth = False
    """Give the model the server's own instructions. Review them first, in the overview of the workbench."""
    offer_resources: Truth = False
    """Let the model list and read the server's resources, with built-in tools."""
    send_as_is: Truth = False
    """Send results to the model with your secrets in them. The screen never shows the secrets."""
    secret_arguments: Texts = []
    """Arguments not to record or save: `tool.argument`, or `argument` for all tools, with `*` and `?`."""
    log_level: Level | None = None
    """Minimum level of log messages to request: `debug`, `info`, `notice`, `warning`, `error` …"""
    oauth: ServerOAuthSettings = ServerOAuthSettings()
    """How to sign in."""
    roots: Annotated[list[Root], ONE_OR_MORE] = []
    """Directories that the server may work in. While it runs, `t` in its overview changes them."""
    sampling: Sampling = "never"
    """Whether the server may use your model: `never`, `ask` (you review request and reply) or `allow`."""
    sampling_tokens: Positive = 100_000
    """Maximum tokens for its sampling requests, until you quit mcptui."""
    sampling_per_minute: Positive = 10
    """Maximum sampling requests per minute."""
    extensions: dict[ExtensionId, Truth] = {}
    """Extensions not to declare and use: `{ "io.modelcontextprotocol/skills" = false }`."""
    act_as: Filled | None = None
    """Host that mcptui introduces itself as, such as `claude-code`. docs/extensions.md lists them."""
    faults: Texts = []
    """Faults to inject, to test what copes with them: `["tool:create_* lose=answer 1/3 seed=7"]`."""

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
                unusable = N_("has a `url`, which the transport {transport} cannot use. Remove `transport`")
                raise ValueError(as_message(unusable, transport=self.kind))
            if not self.command:
                either = message("needs a `command`, or a `url`")
                raise ValueError(either if self.kind == "stdio" else message("needs a `command`"))
            if re.match(r"(?:https?|wss?)://", self.command):
                raise ValueError(message("has a URL as its `command`. Use `url`"))
            if self.url:
                raise ValueError(message("has a `command` and a `url`. Use one of them"))
            if self.oauth != ServerOAuthSettings():
                raise ValueError(message("has `oauth`, which requires a `url`"))
        elif not self.url:
            raise ValueError(message("needs a `url` for the transport {transport}", transport=self.kind))
        elif urlsplit(self.url).scheme not in _SCHEMES[self.kind]:
            scheme = _SCHEMES[self.kind][0]
            raise ValueError(message("has a `url` that does not start with {scheme}://", scheme=scheme))
        return self

    @model_validator(mode="after")
    def _fits_the_addons(self) -> Self:
        if self.act_as:
            if (find := service("acting host")) is None:
                raise ValueError(not_installed("act_as", "`act_as`"))
            find(self.act_as)
        if self.faults:
            if (check := service("fault rules")) is None:
                raise ValueError(not_installed("faults", "`faults`"))
            try:
                check(self.faults, transport=self.kind)
            except ValueError as error:
                why = without_stop(str(error))
                raise ValueError(message("has `faults`: {problem}", problem=why)) from None
        return self


class ApprovalSettings(Section):
    """Which tool calls need approval.

    A rule is `ACTION SERVER/TOOL [ARGUMENT=PATTERN …]`, with `*` and `?` in each part: `allow weather/*`,
    `ask files/* path=/etc/*`, `deny */delete_*`. docs/rules.md has the details. Without a rule, read-only
    tools of trusted servers run, other calls need approval. `deny` overrides `ask`, and `ask` overrides
    `allow`. If this table contains an error, every call needs approval.
    """

    rules: Annotated[list[Annotated[str, rule(None)]], ONE_OR_MORE] = []
    """Rules, each with its action: `allow`, `ask` or `deny`."""
    allow: Annotated[list[Annotated[str, rule(Verdict.ALLOW)]], ONE_OR_MORE] = []
    """Rules for calls that run without approval. The word `allow` is optional here."""
    ask: Annotated[list[Annotated[str, rule(Verdict.ASK)]], ONE_OR_MORE] = []
    """Rules for calls that always need approval. The word `ask` is optional here."""
    deny: Annotated[list[Annotated[str, rule(Verdict.DENY)]], ONE_OR_MORE] = []
    """Rules for calls that never run. A tool that is always denied is not offered to the model."""
    remembered: list[str] = []
    """Fingerprints of tools that you always allow, written by mcptui. Remove one to revoke it."""


class TrafficSettings(Section):
    """What is recorded. `mcptui traffic --list` lists the recordings."""

    record: bool = True
    """Record each run to disk. If false, you still see the traffic while mcptui runs."""
    keep_all: bool = False
    """Keep all bodies in full. If false: the first 256 KiB, the size and the SHA-256 of each."""
    recording_mb: Annotated[Whole, Field(ge=1, le=1_000_000)] = 512
    """Maximum size of one recording, in MiB. The oldest entries are deleted first."""
    silent_hold: Truth = False
    """Send no progress while a breakpoint holds a message. If false, the side that waits gets some."""
    traceparent: Truth = False
    """Send servers a W3C `traceparent` in `_meta`, one trace per turn."""
    total_mb: Annotated[Whole, Field(ge=1, le=1_000_000)] = 2048
    """Maximum size of all recordings, in MiB. The oldest recordings are deleted first."""


class OAuthSettings(Section):
    """Sign-in settings for all remote servers."""

    client_metadata_url: DocumentUrl | None = None
    """URL of a client metadata document, which some authorization servers accept as `client_id`."""


class RegistrySettings(Section):
    """The registry for `mcptui search WORDS` and `mcptui add NAME`. Nothing else contacts it."""

    url: Url = "https://registry.modelcontextprotocol.io"
    """URL of a registry with the MCP registry API v0.1."""


class TelemetrySettings(Section):
    """Where spans and metrics of each run are sent, for OpenTelemetry. Nothing is sent by default."""

    endpoint: Url | None = None
    """URL of an OTLP/HTTP endpoint, such as `"http://127.0.0.1:4318"`."""
    headers: Headers = {}
    """HTTP headers for `endpoint`. Secrets: `"${VAR}"` or `"Bearer keyring:SERVICE/NAME"`."""
    content: Truth = False
    """Also send arguments, results, prompts and answers, with secrets redacted."""
    metrics: Truth = True
    """Also send metrics: durations of calls, requests and sessions, and numbers of tokens."""
    insecure: Truth = False
    """Allow an `endpoint` with http on another machine."""

    @model_validator(mode="after")
    def _is_encrypted(self) -> Self:
        parts = urlsplit(self.endpoint or "https:")
        if parts.scheme not in ("http", "https"):
            raise ValueError(message("`endpoint` must be a URL with https or http"))
        if parts.scheme == "http" and not self.insecure and not is_loopback(parts.hostname or ""):
            raise ValueError(
                message("`endpoint` is not encrypted (http). Use https, or set `insecure = true`")
            )
        return self


class EventRuleSettings(Section):
    """A rule by which events are asked about, each once you have confirmed it on the screen of events."""

    on: Filled
    """The events, as `SERVER/EVENT`. `*` stands for any part of a name."""
    prompt: Annotated[Filled, Field(max_length=2_000)]
    """The question to ask about them. The events are attached to it."""
    profile: str | None = None
    """The model profile to ask. If not set, the selected model."""
    turns_per_hour: Annotated[Whole, Field(ge=1, le=60)] = 4
    """Maximum turns in an hour. Events that arrive meanwhile wait for the next turn."""
    turns_per_day: Annotated[Whole, Field(ge=1, le=1_000)] = 20
    """Maximum turns in 24 hours."""
    cost_per_day: Annotated[Number, Field(gt=0)] | None = None
    """Maximum cost in 24 hours, by the prices of the profile. If not set, there is no limit."""


class EventsSettings(Section):
    """Whether events are asked about without you."""

    act: Truth = False
    """Ask the model about events by `rules`, in conversations of their own."""
    rules: list[EventRuleSettings] = []
    """The rules, as `[[events.rules]]`."""


class UpSettings(Section):
    """What other commands of yours may do with a running mcptui."""

    attach: Literal["allow", "ask", "off"] = "allow"
    """Whether commands such as `mcptui call` may use its servers: allow, ask (in the app), or off."""


class UiSettings(Section):
    """Theme, keys, language, and how the terminal calls for attention."""

    theme: str = "harbor"
    """Theme: harbor, quay, dusk, paper, contrast-dark, contrast-light, ansi, or one of yours."""
    keys: Annotated[
        dict[str, list[str]],
        BeforeValidator(
            lambda value: flat_keys(value) if isinstance(value, dict) else value,
            json_schema_input_type=dict[str, Any],
        ),
    ] = {}
    """Keys by action: `chat.new = "alt+n"` or `["ctrl+n", "alt+n"]`. docs/keys.md lists the actions."""
    language: Literal["auto", "en", "zh_CN"] = "auto"
    """Language of the app, from its next start. `auto`: by LC_ALL, LC_MESSAGES or LANG."""
    ambiguous_width: Literal[1, 2, "auto"] = "auto"
    """Cells that the terminal takes for `·`, `─` and letters such as `я`. `auto`: the terminal is asked."""
    notify: bool = False
    """Desktop notification when an answer or a question waits and the terminal has not the focus."""
    bell: bool | None = None
    """Ring the terminal's bell when an answer is complete or a question is open. Not set: in plain mode.

    The app rings only if it is set."""


class Settings(Section):
    """The whole configuration."""

    default_model: str | None = None
    """The profile to use without `--model`. If not set, the first one."""
    models: dict[str, ModelSettings] = {}
    """Models, by name."""
    servers: dict[str, ServerSettings] = {}
    """Servers, by name."""
    limits: LimitSettings = LimitSettings()
    """Limits of a turn."""
    approvals: ApprovalSettings = ApprovalSettings()
    """Which tool calls need approval."""
    traffic: TrafficSettings = TrafficSettings()
    """What is recorded."""
    ui: UiSettings = UiSettings()
    """Theme and keys."""
    oauth: OAuthSettings = OAuthSettings()
    """Sign-in."""
    identity_providers: dict[str, IdentityProviderSettings] = {}
    """Identity providers of organizations, by name."""
    registry: RegistrySettings = RegistrySettings()
    """The registry."""
    events: EventsSettings = EventsSettings()
    """Events that are asked about."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """Telemetry."""
    up: UpSettings = UpSettings()
    """Commands that attach to a running mcptui."""
    snippets: dict[str, str] = {}
    """Texts that `/NAME` inserts into your message."""
