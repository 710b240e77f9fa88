"""Rules about the session: handshake, capabilities, progress, cancellation, deprecated features. Pure."""

import math
from collections.abc import Mapping
from typing import Any

from tui.core.jsonrpc.protocol import LISTEN, MODERN, REVISIONS, STAY_OPEN, is_modern
from tui.core.language.translate import N_, message
from tui.core.text import mapping, object_in
from tui.core.traffic import Direction, Severity
from tui.traffic.lint.rules_messages import BASIC, MessageCheck, id_words, quote
from tui.traffic.lint.server_session import LONG_NAME, SentRequest, identity, other
from tui.traffic.methods import METHODS

_LIFECYCLE = "basic/lifecycle"
_PROGRESS = "basic/utilities/progress"
_CANCELLATION = "basic/utilities/cancellation"
_FREE = frozenset({"initialize", "ping", "server/discover"})


def declared(capabilities: Mapping[str, Any] | None, needed: str) -> bool:
    """Return whether capabilities include a feature ("tools"), or a part of one ("tools.listChanged")."""
    feature, _, part = needed.partition(".")
    node: Any = mapping(capabilities).get(feature)
    return bool(mapping(node).get(part)) if part else isinstance(node, dict) or bool(node)


def check_order(look: MessageCheck, method: str) -> None:
    """Report a request before the handshake was complete."""
    session = look.session
    if method in _FREE or is_modern(look.revision) or not session.whole:
        return
    if look.entry.direction is Direction.OUT:
        if not session.opened and not session.modern:
            sentence = message("{method} was sent before the response to initialize.", method=quote(method))
            look.error("before-initialize", sentence, _LIFECYCLE)
    elif not session.ready:
        sentence = message(
            "The server sent {method} before the client sent notifications/initialized.", method=quote(method)
        )
        look.warn("before-initialize", sentence, _LIFECYCLE)


def check_capability(look: MessageCheck, method: str) -> None:
    """Report a method that was not negotiated, or a log message that no request asked for."""
    session, known = look.session, METHODS[method]
    if method == "completion/complete" and look.revision == "2024-11-05":
        return  # that revision has no capability for this
    undeclared, has = N_("The server did not declare {feature}, which {method} requires."), session.server
    severity = Severity.WARNING
    if known.needs_client:
        undeclared, has = N_("The client did not declare {feature}, which {method} requires."), session.client
        severity = Severity.ERROR
    if known.needs and has is not None and not declared(has, known.needs):
        sentence = message(undeclared, feature=known.needs, method=quote(method))
        look.say("not-negotiated", severity, sentence, _page(method))
    is_change = known.notification and "." in known.needs and look.entry.direction is Direction.IN
    if is_change and session.modern and session.whole:
        if not any(asked.method == LISTEN for asked in session.open[Direction.OUT].values()):
            sentence = message("No open subscriptions/listen requested {method}.", method=quote(method))
            look.error("not-negotiated", sentence, "basic/patterns/subscriptions")
    if method == "notifications/message" and session.modern and session.whole and not session.log_wanted:
        sentence = message("The server sent a log message, but no request set logLevel.")
        look.error("not-negotiated", sentence, "server/utilities/logging")


def _page(method: str) -> str:
    known = METHODS[method]
    return known.page or known.modern_page


def check_deprecated(look: MessageCheck, method: str, params: Mapping[str, Any]) -> None:
    """Report deprecated features of the revision in force, once per session each."""
    if is_modern(look.revision) and (sentence := METHODS[method].deprecated):
        look.once("deprecated", method, sentence, _page(method))
    context = params.get("includeContext")
    if method == "sampling/createMessage" and context in ("thisServer", "allServers"):
        if look.revision in ("2025-11-25", MODERN):
            sentence = message(
                "includeContext {context} is deprecated. Remove it, or use none.", context=quote(context)
            )
            look.once("deprecated", "includeContext", sentence, "client/sampling")


