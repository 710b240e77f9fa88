"""Sentences for findings stored without one: from linting the entry alone, or a general one per rule.

If many entries have the same finding, a recording stores only the first few sentences.
"""

from tui.core.traffic import Entry, Finding
from tui.traffic.lint.lint import Linter

GENERAL = {
    "answer-after-cancel": "A response to a cancelled request.",
    "bad-cancel": "A cancellation of a request that does not exist or cannot be cancelled.",
    "bad-error": "An error without an integer code or without a message.",
    "bad-params": "Params that are not an object, or do not match the revision.",
    "bad-result": "A result that is not an object, or does not match the revision.",
    "bad-schema": "A tool without a valid inputSchema.",
    "bad-version": 'jsonrpc is not "2.0".',
    "batch": "A batch outside revision 2025-03-26, or an empty batch.",
    "before-initialize": "A request before the handshake was complete.",
    "byte-order-mark": "A byte order mark before the message.",
    "deprecated": "A deprecated feature.",
    "duplicate-answer": "A second response to the same request.",
    "duplicate-key": "An object with a duplicate key.",
    "duplicate-tool": "A tool that is listed more than once.",
    "embedded-newline": "A message that spans several lines.",
    "error-code": "An error code that 2026-07-28 replaced or reserved.",
    "hidden-text": "A definition with text that people do not see, or with suspicious instructions.",
    "id-type": "An id that is neither a string nor an integer, or whose type differs from its request's.",
    "incomplete": "Output that ended in the middle of a line.",
    "invalid-utf8": "Invalid UTF-8.",
    "line-ending": "CR LF at the end of a message.",
    "lone-surrogate": "A lone surrogate.",
    "long-description": "A description that most clients truncate.",
    "missing-result-type": "A result of 2026-07-28 without resultType.",
    "neither": "A response with neither result nor error.",
    "no-description": "A tool without a description.",
    "no-structured-content": "A tool with an outputSchema whose result has no structuredContent.",
    "not-json": "Not JSON.",
    "not-json-rpc": "JSON, but not a JSON-RPC message.",
    "not-mcp": 'Lines of the non-standard "hello" dialect (transport = "lines").',
    "not-negotiated": "A method that the other side did not declare or request.",
    "not-whole": "A body or batch too large to check completely.",
    "null-id": "A request or response whose id is null or missing.",
    "oversize": "A message larger than clients accept.",
    "progress-late": "Progress for a request that already has a response.",
    "progress-order": "Progress that does not increase.",
    "progress-token": "Progress with an unknown token.",
    "result-and-error": "A response with both a result and an error.",
    "reused-id": "An id that is in use or was already used in the session.",
    "stray-output": "Output on stdout that is not a message.",
    "structured-content": "Structured content that does not match the tool's outputSchema.",
    "too-deep": "Nesting that parsers reject.",
    "tool-name": "A tool name with characters that the revision does not allow.",
    "unknown-id": "A response without a request.",
    "unknown-method": "A method that is not part of the revision, or of any.",
    "unknown-result-type": "A resultType that the client did not declare.",
    "unknown-revision": "A revision that was never released.",
    "unstable-order": "The same tools in a different order.",
    "wrong-direction": "A method that this side must not send.",
}
"""A sentence for each rule that is true of every entry with that finding."""


def sentence_of(finding: Finding, entry: Entry | None) -> str:
    """Return a sentence for a finding without one.

    A rule that needs more than the entry finds nothing in it alone, so its finding gets the general sentence.
    """
    if entry is not None:
        for found in Linter().feed(entry):
            if (found.code, found.severity) == (finding.code, finding.severity):
                return found.sentence
    return GENERAL.get(finding.code, "An unknown rule. Update mcptui.")
