"""Error messages of endpoints: their text, what it means, and when to ask again. Pure.

Endpoints report failures with a status, inside a stream, or as an HTML page. Their text is untrusted: it is
cleaned and truncated before it gets into a message.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tui.core.errors import ModelError, composed
from tui.core.http_waits import DURATION, LONGEST_RETRY, delay_until, duration_in, retry_after
from tui.core.jsonrpc.reader import json_within
from tui.core.language.translate import message, together
from tui.core.text import clean_line
from tui.model.endpoints.refusal_rows import DECIDED, Do, Refusal
from tui.model.endpoints.refusals import TABLE

MAX_WORDS = 300
"""Maximum characters of a provider's own words in a message."""

MAX_GENERATION = 200_000
"""Characters kept of what a model wrote and its endpoint could not parse."""

FAILED = message("the endpoint failed during the reply")

FAILED_FINISH = re.compile(
    r"(?:network_|system_)?error|insufficient_system_resource|abort(?:ed)?"
    r"|(?:function_call_filter: ?)?(?:malformed_function_call|unexpected_tool_call)",
    re.IGNORECASE,
)
"""Finish reasons of an aborted reply: OpenRouter, Zhipu, DeepSeek, SGLang and vLLM, Gemini."""

RETRYABLE_STATUS = frozenset({408, 409, 425, 429}) | frozenset(range(500, 600)) - {501, 505}

_NOT_ALLOWED = frozenset({401, 402, 403})
_LOADING = re.compile(r"\bload|加载", re.IGNORECASE)

_WORDS = ("message", "msg", "detail", "Message", "reason", "error_msg", "errorMessage")

_QUOTED_CALL = re.compile(
    r"failed to parse input at pos \d+: (.+)|error parsing tool call: raw='(.+)', err=", re.I | re.S
)


MAX_SAID = 4000
"""Characters of an error's body that are searched for its reason."""

_MESSAGES = (
    *("error", "errors", "message", "detail", "details", "msg", "status_msg", "error_message"),
    *("errormessage", "error_msg", "error_description", "description", "reason", "faultstring", "fault"),
    *("response", "responsemetadata", "err", "title", "code", "__type"),
)
"""Fields of error bodies with the message, in lower case, by how much they say.

OpenAI, Cloudflare and watsonx, AWS, FastAPI, MiniMax, Alibaba, Baidu, OAuth, Apigee, Tencent, Volcengine.
"""

_BESIDE_NAME = ("message", "error_description", "detail", "reason", "msg")
"""Fields with the message next to a text in `error` that only names its kind."""

_ECHOED = frozenset(
    {"input", "ctx", "url", "request", "messages", "failed_generation", "stack", "more_info", "doc_url"}
)
"""Fields that repeat the request or the model's text, or are for developers: they say nothing."""

_XML_MESSAGE = re.compile(r"<(message|faultstring)>([^<]{1,600})</", re.IGNORECASE)
"""The message in XML, as AWS, Azure and Google Cloud send it."""

_PAGE = re.compile(r"<(?:html|body|head|!doctype)", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]{1,200})", re.IGNORECASE)
_MARKUP = re.compile(r"<(script|style)\b.{0,4000}?</\1>|<[^<>]{0,200}>", re.IGNORECASE | re.DOTALL)

_LINK = re.compile(r"(?:https?://|www\.)\S+|\b(?:[\w-]{1,60}\.){1,5}[a-z]{2,10}/\S*", re.IGNORECASE)


def message_in(body: Any) -> str:
    """Return the message in an error body, cleaned, as one line; "" if there is none."""
    text = _message(body, 4)
    if (found := _XML_MESSAGE.search(text[:MAX_SAID])) is not None:
        text = found[2]
    elif _PAGE.search(text[:2000]):
        title = _TITLE.search(text[:MAX_SAID])
        text = title[1] if title and title[1].strip() else _MARKUP.sub(" ", text[:MAX_SAID])
    return clean_line(text, MAX_WORDS)


