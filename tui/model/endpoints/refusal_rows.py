"""The form of a row in the table of refusals, and what can be done about one. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Do(StrEnum):
    """The reaction to a refusal.

    The first group is decided from the words alone. The second changes the request, which is sent again and
    remembered in `learned_quirks.Learned`. The third is only told, in `endpoint_errors`.
    """

    RETRY = "ask again: the model wrote a call that cannot be read"
    PAY = "tell: the account needs credit"
    PAY_OR_WAIT = "wait if a time is named, else tell that the account needs credit"
    WAIT = "wait, then ask again"
    WAIT_LONG = "wait if a time is named, else tell that the limit lasts for hours"
    NEXT_DAY = "tell: the limit lasts until the next day, whatever time is named"
    SHORTEN = "shorten the conversation"
    FEWER_TOKENS = "ask for a shorter reply"

    TEXT_TOOLS = "describe tools in text"
    TEXT_RESULTS = "describe tools and their results in text"
    JOIN_SYSTEM = "send the system text in the first user message"
    NO_STREAM = "ask for the reply in one piece"
    OMIT = "send without it"
    RENAME = "send max_completion_tokens instead"
    NEAREST = "send the nearest level that is accepted"
    PLAIN_JSON = "ask for plain JSON"
    PLAIN_JSON_NOW = "ask for plain JSON, in this run"
    NO_FORMAT = "send no answer format with tools"
    SIMPLER_TOOL = "simplify this tool, then omit it"
    SIMPLER_TOOLS = "simplify all tools"
    GEMINI_TOOLS = "send tools in Google's form"
    KIMI_TOOLS = "send tools in Moonshot's form"
    PLAIN_KEYS = "send plain property names"
    FEWER_TOOLS = "send fewer tools"
    ADD_TOOLS = "send tools next to earlier calls"
    SEND_REASONING = "send earlier reasoning back"
    NO_REASONING = "send no earlier reasoning back"
    NO_BLOCKS = "send the calls of this turn without thinking blocks"
    NO_THINKING = "ask for no thinking if earlier calls were made without it"
    SHORT_IDS = "send call IDs of nine characters"
    PLAIN_IDS = "send plain call IDs"
    NAMED_RESULTS = "send tool names with results"
    BETWEEN = "send an assistant message after a tool result"

    UNBLOCK = "tell: a firewall refuses programs"
    USE_TLS = "tell: the port speaks TLS"
    VERIFY = "tell: the account must be verified"
    REPHRASE = "tell: the content filter refused it"
    FREE_MEMORY = "tell: the model needs more memory"
    LOAD = "ask again until the model is loaded"
    TRY_AGAIN = "ask again: the endpoint is busy or failed for a moment"
    FEWER_PARAMETERS = "tell: no provider accepts all parameters"
    CHECK_MODEL = "tell: the model is unknown"
    CHECK_KEY = "tell: the API key is not accepted"


DECIDED = frozenset(
    {
        Do.RETRY,
        Do.PAY,
        Do.PAY_OR_WAIT,
        Do.WAIT,
        Do.WAIT_LONG,
        Do.NEXT_DAY,
        Do.SHORTEN,
        Do.FEWER_TOKENS,
    }
)
TOLD = frozenset(
    {
        Do.UNBLOCK,
        Do.USE_TLS,
        Do.VERIFY,
        Do.REPHRASE,
        Do.FREE_MEMORY,
        Do.LOAD,
        Do.TRY_AGAIN,
        Do.FEWER_PARAMETERS,
        Do.CHECK_MODEL,
        Do.CHECK_KEY,
    }
)

_MALFORMED = frozenset({0, 400, 422})
_UNABLE = frozenset({0, 400, 403, 404, 405, 415, 422, 500, 501})
_STATUSES = {
    **dict.fromkeys(
        (Do.TEXT_TOOLS, Do.JOIN_SYSTEM, Do.NO_STREAM, Do.PLAIN_JSON_NOW, Do.SIMPLER_TOOL), _UNABLE
    ),
    **dict.fromkeys(
        (Do.SIMPLER_TOOLS, Do.GEMINI_TOOLS, Do.SHORT_IDS, Do.PLAIN_IDS, Do.BETWEEN, Do.TEXT_RESULTS), _UNABLE
    ),
    Do.NAMED_RESULTS: _UNABLE,
    Do.TEXT_TOOLS: _UNABLE | {503},
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One row.

    `who` says so: a provider or a server, with a word more if it has several wordings. `what` it refuses is a
    parameter's name, or "tools", "named tool", "system text", "stream", "images", "audio", "answer schema",
    "results", and so on (see `openai_chat.sent_kinds`): the row counts only if that was sent. For a row that
    is decided or told, `what` is for the reader.

    `pattern` is searched in all texts of the error's body, without links, ignoring case; `.` matches a line
    break. In it, these are numbers of tokens: `<window>` is the context window, `<input>` what was sent,
    `<output>` the reply that was asked for, `<total>` both, `<most>` the longest reply that is accepted,
    `<now>` the same for now only. `<count>` is any number.
    """

    who: str
    what: str
    do: Do
    pattern: str

    @property
    def is_learned(self) -> bool:
        return self.do not in DECIDED and self.do not in TOLD

    def search(self, words: str) -> re.Match[str] | None:
        return _compiled(self.pattern).search(words)

    def counts_for(self, status: int, sent: Collection[str] | None) -> bool:
        """Whether it may be the reason for a status; `sent` is None if that is unknown."""
        if not self.is_learned:
            return True
        statuses = _UNABLE if self.what in _MEDIA else _STATUSES.get(self.do, _MALFORMED)
        return status in statuses and (sent is None or self.what in sent)


