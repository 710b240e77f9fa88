"""Sentences for findings whose own is not stored: from linting the entry alone, or general ones by rule.

If many entries have the same finding, a recording keeps the sentences of the first few only.
"""

from tui.core.traffic import Entry, Finding
from tui.traffic.lint.lint import Linter

GENERAL = {
    "answer-after-cancel": "An answer to a request that was cancelled.",
    "bad-cancel": "A cancel of what cannot be cancelled, or of nothing.",
    "bad-error": "An error without a whole number as code, or without a message.",
    "bad-params": "Params that are no object, or not what the revision says.",
    "bad-result": "A result that is no object, or not what the revision says.",
    "bad-schema": "A tool without an inputSchema, or a schema that is none.",
    "bad-version": 'jsonrpc is not "2.0".',
    "batch": "A batch, which only 2025-03-26 has, or an empty one.",
    "before-initialize": "A request before the handshake was through.",
    "byte-order-mark": "A byte order mark before the message.",
    "deprecated": "A feature that the revision wants to get rid of.",
    "duplicate-answer": "A second answer to the same request.",
    "duplicate-key": "An object with the same key twice.",
    "duplicate-tool": "A tool that is in the list more than once.",
    "embedded-newline": "A message printed over many lines.",
    "error-code": "An error code that 2026-07-28 has replaced or reserved.",
    "hidden-text": "A description with characters that nobody sees, or that steer a terminal.",
    "id-type": "An id that is neither text nor a whole number, or of another type than its request's.",
    "incomplete": "Output that ended in the middle of a line.",
    "invalid-utf8": "Bytes that are not UTF-8.",
    "line-ending": "CR LF at the end of a message.",
    "lone-surrogate": "Half of a surrogate pair alone.",
    "long-description": "A description that most clients cut off.",
    "missing-result-type": "A result of 2026-07-28 without resultType.",
    "neither": "An answer with neither result nor error.",
    "no-description": "A tool without a description.",
    "no-structured-content": "A tool with an outputSchema whose result has no structuredContent.",
    "not-json": "It is not JSON.",
    "not-json-rpc": "It is JSON, and no JSON-RPC message.",
    "not-mcp": 'Lines of the non-standard "hello" dialect (transport = "lines").',
    "not-negotiated": "A method that the other side did not declare, or that nobody asked for.",
    "not-whole": "A body or a batch so large that only its beginning was checked.",
    "null-id": "A request or answer whose id is null or missing.",
    "oversize": "More bytes than clients read.",
    "progress-late": "Progress of a request that is answered.",
    "progress-order": "Progress that does not grow.",
    "progress-token": "Progress with a token that no request gave.",
    "result-and-error": "An answer with both a result and an error.",
    "reused-id": "An id that is in use, or was used before in the session.",
    "stray-output": "Something on stdout that is no message.",
    "structured-content": "Structured content that does not match the tool's outputSchema.",
    "too-deep": "Nesting that readers refuse.",
    "tool-name": "A tool name with characters that the revision does not have.",
    "unknown-id": "An answer to no request.",
    "unknown-method": "A method that the revision, or any, does not have.",
    "unknown-result-type": "A resultType that the client did not declare.",
    "unknown-revision": "A revision that was never released.",
    "unstable-order": "The same tools in another order than before.",
    "wrong-direction": "A method that is not for this side to send.",
}
"""A sentence for each rule that is true of every entry with that finding."""


def sentence_of(finding: Finding, entry: Entry | None) -> str:
    """Return a sentence for a finding without one.

    Rules that need more than the entry find nothing in it alone, and what they find names nothing else.
    """
    if entry is not None:
        for found in Linter().feed(entry):
            if (found.code, found.severity) == (finding.code, finding.severity):
                return found.sentence
    return GENERAL.get(finding.code, "The rule that it breaks has no name here; a newer mcptui may know it.")