def _message(body: Any, depth: int) -> str:
    body = _parsed(body)
    if isinstance(body, str) or not depth:
        return body if isinstance(body, str) else ""
    if isinstance(body, list):
        return "; ".join(dict.fromkeys(filter(None, (_message(item, depth - 1) for item in body[:3]))))
    if not isinstance(body, dict):
        return str(body or "")
    named = {str(name).lower(): value for name, value in body.items()}

    def first(names: Sequence[str]) -> str:
        values = ((name, named.get(name)) for name in names)
        texts = (one for name, one in values if not isinstance(one, bool if name == "code" else int | float))
        return next(filter(None, (_message(text, depth - 1) for text in texts if text)), "")

    found = first(_MESSAGES)
    if found and found == named.get("error") and (beside := first(_BESIDE_NAME)) not in ("", found):
        found = f"{found}: {beside}"
    if found and isinstance(place := named.get("loc"), list):
        found = f"{_place(place)}: {found}"
    raw = named.get("metadata")
    if isinstance(raw, dict) and (within := _message(raw.get("raw"), depth - 1)):
        found = f"{found}: {within}"
    return found or "; ".join(_by_name(named, depth))


def _place(parts: list[Any]) -> str:
    return ".".join(str(part)[:80] for part in parts[:8] if part != "body")


def _by_name(named: Mapping[str, Any], depth: int) -> list[str]:
    """Return what fields of other names say: "name: message" of lists, as in Rails, or else a sentence."""
    fields = [(name, value) for name, value in named.items() if name not in _ECHOED]
    lists = ((name, _message(value, depth - 1)) for name, value in fields if isinstance(value, list))
    if said := [f"{name}: {text}" for name, text in lists if text][:3]:
        return said
    texts = (_message(value, depth - 1) for _, value in fields if isinstance(value, dict))
    sentences = (value for _, value in fields if isinstance(value, str) and " " in value.strip())
    return [text for text in (*texts, *sentences) if text][:1]


def _parsed(body: Any) -> Any:
    found = json_within(body) if isinstance(body, str) else None
    return body if found is None else found


def said_in(body: Any) -> str:
    """Return all that an error's body says, without links, for the patterns of `refusals`.

    Messages come first, then the other fields with their names. What only repeats the request is left out:
    a conversation may be about any of these errors.
    """
    texts: list[str] = []
    fields: list[str] = []
    _collect(body, "", 10, texts, fields)
    whole = "\n".join((*dict.fromkeys(texts), *dict.fromkeys(fields)))
    if _PAGE.search(whole[:2000]):
        whole = _MARKUP.sub(" ", whole[: MAX_SAID * 2])
    return _LINK.sub(" ", whole[: MAX_SAID * 2])[:MAX_SAID]


def _collect(body: Any, name: str, depth: int, texts: list[str], fields: list[str]) -> None:
    body = _parsed(body)
    if not depth or len(texts) + len(fields) > 200:
        return
    if isinstance(body, dict):
        if isinstance(place := body.get("loc"), list) and isinstance(body.get("msg"), str):  # FastAPI
            texts.append(f"{_place(place)}: {body['msg']}")
        for key, value in body.items():
            if str(key).lower() in _ECHOED:
                fields.append(str(key))
            else:
                _collect(value, str(key), depth - 1, texts, fields)
    elif isinstance(body, list) and name != "loc":
        for item in body[:20]:
            _collect(item, name, depth - 1, texts, fields)
    elif isinstance(body, str) and (name.lower() in _MESSAGES[:-2] or not name or name == "raw"):
        texts.append(body)
    elif body is not None and not isinstance(body, list):
        fields.append(f"{name}: {body}")


def refusals_in(
    words: str, status: int = 0, sent: Collection[str] | None = None, *, among: Collection[Do] | None = None
) -> Iterator[tuple[Refusal, re.Match[str]]]:
    """Yield the rows that match, in order: the first decides, a later one counts if it cannot be followed."""
    for row in TABLE:
        if (
            (among is None or row.do in among)
            and row.counts_for(status, sent)
            and (found := row.search(words))
        ):
            yield row, found


def refusal_in(
    words: str, status: int = 0, sent: Collection[str] | None = None, *, among: Collection[Do] | None = None
) -> tuple[Refusal, re.Match[str]] | None:
    """Return the row that decides, and what it found."""
    return next(refusals_in(words, status, sent, among=among), None)


