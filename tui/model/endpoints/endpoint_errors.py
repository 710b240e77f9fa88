"""Errors of an endpoint before or during a reply, as a `ModelError` with the next step. Pure.

What an endpoint says may quote its key. It is redacted where it enters, whole: a key that was truncated would
not be found.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from tui.core.errors import ModelError, chain_of, reason_of
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message, sentences
from tui.core.secrets.commands_and_urls import masked
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import redacted
from tui.core.text import clean_line, quoted_name
from tui.core.units import wait_words
from tui.core.web import host_of, proxy_for, proxy_problem
from tui.model.endpoints.failures import (
    FAILED,
    asked_wait,
    judged,
    message_in,
    refusal_in,
    reply_room,
    said_in,
)
from tui.model.endpoints.profile import ModelProfile, redactor_of
from tui.model.endpoints.providers import (
    bare_url,
    enter_key,
    is_local,
    provider_of,
    usable_url,
    without_endpoint,
)
from tui.model.endpoints.refusal_rows import TOLD, Do

_TOLD = TOLD - {Do.TRY_AGAIN} | {Do.TEXT_TOOLS, Do.RETRY, Do.FEWER_TOKENS}
CHECK_PROFILE = message("Check the profile's model and base_url.")


def endpoint_of(profile: ModelProfile) -> str:
    """Return the endpoint's name in messages: the profile and its address, whose path may contain a key."""
    return clean_line(redactor_of(profile).redact(f"{profile.name} ({bare_url(profile.base_url)})"), 120)


def endpoint_error(profile: ModelProfile, message: str, step: str, *, retryable: bool = False) -> ModelError:
    """Return the error of an endpoint, with its name."""
    return ModelError(message, where=endpoint_of(profile), next_step=step, retryable=retryable)


def is_missing_path(status: int, words: str) -> bool:
    """Whether a rejection says that the path does not exist (not that a model is missing)."""
    if refusal_in(words, status, among=(Do.TEXT_TOOLS, Do.UNBLOCK, Do.CHECK_MODEL)):
        return False
    return status in (404, 405) or "unexpected endpoint" in words.lower()


