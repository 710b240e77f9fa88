"""Rules about caching (2026-07-28): results that change while they are fresh, requests for fresh ones. Pure.

The specification allows both, so the findings are hints: `ttlMs` says how long a result is likely to hold.
"""

from collections.abc import Mapping
from typing import Any

from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.protocol import CLIENT_INFO_KEY
from tui.core.language.translate import N_, message
from tui.core.text import object_in
from tui.core.units import duration
from tui.traffic.lint.result_cache import CachedResult, cache_key, digest_of
from tui.traffic.lint.rules_messages import MessageCheck, quote
from tui.traffic.lint.server_session import LONG_NAME, SentRequest

MAX_TTL_MS = 1 << 50
CACHING = "server/utilities/caching"
_HINTS = ("_meta", "ttlMs", "cacheScope")
_RAISES_DOUBT = frozenset({"tools/call", "prompts/get"})
"""Requests after whose error a client may suspect that a list has changed."""


def check_asked_again(look: MessageCheck, asked: SentRequest, params: Mapping[str, Any]) -> None:
    """Report a request whose earlier result is still fresh, once per session and method.

    mcptui itself is not reported: what it shows is what the server has now.
    """
    asked.cache_key = cache_key(asked.method, params)
    client = object_in(object_in(params, "_meta"), CLIENT_INFO_KEY).get("name")
    if client == "mcptui" or look.session.acting:
        return
    known = look.session.cache.own.get(asked.cache_key)
    if known is None or known.in_doubt or look.entry.mono_ns >= known.until_ns:
        return
    left = duration((known.until_ns - look.entry.mono_ns) // 1_000_000)
    sentence = message(
        "The client asked again for {method}, but the result in #{seq} is fresh for another {time}.",
        method=quote(asked.method),
        seq=known.seq,
        time=left,
    )
    look.once("asked-while-fresh", f"fresh {asked.method}", sentence, CACHING)


def check_cacheable(look: MessageCheck, asked: SentRequest, result: Mapping[str, Any]) -> None:
    """Check a complete result against the earlier ones, and remember it."""
    if is_tool_error(result):
        doubt(look, asked)
    if not asked.cache_key:
        return
    cache, scope, ttl = look.session.cache, result.get("cacheScope"), result.get("ttlMs")
    _check_scope(look, asked, scope)
    uri = asked.uri
    found = {name: value for name, value in result.items() if name not in _HINTS}
    is_public, digest = scope == "public", digest_of(found)
    known = cache.own.get(asked.cache_key) or (cache.public.get(asked.cache_key) if is_public else None)
    if known is not None and known.digest != digest and look.entry.mono_ns < known.until_ns:
        differs = N_("The result of {method} differs from #{seq}, which the server called fresh for {time}.")
        if asked.cache_key not in cache.own:
            differs = N_(
                "The result of {method} differs from #{seq}, which the server called fresh for {time} for "
                "every client."
            )
        subject, time = quote(uri) if uri else asked.method, duration(known.ttl_ms)
        sentence = message(differs, method=quote(asked.method), seq=known.seq, time=time)
        look.hint("changed-while-fresh", sentence, CACHING, subject)
    sound = isinstance(ttl, int) and not isinstance(ttl, bool) and 0 < ttl
    ttl_ms = min(ttl, MAX_TTL_MS) if isinstance(ttl, int) and sound else 0
    until = look.entry.mono_ns + ttl_ms * 1_000_000
    cache.keep(asked.cache_key, CachedResult(look.entry.seq, until, digest, ttl_ms, is_public, uri))


def _check_scope(look: MessageCheck, asked: SentRequest, scope: Any) -> None:
    scopes = look.session.cache.scopes
    if not isinstance(scope, str) or not asked.method.endswith("/list"):
        return
    first = scopes.get(asked.method, scope) if asked.cursor is not None else scope
    if first != scope:
        sentence = message(
            "This page of {method} has the cacheScope {scope}, an earlier page {first}. All must be equal.",
            method=quote(asked.method),
            scope=quote(scope, 20),
            first=quote(first, 20),
        )
        look.warn("cache-scope", sentence, CACHING)
    elif asked.cursor is None:
        scopes[asked.method] = scope[:LONG_NAME]


def doubt(look: MessageCheck, asked: SentRequest) -> None:
    """Remember that a request failed, which justifies listing again."""
    if asked.method in _RAISES_DOUBT:
        for known in look.session.cache.own.values():
            known.in_doubt = True
