"""The form of a row in the table of refusals (`refusals.TABLE`), and what can be done about one. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from tui.core.language.translate import as_message


class Do(StrEnum):
    """The reaction to a refusal.

    The first group is decided from the words alone. The second changes the request, which is sent again and
    remembered in `learned_quirks.Learned`. The third is only told, in `endpoint_errors`. A whole sentence is
    what the user is told: in the second group the notice, in the others and `TEXT_TOOLS` the next step.
    """

    RETRY = "Ask again, or choose another model. This one wrote an invalid tool call."
    PAY = "tell: the account needs credit"
    PAY_OR_WAIT = "wait if a time is named, else tell that the account needs credit"
    WAIT = "wait, then ask again"
    WAIT_LONG = "Wait until the limit is reset, or switch to another model."
    NEXT_DAY = "tell: the limit lasts until the next day, whatever time is named"
    SHORTEN = "Start a new conversation, or attach less. The conversation exceeds the model's context window."
    FEWER_TOKENS = "ask for a shorter reply"

    TEXT_TOOLS = 'Set tool_protocol to "auto" or "xml", or switch to a model that supports tools.'
    TEXT_RESULTS = "describe tools and their results in text"
    JOIN_SYSTEM = "The model has no system role. Retrying with the system text in the first user message."
    NO_STREAM = "The endpoint does not stream this model. Retrying without streaming."
    OMIT = "send without it"
    RENAME = "The endpoint requires max_completion_tokens. Retrying with it."
    NEAREST = "send the nearest level that is accepted"
    PLAIN_JSON = "The endpoint rejects a JSON Schema for the answer. Retrying with plain JSON."
    PLAIN_JSON_NOW = "The endpoint cannot follow this schema of the answer. Retrying with plain JSON."
    NO_FORMAT = "The endpoint rejects response_format with tools. Retrying without it."
    SIMPLER_TOOL = "simplify this tool, then omit it"
    SIMPLER_TOOLS = "The endpoint rejects a tool schema. Retrying with simpler schemas."
    GEMINI_TOOLS = "The endpoint requires Google's form of tool schemas. Retrying with it."
    KIMI_TOOLS = "The endpoint requires Moonshot's form of tool schemas. Retrying with it."
    PLAIN_KEYS = "The endpoint rejects property names in tool schemas. Retrying with plain ones."
    FEWER_TOOLS = "send fewer tools"
    ADD_TOOLS = "The endpoint requires tools next to earlier calls. Retrying with them."
    SEND_REASONING = "The endpoint requires its reasoning in the history. Retrying with it."
    NO_REASONING = "The endpoint rejects its reasoning in the history. Retrying without it."
    NO_BLOCKS = "The endpoint rejects the thinking of this turn. Retrying without thinking."
    NO_THINKING = "The endpoint requires its thinking next to earlier calls. Retrying without thinking."
    SHORT_IDS = "The endpoint requires call IDs of nine characters. Retrying with them."
    PLAIN_IDS = "The endpoint rejects call IDs. Retrying with plain ones."
    NAMED_RESULTS = "The endpoint requires tool names in results. Retrying with them."
    BETWEEN = (
        "The endpoint rejects a user message right after a tool result. Retrying with a message in between."
    )

    UNBLOCK = (
        "A firewall in front of the API, such as Cloudflare, refuses programs. Check base_url, try another "
        "network, or ask the operator to let API clients through."
    )
    USE_TLS = "If it uses TLS, start base_url with https://."
    VERIFY = "Verify the organization with the provider, or choose another model."
    REPHRASE = "The provider's content filter refused this. Rephrase it, or choose another model."
    FREE_MEMORY = "Switch to a smaller model, or free memory. This one does not fit into memory."
    LOAD = "Wait until the model is loaded, then retry."
    TRY_AGAIN = "ask again: the endpoint is busy or failed for a moment"
    FEWER_PARAMETERS = "Remove the parameters of the profile, or choose another model."
    CHECK_MODEL = "tell: the model is unknown"
    CHECK_KEY = "tell: the API key is not accepted"

    @property
    def words(self) -> str:
        """What the user is told, if it is a whole sentence."""
        return as_message(self.value)


_ALL = tuple(Do)
DECIDED = frozenset(_ALL[: _ALL.index(Do.TEXT_TOOLS)])
TOLD = frozenset(_ALL[_ALL.index(Do.UNBLOCK) :])

_MALFORMED = frozenset({0, 400, 422})
_UNABLE = frozenset({0, 400, 403, 404, 405, 415, 422, 500, 501})
_BY_WORDS = (
    "JOIN_SYSTEM NO_STREAM PLAIN_JSON_NOW SIMPLER_TOOL SIMPLER_TOOLS GEMINI_TOOLS SHORT_IDS PLAIN_IDS BETWEEN"
    " TEXT_RESULTS NAMED_RESULTS"
)
_STATUSES = {**{Do[name]: _UNABLE for name in _BY_WORDS.split()}, Do.TEXT_TOOLS: _UNABLE | {503}}


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

    def search(self, words: str) -> re.Match[str] | None:
        return _compiled(self.pattern).search(words)

    def counts_for(self, status: int, sent: Collection[str] | None) -> bool:
        """Whether it may be the reason for a status; `sent` is None if that is unknown."""
        if self.do in DECIDED or self.do in TOLD:
            return True
        statuses = _UNABLE if self.what in _MEDIA else _STATUSES.get(self.do, _MALFORMED)
        return status in statuses and (sent is None or self.what in sent)


def rows(what: str, do: Do, patterns: Mapping[str, str]) -> list[Refusal]:
    """Return the rows of several wordings of one thing, by who says it."""
    return [Refusal(who, what, do, pattern) for who, pattern in patterns.items()]


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