def status_error(profile: ModelProfile, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
    """Return the error for a response with an error status; its body may be JSON as text."""
    redactor = redactor_of(profile)
    headers = {name.lower(): redactor.redact(value) for name, value in headers.items()}
    body = cleared(body, redactor)
    reason, said = message_in(body), said_in(body)
    if mitigated := headers.get("cf-mitigated"):
        said = f"{said}\ncf-mitigated: {mitigated[:40]}"
    wait = asked_wait(body, headers, limited=status in (429, 503))
    text = message("the endpoint returned HTTP {status}", status=status)
    if reason:
        text = message("the endpoint returned HTTP {status}: {reason}", status=status, reason=reason)
    limit, where = profile.max_tokens or 0, endpoint_of(profile)
    error = judged(said, status, message=text, wait=wait, body=body, limit=limit, where=where)
    error.next_step = _next_step(profile, error, headers)
    error.retryable &= headers.get("x-should-retry", "").lower() != "false"
    return error


def cleared(body: object, redactor: Redactor) -> Any:
    """Return the body of an error without secrets, parsed if it is JSON as text."""
    return redacted(json_value(body, body) if isinstance(body, str) else body, redactor.redact)


def _next_step(profile: ModelProfile, error: ModelError, headers: Mapping[str, str]) -> str:
    said, status = error.said, error.status or 0
    if error.final in (Do.SHORTEN, Do.WAIT_LONG):
        return Do(error.final).words
    if error.final == Do.PAY:
        if found := provider_of(profile.base_url):
            return message(
                "Add credit or raise the quota of this account at {provider}, or switch to another model.",
                provider=found.title,
            )
        return message("Add credit or raise the quota of this account, or switch to another model.")
    if (told := refusal_in(said, status, among=_TOLD)) is not None:
        do = told[0].do
        if do is Do.FEWER_TOKENS:
            room = reply_room(told[1], profile.max_tokens or 0)
            if room:
                return message("Lower max_tokens in the profile to {limit}.", limit=room)
            return message("Lower max_tokens in the profile.")
        if do is Do.CHECK_MODEL:
            if looks_like_ollama(profile) or "try pulling it" in said:  # Ollama's words, whatever the port
                return message("Download it with `ollama pull {model}`.", model=clean_line(profile.model, 80))
            named = message("The model name is {model}.", model=quoted_name(profile.model, 80))
            step = message("Set `model` in the profile.")
            if profile.source == "environment":
                variable = f"{profile.name.upper()}_MODEL"
                step = message("Set `model` in the profile or {variable}.", variable=variable)
            return sentences(named, step)
        if do is not Do.CHECK_KEY:
            return do.words
        if status in (400, 403):
            return _key_step(profile)
    return _step_of_status(profile, error, headers)


def _step_of_status(profile: ModelProfile, error: ModelError, headers: Mapping[str, str]) -> str:
    """Return the next step for a status whose words say nothing more."""
    match error.status or 0:
        case 401:
            return _key_step(profile)
        case 403:
            return message("The API key lacks permission. Check its permissions, region and billing.")
        case 404 | 405:
            if has_version(profile.base_url):
                return message("Check base_url and model in the profile.")
            return message("Check base_url. mcptui tried it with and without /v1.")
        case 408 | 409 | 425:
            return message("Retry.")
        case 429:
            if not (wait := error.retry_after):
                return message("Wait, then retry.")
            return message("Wait {wait}, then ask again.", wait=wait_words(wait))
        case status if 300 <= status < 400:
            return _redirect_step(usable_url(profile), headers.get("location", ""))
        case status if status >= 500:
            return message("The endpoint failed. Retry later.")
    return CHECK_PROFILE


def _redirect_step(base_url: str, location: str) -> str:
    """Return the next step after a redirect, which may be relative and leads to the path of one endpoint."""
    try:
        target = bare_url(urljoin(f"{base_url}/chat/completions", location)) if location else ""
    except ValueError:
        target = ""
    if not target.startswith(("http://", "https://")):
        return message("Check base_url.")
    if (base := without_endpoint(target)) == bare_url(base_url):
        to = clean_line(masked(target), 120)
        return message(
            "It redirects to {to}. The endpoint, or a proxy in front of it, is misconfigured.", to=to
        )
    return message("It redirects to {url}. Set base_url to that URL.", url=clean_line(masked(base), 120))


def step_within(profile: ModelProfile, error: ModelError) -> str:
    """Return the next step for an error in a stream, by its status or its message."""
    if error.retryable or not error.message.startswith(FAILED):
        return error.next_step
    step = _next_step(profile, error, {})
    return error.next_step if step == CHECK_PROFILE else step


def _key_step(profile: ModelProfile) -> str:
    provider = provider_of(profile.base_url)
    variable = profile.api_key_env or (provider.keys[0] if provider else "")
    place = message("Get a key at {page}.", page=provider.key_page) if provider else ""
    enter = enter_key(profile)
    if profile.key_place:
        step = message("Check the key that is {place}", place=profile.key_place)
    elif profile.keychain:
        step = message(
            "Check the key in the keychain at {keychain}", keychain=clean_line(profile.keychain, 80)
        )
    elif profile.api_key:
        step = message("Check {setting}", setting=profile.api_key_env or message("api_key in the profile"))
    elif variable:
        step = message("Set {variable}", variable=variable)
    else:
        return sentences(message("Paste a key: {enter}.", enter=enter), place)
    if profile.api_key:
        return sentences(message("{step}, or paste another key: {enter}.", step=step, enter=enter), place)
    return sentences(message("{step}, or paste a key: {enter}.", step=step, enter=enter), place)


def has_version(base_url: str) -> bool:
    """Whether the path of a URL contains a version, as most do ("/v1", "/v1beta/openai")."""
    return re.search(r"/v\d+\w*(?:/|$)", base_url.partition("?")[0]) is not None


def looks_like_ollama(profile: ModelProfile) -> bool:
    """Whether a profile points to a local Ollama."""
    return ":11434" in profile.base_url or (profile.name == "ollama" and is_local(profile.base_url))


def usable_proxy(profile: ModelProfile, url: str) -> str | None:
    """Return the proxy for an endpoint, if any; a proxy to the internet cannot reach a model on this machine.

    Raises ModelError if the environment names one that cannot be used.
    """
    proxy = None if is_local(url) else proxy_for(url)
    if proxy is None or not proxy.fault:
        return None if proxy is None else proxy.url
    problem = proxy_problem(ValueError(), url, message("the endpoint"))
    text, step = problem or (proxy.fault, "")
    raise endpoint_error(profile, text, step)


def connection_error(profile: ModelProfile, error: BaseException) -> ModelError:
    """Return the error for an unreachable endpoint."""
    cause, reason = " ".join(map(str, chain_of(error))), reason_of(error, 1000)
    through = (
        None
        if is_local(profile.base_url)
        else proxy_problem(error, profile.base_url, message("the endpoint"))
    )
    if through is not None:
        return endpoint_error(profile, redactor_of(profile).redact(through[0]), through[1], retryable=True)
    hopeless = True
    if "WRONG_VERSION_NUMBER" in cause or "record layer" in cause:
        step: str = message("It does not use TLS. Start base_url with http://.")
    elif "CERTIFICATE_VERIFY_FAILED" in cause:
        step = message("Check the host in base_url, or trust its certificate.")
    elif refusal_in(cause, among=(Do.USE_TLS,)):
        step = Do.USE_TLS.words
    else:
        hopeless, step = (
            False,
            message(
                "Check the network, the proxy and {base_url}.",
                base_url=host_of(profile.base_url) or message("the host"),
            ),
        )
        if looks_like_ollama(profile):
            step = message("Start Ollama with `ollama serve`.")
        elif is_local(profile.base_url):
            step = message("Check base_url, and that the model server is running.")
    text = message(
        "cannot connect to the endpoint: {reason}",
        reason=clean_line(redactor_of(profile).redact(reason), 160),
    )
    return endpoint_error(profile, text, step, retryable=not hopeless)


def stall_error(profile: ModelProfile, seconds: float, first: bool) -> ModelError:
    """Return the error for an endpoint that sends nothing."""
    name = "first_token_seconds" if first else "between_chunks_seconds"
    step = message("Retry, or raise {name} in the profile.", name=name)
    return endpoint_error(
        profile,
        message("the endpoint sent nothing for {seconds:g} s", seconds=seconds)
        if first
        else message("the endpoint stopped sending during the reply for {seconds:g} s", seconds=seconds),
        step,
        retryable=True,
    )


class NotAStream(ModelError):
    """A 200 that is not an event stream: base_url points to something else."""


_STREAM = message("an SSE stream")


def not_a_stream(profile: ModelProfile, content_type: str, head: bytes, wanted: str = _STREAM) -> NotAStream:
    """Return the error for a 200 that is not a reply, which usually is an HTML page."""
    redactor = redactor_of(profile)
    said = message_in(cleared(head.decode("utf-8", "replace"), redactor))
    kind = clean_line(redactor.redact(content_type), 60) or message("no content type")
    step = message("Check base_url. It points to a web page, not to a model API.")
    if not has_version(profile.base_url):
        step = message("Check base_url. It may need /v1.")
    text = message("the response is not {wanted} ({kind}, empty)", wanted=wanted, kind=kind)
    if said:
        text = message("the response is not {wanted} ({kind}): {said}", wanted=wanted, kind=kind, said=said)
    return NotAStream(
        text,
        where=endpoint_of(profile),
        next_step=step,
    )
