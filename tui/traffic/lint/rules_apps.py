"""Rules about app views (MCP Apps, SEP-1865): what `_meta.ui` of tools and resources must look like. Pure.

They apply whether or not the client shows views: the server sends the same definitions to all that do. The
extension has pages of its own, so findings name no section of the specification.
"""

import re
from collections.abc import Mapping
from typing import Any

from tui.core.jsonrpc.app_views import APP_MIME, APP_SCHEME, OLD_KEY, app_view
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.language.translate import N_, message
from tui.core.text import list_in, object_in, start_of
from tui.traffic.lint.rules_messages import MessageCheck, quote
from tui.traffic.lint.server_session import LONG_NAME, MOST_TOOLS, SentRequest

_DOMAINS = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
_PERMISSIONS = frozenset({"camera", "microphone", "geolocation", "clipboardWrite"})
_ORIGIN = re.compile(r"(?:https|wss)://[^\s/*'\";]+/?", re.IGNORECASE)
_WILDCARD = re.compile(r"(?:https|wss)://\*\.[^\s/*'\";]+/?", re.IGNORECASE)
_HTML = re.compile(r"\ufeff?\s*(?>(?:<!--.*?-->\s*)*)<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
"""Atomic: what a comment has taken stays taken, or many comments would be tried in every division."""

MOST_DOMAINS = 100
MOST_RESOURCES = 2_000
_HEAD = 4_000


def check_tool_view(look: MessageCheck, shown: str, subject: str, tool: Mapping[str, Any]) -> None:
    """Check `_meta.ui` of a tool, and remember that its results have a view."""
    meta, uri = object_in(tool, "_meta"), app_view(tool)
    if OLD_KEY in meta:
        sentence = message(
            "The key {key} in _meta of {shown} is deprecated. Use _meta.ui.resourceUri.",
            key=OLD_KEY,
            shown=shown,
        )
        look.hint("deprecated", sentence, "", subject)
    if "ui" in meta and not isinstance(meta["ui"], dict):
        look.warn("app-meta", message("The _meta.ui of {shown} is not an object.", shown=shown), "", subject)
    ui = object_in(meta, "ui")
    named = ui.get("resourceUri", meta.get(OLD_KEY))
    if named is not None and not str(named).startswith(APP_SCHEME):
        sentence = message(
            "The app view of {shown} is {named}. Its URI must start with {scheme}.",
            shown=shown,
            named=quote(str(named)),
            scheme=APP_SCHEME,
        )
        look.error("app-meta", sentence, "", subject)
    visibility = ui.get("visibility", ["model"])
    known = isinstance(visibility, list) and visibility and all(one in ("model", "app") for one in visibility)
    if not known:
        sentence = message(
            "The visibility of {shown} is {visibility}. It must list model, app or both.",
            shown=shown,
            visibility=quote(str(visibility)),
        )
        look.warn("app-meta", sentence, "", subject)
    views = look.session.listing.views
    if uri and len(views) < MOST_TOOLS:
        views.add(subject[:LONG_NAME])


def check_view_fallback(look: MessageCheck, asked: SentRequest, result: Mapping[str, Any]) -> None:
    """Check that the result of a tool with a view has text for clients that do not show it."""
    if asked.tool not in look.session.listing.views or is_tool_error(result):
        return
    for item in list_in(result, "content"):
        if isinstance(item, dict) and (item.get("type") != "text" or str(item.get("text", "")).strip()):
            return
    nothing = N_(
        "The tool {tool} has an app view, and its result has no content. Clients without views show nothing."
    )
    if "structuredContent" in result:
        nothing = N_(
            "The tool {tool} has an app view, and its result has no content besides structuredContent. "
            "Clients without views show nothing."
        )
    look.hint("app-fallback", message(nothing, tool=quote(asked.tool)), "")


def check_views_listed(look: MessageCheck, result: Mapping[str, Any]) -> None:
    """Check the views among listed resources."""
    for resource in list_in(result, "resources")[:MOST_RESOURCES]:
        uri = resource.get("uri") if isinstance(resource, dict) else None
        if isinstance(uri, str) and uri.startswith(APP_SCHEME):
            _check_resource(look, resource, uri)


def check_view_read(look: MessageCheck, asked: SentRequest, result: Mapping[str, Any]) -> None:
    """Check the contents of a view."""
    if not asked.uri.startswith(APP_SCHEME):
        return
    contents = list_in(result, "contents")
    if not contents:
        look.error(
            "app-content", message("The app view {uri} has no contents.", uri=quote(asked.uri)), "", asked.uri
        )
    for item in contents[:MOST_DOMAINS]:
        if isinstance(item, dict):
            _check_resource(look, item, asked.uri)
            _check_content(look, item, asked.uri)


def _check_content(look: MessageCheck, item: Mapping[str, Any], uri: str) -> None:
    shown = quote(uri)
    if ("text" in item) == ("blob" in item):
        has = N_("The app view {uri} has neither text nor blob. It must have one of them.")
        if "text" in item:
            has = N_("The app view {uri} has both text and blob. It must have one of them.")
        look.error("app-content", message(has, uri=shown), "", uri)
    elif isinstance(text := item.get("text"), str) and not _HTML.match(start_of(text, _HEAD)):
        sentence = message(
            "The app view {uri} is not an HTML document: it starts with {text}.",
            uri=shown,
            text=quote(text.lstrip(), 30),
        )
        look.warn("app-content", sentence, "", uri)


def _check_resource(look: MessageCheck, resource: Mapping[str, Any], uri: str) -> None:
    mime = resource.get("mimeType")
    if mime != APP_MIME:
        has = N_("The app view {uri} has no mimeType. It must be {wanted}.")
        if mime is not None:
            has = N_("The app view {uri} has the type {type}. It must be {wanted}.")
        sentence = message(has, uri=quote(uri), type=quote(str(mime)), wanted=APP_MIME)
        look.error("app-content", sentence, "", uri)
    ui = object_in(object_in(resource, "_meta"), "ui")
    csp = object_in(ui, "csp")
    for key in _DOMAINS:
        if (domains := csp.get(key)) is not None:
            _check_domains(look, f"{key} of {quote(uri)}", uri, domains)
    for name in list(object_in(ui, "permissions"))[:MOST_DOMAINS]:
        if name not in _PERMISSIONS:
            sentence = message(
                "The app view {uri} requests an unknown permission: {name}.", uri=quote(uri), name=quote(name)
            )
            look.warn("app-meta", sentence, "", uri)


def _check_domains(look: MessageCheck, shown: str, subject: str, domains: Any) -> None:
    if not isinstance(domains, list):
        look.warn("app-csp", message("The {shown} are not an array.", shown=shown), "", subject)
        return
    for domain in domains[:MOST_DOMAINS]:
        if not isinstance(domain, str) or not (_ORIGIN.fullmatch(domain) or "*" in domain):
            sentence = message(
                "The {shown} have {domain}, which is not an https or wss origin.",
                shown=shown,
                domain=quote(str(domain)),
            )
            look.warn("app-csp", sentence, "", subject)
        elif "*" in domain and not _WILDCARD.fullmatch(domain):
            sentence = message(
                "The {shown} have {domain}, which allows any host.", shown=shown, domain=quote(domain)
            )
            look.warn("app-csp", sentence, "", subject)
        elif "*" in domain:
            look.hint(
                "app-csp",
                message("The {shown} have a wildcard: {domain}.", shown=shown, domain=quote(domain)),
                "",
                subject,
            )
