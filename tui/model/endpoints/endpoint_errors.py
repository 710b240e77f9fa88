"""Errors of an endpoint before or during a reply, as a `ModelError` with the next step. Pure."""

import re
from collections.abc import Mapping

from tui.core.errors import ModelError, NoTools, chain_of, reason_of
from tui.core.late_compiling import late
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line, quoted_name
from tui.core.web import proxy_for, proxy_problem, retry_after
from tui.model.endpoints.failures import (
    FAILED,
    FILTERED,
    NO_TOOLS,
    RETRYABLE_STATUS,
    UNREADABLE_CALL,
    asked_wait,
    failed_generation,
    is_billing,
    is_overflow,
    is_unreadable_call,
    window_in,
    words_of,
)
from tui.model.endpoints.profile import ModelProfile, redactor_of
from tui.model.endpoints.providers import host_of, is_private, provider_of, without_secrets

_NO_MODEL = late(
    r"model.{0,120}(?:not found|not exist|does not exist|unknown|not available|no longer|deprecated"
    r"|decommissioned|invalid)|(?:unknown|invalid|no such|unsupported) model|model_not_found|model id",
    re.IGNORECASE | re.DOTALL,
)
_WANTS_TLS = late(r"HTTP request.{0,20}HTTPS|illegal (?:status|request) line", re.IGNORECASE)
_BAD_KEY = late(
    r"(?:api.?key|token|credentials?).{0,30}(?:not valid|invalid|incorrect|missing|expired|required)"
    r"|(?:invalid|incorrect|missing|no) .{0,20}(?:api.?key|auth\w*|credentials)|unauthorized",
    re.IGNORECASE,
)
_NO_MEMORY = late(r"requires more system memory", re.IGNORECASE)
_LOADING = late(r"(?:is )?(?:currently |still )?loading(?: model)?", re.IGNORECASE)

_TRY_HTTPS = "If it uses TLS, start base_url with https://."
_STEPS = (
    (_WANTS_TLS, _TRY_HTTPS),
    (
        NO_TOOLS,
        'Set tool_protocol to "auto" or "xml", or switch to a model that supports tools.',
    ),
    (UNREADABLE_CALL, "Ask again, or choose another model. This one wrote an invalid tool call."),
    (FILTERED, "The provider's content filter refused this. Rephrase it, or choose another model."),
    (_NO_MEMORY, "Switch to a smaller model, or free memory. This one does not fit into memory."),
    (_LOADING, "Wait until the model is loaded, then retry."),
)
_SHORTEN = "Start a new conversation, or attach less. The conversation exceeds the model's context window."
CHECK_PROFILE = "Check the profile's model and base_url."


def endpoint_of(profile: ModelProfile) -> str:
    """Return the endpoint's name in messages: the profile and its address."""
    return clean_line(f"{profile.name} ({without_secrets(profile.base_url)})", 120)


def is_missing_path(status: int, words: str) -> bool:
    """Whether a rejection says that the path does not exist (not that a model is missing)."""
    if _NO_MODEL.search(words) or NO_TOOLS.search(words):
        return False
    return status in (404, 405) or "unexpected endpoint" in words.lower()


