"""Patterns of refusals in providers' own words, by what is refused. Pure."""

import re
from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "stream_options": r"stream_options|include_usage",
    "stop": r"""["'`]stop["'`]|\bstop(?: sequences?)?\b.{0,40}(?:not (?:supported|allowed|permitted)"""
    r"|unsupported)|(?:unsupported|unknown|unexpected|extra|invalid)[^.]{0,60}\bstop\b",
}
"""How a refusal names a parameter, where it is not simply its name."""

POSITIONS = (
    # Google's come first: in them `tools[0]` precedes the index that counts.
    re.compile(r"\bfunction_?declarations[.\[](\d{1,4})\b", re.IGNORECASE),
    re.compile(r"\btools?[.\[](\d{1,4})\b"),
)
TOO_MANY_TOOLS = re.compile(
    r"(?:\btools\b|functions).{0,120}?(?:at most|up to|(?:maximum(?: length| number)?|limit)(?: of| is)?)"
    r"\D{0,20}(\d{1,4})",
    re.IGNORECASE | re.DOTALL,
)
NEEDS_TOOLS = re.compile(
    r"without `?tools|\btools=?`? param|must (?:define|provide|include|specify).{0,20}tools"
    r"|(?:toolConfig|tools).{0,30}must be (?:defined|provided|set|specified)",
    re.IGNORECASE,
)
GOOGLE = re.compile(r"function_?declarations|GenerateContentRequest|Cannot find field", re.IGNORECASE)
MOONSHOT = re.compile(r"moonshot.{0,40}schema", re.IGNORECASE)
KEYS = re.compile(r"propert\w+ keys? .{0,40}match|keys? should match pattern", re.IGNORECASE)
SCHEMA = re.compile(
    r"(?:json.?|tools?.{0,40}|function.{0,40}|invalid |parameters?.{0,20})schema"
    r"|schema.{0,60}(?:invalid|not supported)|\b(?:grammar|parser) for|parse grammar|unrecognized schema",
    re.IGNORECASE | re.DOTALL,
)
ECHO = re.compile(r"reasoning_details|extra_content|reasoning_content|\breasoning\b|\bthinking\b")
MUST_ECHO = re.compile(
    r"reasoning_content.{0,80}(?:must be (?:passed|sent) back|required|missing)"
    r"|missing.{0,20}reasoning_content",
    re.IGNORECASE | re.DOTALL,
)
UNKNOWN = re.compile(
    r"extra|unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:allowed|permitted|supported)", re.I
)
_REFUSED = r".{0,80}(?:not (?:support|allow|accept)|unsupported|only (?:text|supported)|supported values)"
_CANNOT = r"(?:not support|unsupported|no endpoints?|missing data).{0,60}"
MEDIA: Mapping[str, re.Pattern[str]] = {
    "images": re.compile(
        rf"(?:image|vision|multi-?modal){_REFUSED}|{_CANNOT}(?:image|vision|multi-?modal)"
        r"|unknown variant .?image_url|not a (?:vision|multimodal) model|mmproj"
        r"|content.{0,40}(?:must be|should be|expected).{0,20}string",
        re.IGNORECASE | re.DOTALL,
    ),
    "audio": re.compile(
        rf"audio{_REFUSED}|{_CANNOT}audio|unknown variant .?input_audio", re.IGNORECASE | re.DOTALL
    ),
}

NINE_IDS = re.compile(r"tool.?call.?id.{0,200}length of 9", re.IGNORECASE | re.DOTALL)
PLAIN_IDS = re.compile(
    r"tool_(?:calls?|use)\S{0,12}id\b.{0,200}(?:too long|pattern)", re.IGNORECASE | re.DOTALL
)
NAMED_RESULTS = re.compile(r"function_?response\.name.{0,40}empty", re.IGNORECASE)
BEHIND_RESULT = re.compile(r"unexpected role .{0,20}tool", re.IGNORECASE)
ROLES = re.compile(r"roles? must alternate|only user.{0,40}roles are supported", re.IGNORECASE)
"""Templates without tool results, or without a user message after them (text-generation-inference#3198)."""