def judged(
    said: str,
    status: int | None = None,
    *,
    message: str = "",
    wait: float | None = None,
    body: Any = None,
    limit: int = 0,
    where: str = "",
) -> ModelError:
    """Return the error for a failure; `final` if all that can be done is `SHORTEN`, `WAIT_LONG` or `PAY`.

    `said` are the words in it, `wait` the delay in seconds that it names; `body` may quote the model, `limit`
    is the longest reply asked for.

    A rejected key (401) often links to the page of the account, so there only plain words are about payment.
    Some providers describe an exceeded rate limit in nearly the words of a conversation that is too long; it
    is ruled out first, because shortening one would lose content and not help. A reply that may become too
    long is no overflow if there is room for a shorter one. A status of 413 needs no words.
    """
    row, found = refusal_in(said, among=DECIDED) or (None, None)
    do = row.do if row else {402: Do.PAY, 413: Do.SHORTEN}.get(status or 0)
    wait = None if do is Do.NEXT_DAY else wait
    full = do is Do.SHORTEN or (found is not None and do is Do.FEWER_TOKENS and reply_room(found, limit) == 0)
    final = ""
    if full and status not in _NOT_ALLOWED:
        final = Do.SHORTEN
    elif do in (Do.NEXT_DAY, Do.WAIT_LONG) and wait is None:
        final = Do.WAIT_LONG
    elif do is Do.PAY or (do is Do.PAY_OR_WAIT and wait is None and status != 401):
        final = Do.PAY
    loading = _is_loading(said, status)
    tools = refusal_in(said, status or 0, among=DECIDED | {Do.TEXT_TOOLS})
    no_tools = tools is not None and tools[0].do is Do.TEXT_TOOLS
    generation = failed_generation(body)
    # Without a status, a rate limit may pass, and an endpoint that is busy or failed.
    transient = (Do.RETRY,) if status else (Do.RETRY, Do.WAIT, Do.TRY_AGAIN)
    passes = status in RETRYABLE_STATUS or loading or generation or refusal_in(said, among=transient)
    stays = refusal_in(said, status or 0, among=(Do.FREE_MEMORY, Do.UNBLOCK))
    error = ModelError(
        message,
        where=where,
        status=status,
        retryable=bool(passes and not (final or no_tools or stays)),
        retry_after=wait,
        overflow=final is Do.SHORTEN,
        window=window_in(said) if final is Do.SHORTEN else None,
    )
    error.generation, error.said, error.final = generation, said, final
    error.loading, error.no_tools = loading, no_tools
    return error


def _is_loading(said: str, status: int | None) -> bool:
    """Whether a failure says that the model is being loaded.

    Where the status says that the request is wrong, only the word itself counts: a deployment that "is not
    ready or does not exist" never gets ready.
    """
    found = None if status in _NOT_ALLOWED else refusal_in(said, status or 0, among=(Do.LOAD,))
    if found is None:
        return False
    return not status or status in RETRYABLE_STATUS or _LOADING.search(found[1][0]) is not None


def reply_error(chunk: Mapping[str, Any]) -> ModelError | None:
    """Return the failure that a chunk of a stream reports, or None.

    Known forms: `error` as object or text, `object: "error"`, `base_resp.status_code`, a choice with an error
    or with a finish reason for one, and without choices a `message`, alone or with a code.
    """
    body: Any = chunk.get("error")
    resp = chunk.get("base_resp")
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not body and "error" in (chunk.get("object"), chunk.get("type")):
        body = chunk
    elif not body and isinstance(resp, dict) and resp.get("status_code") not in (0, None, "0"):
        body = {"message": resp.get("status_msg"), "code": resp.get("status_code")}
    elif not body and isinstance(first, dict) and first.get("error"):
        body = first["error"]
    elif not body and choices is None and isinstance(chunk.get("errors"), list) and chunk["errors"]:
        body = chunk
    elif not body and choices is None and any(isinstance(chunk.get(name), str) for name in _WORDS):
        body = chunk if any(map(chunk.get, ("code", "status", "type", "detail"))) or len(chunk) == 1 else None
    elif not body and isinstance(first, dict) and FAILED_FINISH.fullmatch(str(first.get("finish_reason"))):
        body = message("the provider ended the reply with an error, {reason}", reason=first["finish_reason"])
    elif not body and (blocked := _blocked(chunk)):
        body = {
            "message": message("the provider blocked the prompt: {reason}", reason=blocked),
            "code": "content_filter",
        }
    if not body:
        return None
    reason = message_in(body) or message("no reason given")
    code = body.get("code") or body.get("type") if isinstance(body, dict) else None
    if isinstance(code, str) and code not in reason and not code.isdigit():
        reason = together(reason, f" ({clean_line(code, 60)})")
    text, wait = composed("{where}: {text}", where=FAILED, text=reason), asked_wait(body)
    error = judged(said_in(body), _status(body), message=text, wait=wait, body=body)
    error.next_step = (
        message("Add credit or raise the quota of this account.")
        if error.final == Do.PAY
        else message("Retry.")
    )
    return error