def status_error(profile: ModelProfile, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
    """Return the error for a response with an error status; names of `headers` are in lower case."""
    redactor = redactor_of(profile)
    reason = words_of(body, redactor.redact)
    billing = is_billing(f"{reason} {_code(body)}", status)
    message = f"the endpoint returned HTTP {status}"
    no_tools = bool(NO_TOOLS.search(reason))
    overflow = is_overflow(f"{reason} {_code(body)}", status)
    wait = retry_after(headers)
    wait = asked_wait(str(body)[:4000]) if wait is None else wait
    generation = failed_generation(body)
    unreadable = bool(generation) or is_unreadable_call(f"{reason} {_code(body)}")
    passes = status in RETRYABLE_STATUS or unreadable
    told_not_to = headers.get("x-should-retry", "").lower() == "false"
    hopeless = billing or no_tools or overflow or told_not_to or bool(_NO_MEMORY.search(reason))
    error = (NoTools if no_tools else ModelError)(
        f"{message}: {reason}" if reason else message,
        where=endpoint_of(profile),
        next_step=_SHORTEN if overflow else _next_step(profile, status, reason, billing, wait, headers),
        status=status,
        retryable=passes and not hopeless,
        retry_after=wait,
        overflow=overflow,
        window=window_in(reason) if overflow else None,
    )
    error.generation = generation
    return redact_error(error, redactor)


def _code(body: object) -> str:
    """Return the machine-readable kinds of an error body."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return ""
    return " ".join(str(inner.get(name, "")) for name in ("code", "type"))[:200]


def _next_step(
    profile: ModelProfile,
    status: int,
    reason: str,
    billing: bool,
    wait: float | None,
    headers: Mapping[str, str],
) -> str:
    if billing:
        page = f" at {found.title}" if (found := provider_of(profile.base_url)) else ""
        return f"Add credit or raise the quota of this account{page}, or switch to another model."
    for words, step in _STEPS:
        if words.search(reason):
            return step
    if _NO_MODEL.search(reason):
        return _model_step(profile, reason)
    if status == 401 or (status in (400, 403) and _BAD_KEY.search(reason)):
        return _key_step(profile)
    match status:
        case 403:
            return "The API key lacks permission. Check its permissions, region and billing."
        case 404 | 405:
            return _address_step(profile)
        case 408 | 409 | 425:
            return "Retry."
        case 429:
            return f"Wait {wait:g} s, then ask again." if wait else "Wait, then retry."
        case _ if 300 <= status < 400:
            to = clean_line(masked(redactor_of(profile).redact(headers.get("location", ""))), 120)
            return f"It redirects to {to}. Set base_url to that URL." if to else "Check base_url."
        case _ if status >= 500:
            return "The endpoint failed. Retry later."
    return CHECK_PROFILE


def step_within(profile: ModelProfile, error: ModelError) -> str:
    """Return the next step for an error in a stream, by its status or its message."""
    if error.retryable or not error.message.startswith(FAILED):
        return error.next_step
    billing = is_billing(error.message, error.status)
    if error.overflow:
        return _SHORTEN
    step = _next_step(profile, error.status or 0, error.message, billing, None, {})
    return error.next_step if step == CHECK_PROFILE else step


def _key_step(profile: ModelProfile) -> str:
    provider = provider_of(profile.base_url)
    variable = profile.api_key_env or (provider.keys[0] if provider else "")
    place = f" Get a key at {provider.key_page}." if provider else ""
    if profile.keychain:
        return f"Check the key in the keychain at {clean_line(profile.keychain, 80)}.{place}"
    verb = "Check" if profile.api_key else "Set"
    if profile.api_key and not profile.api_key_env:
        return f"Check api_key in the profile.{place}"
    return f"{verb} {variable or 'api_key_env in the profile'}.{place}"


def _model_step(profile: ModelProfile, said: str) -> str:
    if looks_like_ollama(profile) or "try pulling it" in said:  # Ollama's words, whatever the port
        return f"Download it with `ollama pull {clean_line(profile.model, 80)}`."
    variable = f" or {profile.name.upper()}_MODEL" if profile.source == "environment" else ""
    return f"The model name is {quoted_name(profile.model, 80)}. Set `model` in the profile{variable}."


def _address_step(profile: ModelProfile) -> str:
    if not has_version(profile.base_url):
        return "Check base_url. mcptui tried it with and without /v1."
    return "Check base_url and model in the profile."


def has_version(base_url: str) -> bool:
    """Whether the path of a URL contains a version, as most do ("/v1", "/v1beta/openai")."""
    return re.search(r"/v\d+\w*(?:/|$)", base_url) is not None


def looks_like_ollama(profile: ModelProfile) -> bool:
    """Whether a profile points to a local Ollama."""
    return ":11434" in profile.base_url or (profile.name == "ollama" and is_private(profile.base_url))


def usable_proxy(profile: ModelProfile, url: str) -> str | None:
    """Return the proxy for an endpoint, if any; a proxy to the internet cannot reach a model on this machine.

    Raises ModelError if the environment names one that cannot be used.
    """
    proxy = None if is_private(url) else proxy_for(url)
    if proxy is None or not proxy.fault:
        return None if proxy is None else proxy.url
    problem = proxy_problem(ValueError(), url, "the endpoint")
    message, step = problem or (proxy.fault, "")
    raise ModelError(message, where=endpoint_of(profile), next_step=step)


def connection_error(profile: ModelProfile, error: BaseException) -> ModelError:
    """Return the error for an unreachable endpoint."""
    cause, reason = " ".join(map(str, chain_of(error))), reason_of(error, 1000)
    through = None if is_private(profile.base_url) else proxy_problem(error, profile.base_url, "the endpoint")
    if through is not None:
        redact = redactor_of(profile).redact
        return ModelError(
            redact(through[0]), where=endpoint_of(profile), next_step=through[1], retryable=True
        )
    hopeless = True
    if "WRONG_VERSION_NUMBER" in cause or "record layer" in cause:
        step = "It does not use TLS. Start base_url with http://."
    elif "CERTIFICATE_VERIFY_FAILED" in cause:
        step = "Check the host in base_url, or trust its certificate."
    elif _WANTS_TLS.search(cause):
        step = _TRY_HTTPS
    else:
        hopeless, step = False, _reach_step(profile)
    reason = clean_line(redactor_of(profile).redact(reason), 160)
    return ModelError(
        f"cannot connect to the endpoint{': ' + reason if reason else ''}",
        where=endpoint_of(profile),
        next_step=step,
        retryable=not hopeless,
    )


def _reach_step(profile: ModelProfile) -> str:
    if looks_like_ollama(profile):
        return "Start Ollama with `ollama serve`."
    if is_private(profile.base_url):
        return "Check base_url, and that the model server is running."
    return f"Check the network, the proxy and {host_of(profile.base_url) or 'the host'}."


def stall_error(profile: ModelProfile, seconds: float, first: bool) -> ModelError:
    """Return the error for an endpoint that sends nothing."""
    what = "sent nothing" if first else "stopped sending during the reply"
    name = "first_token_seconds" if first else "between_chunks_seconds"
    return ModelError(
        f"the endpoint {what} for {seconds:g} s",
        where=endpoint_of(profile),
        next_step=f"Retry, or raise {name} in the profile.",
        retryable=True,
    )


class NotAStream(ModelError):
    """A 200 that is not an event stream: base_url points to something else."""


def not_a_stream(
    profile: ModelProfile, content_type: str, head: bytes, wanted: str = "an SSE stream"
) -> NotAStream:
    """Return the error for a 200 that is not a reply, which usually is an HTML page."""
    redact = redactor_of(profile).redact
    said = words_of(redact(head.decode("utf-8", "replace")), redact)
    kind = clean_line(redact(content_type), 60) or "no content type"
    step = "Check base_url. It points to a web page, not to a model API."
    if not has_version(profile.base_url):
        step = "Check base_url. It may need /v1."
    what = f" ({kind}): {said}" if said else f" ({kind}, empty)"
    return NotAStream(f"the response is not {wanted}{what}", where=endpoint_of(profile), next_step=step)


def redact_error(error: ModelError, redactor: Redactor) -> ModelError:
    """Redact every text of an error, and return it."""
    error.message = redactor.redact(error.message)
    error.args = (error.message,)
    error.next_step = redactor.redact(error.next_step)
    error.where = redactor.redact(error.where)
    error.generation = redactor.redact(error.generation)
    return error