def check_progress(look: MessageCheck, params: Mapping[str, Any]) -> None:
    """Check a progress notification: its token, and that its value grows."""
    session, way = look.session, other(look.entry.direction)
    token = params.get("progressToken")
    if isinstance(token, bool) or not isinstance(token, int | str):
        return  # the SDK's model reports the problem
    asked = session.tokens[way].get(identity(token))
    if asked is None:
        if session.whole:
            sentence = message("No request has the progress token {token}.", token=id_words(token))
            look.warn("progress-token", sentence, _PROGRESS)
        return
    if asked.ended:
        sentence = message(
            "The {method} of #{seq} already has a response, but progress continues.",
            method=quote(asked.method),
            seq=asked.seq,
        )
        look.warn("progress-late", sentence, _PROGRESS)
    value = params.get("progress")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if isinstance(value, float) and not math.isfinite(value):
        return
    if asked.progress is not None and value <= asked.progress:
        sentence = message(
            "The progress went from {progress} to {value}. It must increase.",
            progress=_number(asked.progress),
            value=_number(value),
        )
        look.warn("progress-order", sentence, _PROGRESS)
    asked.progress = value


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e300 else "a huge number"


def check_cancel(look: MessageCheck, params: Mapping[str, Any]) -> None:
    """Check a cancellation, and remember it."""
    session, way = look.session, look.entry.direction
    known = params.get("requestId")
    if isinstance(known, bool) or not isinstance(known, int | str):
        return
    key = identity(known)
    if way is Direction.IN and session.modern:
        # In this revision, a server may cancel a stream that the client requested.
        asked = session.open[Direction.OUT].get(key)
        if asked is not None and asked.method not in STAY_OPEN:
            sentence = message(
                "The server cancelled the {method} of #{seq}. It may only cancel streams.",
                method=quote(asked.method),
                seq=asked.seq,
            )
            look.error("bad-cancel", sentence, _CANCELLATION)
        return
    asked = session.open[way].get(key)
    if asked is None:
        if session.whole and key not in session.answered[way]:
            sentence = message("It cancels {known}, but no request has that id.", known=id_words(known))
            look.warn("bad-cancel", sentence, _CANCELLATION)
        return
    if asked.method == "initialize":
        look.error("bad-cancel", message("The initialize request must not be cancelled."), _CANCELLATION)
    if not asked.cancelled_ns:
        asked.cancelled_ns = max(1, look.entry.mono_ns)


def negotiate(look: MessageCheck, asked: SentRequest, result: Mapping[str, Any]) -> None:
    """Learn the revision from a result, and check what it declares."""
    session = look.session
    if asked.method == "initialize":
        version = result.get("protocolVersion")
        session.opened = True
        session.server = object_in(result, "capabilities")
        session.revision = version[:LONG_NAME] if isinstance(version, str) else ""
        look.revision = session.revision
        if isinstance(version, str) and version not in REVISIONS:
            sentence = message(
                "The server responded with revision {version}, which was never released.",
                version=quote(version),
            )
            look.warn("unknown-revision", sentence, _LIFECYCLE)
    elif asked.method == "server/discover":
        versions = result.get("supportedVersions")
        if not isinstance(versions, list):
            return
        if MODERN in versions:
            session.revision = MODERN
            session.server = object_in(result, "capabilities")
        elif not any(isinstance(version, str) and version in REVISIONS for version in versions):
            named = ", ".join(quote(version, 20) for version in versions[:4] if isinstance(version, str))
            sentence = message(
                "The server supports only revisions that were never released: {named}.", named=named
            )
            look.warn("unknown-revision", sentence, BASIC)
    elif is_modern(asked.revision) and "resultType" in result:
        session.revision = asked.revision


def check_input_requests(look: MessageCheck, result: Mapping[str, Any]) -> None:
    """Check the requests in an input_required result (2026-07-28) against the client's capabilities."""
    for request in list(object_in(result, "inputRequests").values())[:32]:
        method = mapping(request).get("method")
        known = METHODS.get(method) if isinstance(method, str) else None
        if known is None or not known.needs_client:
            continue
        check_deprecated(look, known.name, object_in(mapping(request), "params"))
        if look.session.client is not None and not declared(look.session.client, known.needs):
            feature = known.needs.partition(".")[0]
            sentence = message(
                "The server requests {name}, but the client did not declare {feature}.",
                name=quote(known.name),
                feature=feature,
            )
            look.say("not-negotiated", Severity.ERROR, sentence, "basic/patterns/mrtr")
