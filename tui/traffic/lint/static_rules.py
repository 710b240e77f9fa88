"""The rules that judge a definition or a message by itself, whatever else happened in the run. Data.

Reports for code scanning have only their findings: an alert about the order of messages would open and close
from run to run.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tui.core.traffic import Severity
from tui.traffic.lint.rules_messages import BASIC, TRANSPORT
from tui.traffic.lint.rules_tools import TOOLS

_ERROR, _WARNING, _HINT = Severity.ERROR, Severity.WARNING, Severity.HINT


class StaticRule(NamedTuple):
    """A rule: the worst severity of its findings, its meaning, and its page as in `Flaw`."""

    severity: Severity
    meaning: str
    page: str = BASIC


_HIDDEN = (
    "A tool whose title, description or schema has text that you do not see (invisible, control and tag "
    "characters, text placed out of view, HTML comments) or with suspicious instructions to the model: about "
    "secrecy, other instructions, other tools, private files."
)

STATIC_RULES: Mapping[str, StaticRule] = {
    "app-content": StaticRule(
        _ERROR, "An app view (MCP Apps) that is no HTML document of the right type, or is empty.", ""
    ),
    "app-csp": StaticRule(
        _WARNING, "A domain in the CSP of an app view that is no origin, or a wildcard.", ""
    ),
    "app-fallback": StaticRule(_HINT, "A tool with an app view whose result has no other content.", ""),
    "app-meta": StaticRule(_ERROR, "A tool's or view's `_meta.ui` that does not match MCP Apps.", ""),
    "bad-error": StaticRule(_ERROR, "An error without an integer code, or without a message."),
    "bad-params": StaticRule(_ERROR, "Params are not an object, or do not match the revision."),
    "bad-result": StaticRule(_ERROR, "A result is not an object, or does not match the revision."),
    "bad-schema": StaticRule(_ERROR, "A tool has no inputSchema, or an invalid schema.", TOOLS),
    "bad-version": StaticRule(_ERROR, '`jsonrpc` is not "2.0".'),
    "batch": StaticRule(_ERROR, "A batch outside 2025-03-26, or an empty one."),
    "byte-order-mark": StaticRule(_WARNING, "A byte order mark before the message."),
    "deprecated": StaticRule(_HINT, "A deprecated feature. Reported once per session."),
    "duplicate-key": StaticRule(_WARNING, "An object with a duplicate key."),
    "duplicate-tool": StaticRule(_ERROR, "A tool that is listed more than once.", TOOLS),
    "embedded-newline": StaticRule(_ERROR, "A message that spans several lines.", TRANSPORT),
    "endless-list": StaticRule(_ERROR, "A page of tools without a new one, and another follows.", TOOLS),
    "error-code": StaticRule(_WARNING, "An error code, or HTTP status with it, of another revision."),
    "hidden-text": StaticRule(_WARNING, _HIDDEN, TOOLS),
    "invalid-utf8": StaticRule(_ERROR, "Invalid UTF-8.", TRANSPORT),
    "line-ending": StaticRule(_HINT, "CR LF at the end of a message.", TRANSPORT),
    "lone-surrogate": StaticRule(_WARNING, "An unpaired surrogate."),
    "long-description": StaticRule(_HINT, "A description that most clients truncate.", TOOLS),
    "missing-result-type": StaticRule(_ERROR, "A result of 2026-07-28 without `resultType`."),
    "neither": StaticRule(_ERROR, "A response with neither result nor error."),
    "no-description": StaticRule(_HINT, "A tool without a description.", TOOLS),
    "no-structured-content": StaticRule(
        _ERROR, "A tool has an outputSchema, but its result has no structuredContent.", TOOLS
    ),
    "not-json": StaticRule(_ERROR, "Not JSON."),
    "not-json-rpc": StaticRule(_ERROR, "JSON, but not a JSON-RPC message."),
    "null-id": StaticRule(_ERROR, "A request or response whose id is null or missing."),
    "oversize": StaticRule(_WARNING, "A message larger than clients accept.", TRANSPORT),
    "portable-anthropic": StaticRule(_HINT, "Tools that Anthropic's API rejects if sent unchanged.", ""),
    "portable-google": StaticRule(_HINT, "Tools that Google's API rejects, or reads only in part.", ""),
    "portable-openai": StaticRule(_HINT, "Tools that OpenAI's strict mode rejects if sent unchanged.", ""),
    "result-and-error": StaticRule(_ERROR, "A response with both result and error."),
    "stray-output": StaticRule(_ERROR, "Output on stdout that is not a message.", TRANSPORT),
    "structured-content": StaticRule(
        _ERROR, "Structured content that does not match the tool's outputSchema.", TOOLS
    ),
    "too-deep": StaticRule(_ERROR, "Nesting that parsers reject."),
    "tool-name": StaticRule(_WARNING, "A tool name with characters that the revision does not allow.", TOOLS),
    "unknown-method": StaticRule(_ERROR, "A method that does not exist in this revision, or in any."),
    "unknown-result-type": StaticRule(_ERROR, "A `resultType` that the client did not declare."),
    "unknown-revision": StaticRule(_WARNING, "A revision that does not exist."),
    "wrong-direction": StaticRule(_ERROR, "A method that this side must not send.", TRANSPORT),
}
"""By code. The meanings are those of the table in docs/traffic.md."""

RUN_RULES = frozenset(
    "answer-after-cancel asked-while-fresh bad-cancel before-initialize cache-scope changed-while-fresh"
    " duplicate-answer id-type incomplete not-mcp not-negotiated not-whole progress-late progress-order"
    " progress-token reused-id unknown-id unstable-order".split()
)
"""Codes of rules about the order of messages, other messages, or the limits of mcptui."""