def _blocked(chunk: Mapping[str, Any]) -> str:
    """Return why Google refused a prompt, or ""; its chunk has no choices."""
    for name in ("promptFeedback", "prompt_feedback"):
        if isinstance(feedback := chunk.get(name), dict):
            return clean_line(str(feedback.get("blockReason") or feedback.get("block_reason") or ""), 60)
    return ""


def failed_generation(body: Any) -> str:
    """Return the model's text if the endpoint could not parse a call in it, or "".

    Groq has a field for it, llama.cpp and Ollama quote it in their message.
    """
    for _ in range(4):
        text = body.get("message") if isinstance(body, dict) else body
        if isinstance(body, dict) and (written := body.get("failed_generation")):
            text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
            return text[:MAX_GENERATION]
        if isinstance(text, str) and (quoted := _QUOTED_CALL.search(text)):
            return (quoted[1] or quoted[2])[:MAX_GENERATION]
        body = body.get("error") if isinstance(body, dict) else None
    return ""


def _status(body: Any) -> int | None:
    if not isinstance(body, dict):
        return None
    values = (str(body.get(name)) for name in ("code", "status", "status_code"))
    numbers = (int(value) for value in values if re.fullmatch(r"[45][0-9]{2}", value))
    return next(numbers, None)


LEAST_REPLY = 256
"""Tokens that are left for a reply at least; with fewer, the conversation counts as too long."""


def window_in(words: str) -> int | None:
    """Return the context window that a rejection names, or None."""
    found = refusal_in(words, among=(Do.SHORTEN, Do.FEWER_TOKENS))
    window = number_in(found[1], "window") if found else None
    return window if window is not None and 512 <= window <= 20_000_000 else None