_MEDIA = ("images", "audio")
_NUMBER = re.compile(r"<(window|input|output|total|most|now|count)>")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at the first use: a run without failures needs none of them."""
    return re.compile(_NUMBER.sub(r"(?P<\1>\\d[\\d,._]{0,11})", pattern), re.IGNORECASE | re.DOTALL)


# ---- parts of patterns

CANNOT = (
    r"(?:\bnot? (?:be |currently |yet )?(?:supports?|supported|allowed?|accept(?:s|ed)?|permitted"
    r"|enabled|available"
    r"|compatible|implemented|capable)|n.t (?:currently )?(?:support|allow|accept)|\bunsupported"
    r"|\bcannot (?:be )?"
    r"(?:use|accept|process|handle)|\bincompatible|\bnot have (?:a |any )?(?:support|capabilit)"
    r"|\black|不支持|未开通)"
)
UNKNOWN = rf"(?:{CANNOT}|\bunknown|\bunrecogni[sz]ed|\bunexpected|\bextra\b|\bextra_forbidden|\bforbidden)"
NOT = (
    rf"(?:{UNKNOWN}|\binvalid\b"
    r"|\bno longer|\bdeprecated|\bremove|\bonly\b|\bmust\b|\bshould\b|\bmay not\b|非法|无效|参数)"
)


def named(name: str, verb: str = CANNOT, within: int = 80) -> str:
    """Return a pattern for a message that says that something is not accepted, in either order."""
    return rf"(?:{name}).{{0,{within}}}{verb}|{verb}.{{0,{within}}}(?:{name})"


def parameter(name: str, verb: str = NOT) -> str:
    """Return a pattern for a rejected parameter, whose name may be in camel case; not for its range."""
    found = named(rf"(?<![\w-]){name.replace('_', '[_ ]?')}(?![\w-])", verb, 160)
    return rf"\A(?!.*(?:between \d|(?:less|greater) than|at (?:most|least) \d|<=|>=|\brange\b)).*?(?:{found})"


CALLS = r"(?<!parallel )\b(?:function|tool)[ _-]?(?:call(?:s|ing)?|use)\b"
SYSTEM = r"\b(?:system|developer)[ _]?(?:role|prompt|message|instruction|field)s?\b"
IMAGES = (
    r"(?:\bimages?\b(?![/ ](?:format|type|extension|mime|file|size|data|gif|tiff|bmp|svg|png|jpe?g|webp))"
    r"|\bimage_urls?|\bvision\b|\bmulti-?modal(?:ity)?\b|\bpictures?\b|图片|图像)"
)
FORMAT = r"(?:\bresponse_?format|response mime type|\bjson[_ ](?:mode|schema|object)|structured[_ ]outputs?)"
REASONING = (
    r"(?:reasoning_details|extra_content|reasoning_content|thinking_blocks|[\"'`](?:reasoning|thinking)[\"'`]"
    r"|messages.{0,60}\b(?:reasoning|thinking)\b)"
)
THINKING = r"\b(?:thinking|reasoning|think value)\b"
SCHEMA = (
    r"(?:(?:json.?|tools?.{0,40}|function.{0,40}|invalid |parameters?.{0,20})schema"
    r"|schema.{0,60}(?:invalid\b|not supported)|\b(?:grammar|parser) for|parse grammar|unrecognized schema)"
)
GRAMMAR = (
    r"(?:\bgrammar\b|xgrammar|llguidance|outlines|guided[_ ](?:json|decoding|grammar)|structured[_ ]outputs?)"
)
FAILED_LOAD = (
    r"(?:\b(?:fail\w*|errors?|exception|unable|cannot|can.t|could ?n.t|timed? ?out|refus\w*|denied"
    r"|uploading)\b.{0,60}\b(?:load|start|boot|initiali)|\b(?:load|start)\w*\b.{0,40}\b(?:fail|error|crash|exited)"
    r"|no models?\b.{0,20}\bload)"
)
SENT = r"(?:prompt|input|request|messages?|conversation|context|query|text)"