def reply_room(found: re.Match[str], limit: int = 0) -> int | None:
    """Return how many tokens a reply may have: 0 if too few are left, None if the rejection does not say.

    `limit` is the longest reply asked for, or 0.
    """
    most = number_in(found, "most") or number_in(found, "now")
    if most is not None:
        is_below = re.search(r"exclusive|(?:less|lower|smaller) than(?! or equal)", found[0], re.IGNORECASE)
        return max(1, most - 1 if is_below else most)
    window, sent = number_in(found, "window"), number_in(found, "input")
    if (total := number_in(found, "total")) is not None:
        sent = total - limit
    if window is None or sent is None:
        return None
    left = window - sent
    if "at least" in found[0].lower():  # vLLM stops counting, so the conversation may be longer
        left = min(left, (number_in(found, "output") or 0) // 2)
    return left if left >= LEAST_REPLY else 0


def number_in(found: re.Match[str], name: str) -> int | None:
    """Return a number that a row of the table found, or None."""
    text = re.sub(r"\D", "", found.groupdict().get(name) or "")
    return int(text) if text else None


# ---- when it may be asked again: in headers, in fields of the body, or in its words

_BEFORE = (
    r"(?:\btry\w*(?: (?:your |the )?(?:request|it))? again"
    r"|\bre-?try\w*(?: (?:again|(?:your|the|this) request))?"
    r"|\bwait\w*|\bavailable(?: again)?|\bresets?|\bresetting|\bcool\w*|\bestimated[ _]time)"
)
_BETWEEN = r"(?:[\s\"'=:(~≈]|\b(?:in|after|for|at|least|about|approximately|around|another|until|on)\b){1,8}"
_WAIT = re.compile(rf"{_BEFORE}{_BETWEEN}(?P<time>{DURATION})", re.IGNORECASE)
_WAIT_SECONDS = re.compile(
    r"\bretry[-_ ]?after\b[\s\"'=:]{1,4}(?P<time>\d{1,7}(?:\.\d{1,6})?)(?![\w.:/-])", re.IGNORECASE
)
_WAIT_AFTERWARDS = re.compile(r"(?P<time>\d{1,6}\s?(?:秒钟?|分钟|小时))(?:之?后|以后)", re.IGNORECASE)
_WAIT_UNTIL = re.compile(
    rf"{_BEFORE}{_BETWEEN}(?P<time>\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,9}})?)?"
    r"(?:Z|\s?[+-]\d\d:?\d\d|(?= UTC))?)",
    re.IGNORECASE,
)
_IN_WORDS = (_WAIT, _WAIT_AFTERWARDS, _WAIT_UNTIL, _WAIT_SECONDS)

_DELAYS = frozenset(
    """
    retryafter retryafterseconds retryaftersec retryin retryinseconds retrydelay retrydelayseconds waitseconds
    waittime estimatedtime resetsin resetsinseconds resetinseconds resetafter resetafterseconds
    quotaresetdelay cooldownseconds secondsuntilreset resetsat resetat resettime resettimestamp
    quotaresettimestamp retryat ratelimitreset
    """.split()
)
_DELAYS_MS = frozenset("retryafterms retryinms resetafterms retrydelayms resetinms resetsinms".split())
"""Names of fields with a delay or a moment, without case and marks."""

MOST_FIELDS = 500
MOST_WORDS = 8_000


def asked_wait(body: Any, headers: Mapping[str, str] | None = None, *, limited: bool = False) -> float | None:
    """Return the delay in seconds that an endpoint asks for, or None.

    `body` is decoded JSON or a text; names of `headers` are in lower case. `limited`: a limit was reached, so
    headers that say when limits are reset count, too.
    """
    headers = headers or {}
    delay = retry_after(headers)
    if delay is None:
        delay = _in_fields(body)
    if delay is None:
        delay = _in_words(body)
    return retry_after(headers, limited=True) if delay is None and limited else delay


def _in_words(body: Any) -> float | None:
    try:
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return None
    for pattern in _IN_WORDS:
        if (found := pattern.search(text[:MOST_WORDS])) is not None:
            delay = duration_in(found["time"]) if pattern is not _WAIT_SECONDS else delay_until(found["time"])
            delay = delay_until(found["time"].replace(" +", "+")) if delay is None else delay
            if delay is not None:
                return delay
    return None


def _in_fields(body: Any) -> float | None:
    for name, value in _fields(body):
        if name == "headers" and isinstance(value, Mapping):
            known = {str(key).lower(): str(item) for key, item in list(value.items())[:MOST_FIELDS]}
            if (delay := retry_after(known, limited=True)) is not None:
                return delay
        if isinstance(value, Mapping) and name in _DELAYS:  # google.protobuf.Duration
            value = value.get("seconds")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        if name in _DELAYS and (delay := delay_until(_plain(value))) is not None:
            return delay
        if name in _DELAYS_MS and (delay := delay_until(_plain(value))) is not None:
            return min(LONGEST_RETRY, delay / 1000)
    return None


def _plain(value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{value:.3f}" if abs(value) < 1e18 else ""


def _fields(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body with their names in lower case without marks, the outermost first."""
    open_values = [body]
    left = MOST_FIELDS
    while open_values and left > 0:
        value = open_values.pop(0)
        if isinstance(value, Mapping):
            for key, inner in value.items():
                left -= 1
                if left < 0:
                    return
                yield re.sub(r"[-_ ]", "", str(key)[:60]).lower(), inner
                open_values.append(inner)
        elif isinstance(value, list):
            open_values.extend(value[:MOST_FIELDS])
