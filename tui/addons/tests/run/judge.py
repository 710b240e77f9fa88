"""Compares a response with what its case expects: text, result, content, errors, findings, time. Pure."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.addons.tests.run.outcome import ABSENT, Mismatch
from tui.addons.tests.suite.case import UNSET, Expectation, RequestKind
from tui.addons.tests.suite.keys import INVALID_BASE64
from tui.core.attachments import decoded_size
from tui.core.comparison.placeholders import fits_text, same
from tui.core.comparison.values import Change, Difference, Tolerance, compare
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.jsonrpc.reader import json_value, json_within
from tui.core.secrets.encodings import plain_base64
from tui.core.text import clean_line, compact, list_in, mapping, object_in, text_in
from tui.core.traffic import Finding, Severity
from tui.core.units import duration, plural

MAX_JSON = 16 * 1024 * 1024
"""Maximum characters of a text that is parsed as JSON."""

MAX_ITEMS = 10_000
NOT_WHOLE = "not-whole"
"""The hint that the linter has read only the start of a large message."""

MORE_TEXT = 'it says something else than the structured content. If any text is right, add text = "<text>"'

ROLES = '{ "messages": [{ "role": … }] }'

_RESULT = Tolerance(placeholders=True, additions=True)


@dataclass(frozen=True, slots=True)
class Response:
    """A response to the request of a case: its result or its error, as the server sent it.

    `findings` are those of the linter about its messages. `ms` is how long it took.
    """

    kind: RequestKind
    result: Any = None
    error: Mapping[str, Any] | None = None
    ms: float = 0.0
    findings: Sequence[Finding] = ()

    @property
    def is_error(self) -> bool:
        """Whether it is a JSON-RPC error, or a result that says so."""
        return self.error is not None or is_tool_error(mapping(self.result))

    @property
    def text(self) -> str:
        """The texts of the result, joined by line breaks, or the message of the error."""
        if self.error is not None:
            return text_in(self.error, "message")
        return "\n".join(text for item in _items(self) if (text := _plain_text(item)) is not None)

    @property
    def structured(self) -> Any:
        """The structured content, None without any."""
        return mapping(self.result).get("structuredContent")

    @property
    def value(self) -> Any:
        """The structured content, or else the JSON of the text; `ABSENT` without any.

        For prompts and lists, the whole result without `_meta`.
        """
        if self.error is not None:
            return ABSENT
        result = mapping(self.result)
        if self.kind in (RequestKind.PROMPT, RequestKind.LIST):
            return {name: value for name, value in result.items() if name != "_meta"}
        if self.structured is not None:
            return self.structured
        found = json_value(self.text) if len(self.text) <= MAX_JSON else None
        return found if found is not None or "structuredContent" in result else ABSENT

    @property
    def content(self) -> Sequence[Mapping[str, Any]]:
        """The items that are not plain text, as a case describes them."""
        return [] if self.error is not None else content_of(_items(self))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a comparison. `notes` are sentences about what does not fail the case."""

    mismatches: Sequence[Mismatch] = ()
    notes: Sequence[str] = field(default_factory=list)


def judge(expected: Expectation, response: Response, *, strict_time: bool = False) -> Judgement:
    """Compare a response with an expectation. Saved values are filled in already.

    `strict_time`: a response that takes longer than expected is a mismatch, not a note.
    """
    found, notes = list[Mismatch](), list[str]()
    if response.is_error and not expected.error:
        code = f"error {response.error.get('code')}" if response.error is not None else "isError is true"
        found.append(Mismatch("error", False, response.text, f"the call failed ({code})"))
    elif expected.error and not response.is_error:
        found.append(Mismatch("error", True, response.text or response.value, "the call did not fail"))
    else:
        found += _text(expected, response)
        found += _result(expected, response)
        if expected.content is not None:
            found += _content(expected.content, response.content)
        elif response.content:
            notes.append(f"not compared: {_kinds(response.content)}. To compare them, add content = […].")
        if expected.result is UNSET and (roles := _other_roles(response)):
            notes.append(f"not compared: {roles}. To compare it, add result = '{ROLES}'.")
    findings = [*response.findings, *undecodable(response)]
    found += _findings(expected, findings)
    hints = (one for one in findings if not _fails(one) and one.code != NOT_WHOLE)
    notes += (f"hint {one.code}: {one.sentence}" for one in hints)
    if expected.within_ms is not None and response.ms > expected.within_ms:
        took, limit = _times(response.ms, expected.within_ms)
        if strict_time:
            found.append(Mismatch("within", limit, took, "the response was slow"))
        else:
            notes.append(f"slow: {took}, expected within {limit}.")
    return Judgement(found, notes)


def content_of(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the items of a result that are not plain text, as the `content` of a case describes them."""
    return [_described(item) for item in items if _plain_text(item) is None]


def undecodable(response: Response) -> list[Finding]:
    """Return a finding for each item of a result whose data is not base64."""
    items = () if response.error is not None else _items(response)
    return [
        Finding(0, INVALID_BASE64, Severity.ERROR, f"The data of content item {number} is not valid base64.")
        for number, item in enumerate(items, 1)
        if isinstance(item, Mapping) and (data := _data(item)) is not None and plain_base64(data) is None
    ]


def says_more(response: Response, structured: Any) -> bool:
    """Return whether the texts of a result say something else than its structured content.

    Servers repeat it as JSON: as a whole, in one text for each item of a list, or wrapped in `result`.
    """
    text = response.text
    values = [structured]
    if isinstance(structured, Mapping) and [*structured] == ["result"]:
        values.append(structured["result"])
    if not text or any(
        text == (one if isinstance(one, str) else compact(one, len(text) + 1)) for one in values
    ):
        return False
    items = (mapping(one) for one in list_in(mapping(response.result), "content"))
    blocks = [text_in(one, "text") for one in items if one.get("type") == "text"]
    read = [block if (value := json_within(block)) is None else value for block in blocks]
    whole = json_within(text)
    candidates = [read, *([whole] if whole is not None else ()), *(read if len(read) == 1 else ())]
    return not any(_same_as_text(one, value) for one in candidates for value in values)


def _same_as_text(one: Any, value: Any) -> bool:
    """Return whether texts are the values: a number or a truth value as its text, and lists of those."""
    if same(one, value):
        return True
    if isinstance(one, list) and isinstance(value, list) and len(one) == len(value):
        return all(map(_same_as_text, one, value))
    if not isinstance(one, str) or isinstance(value, Mapping | list):
        return False
    return one.lower() in (str(value).lower(), compact(value, len(one) + 1).lower())


def _items(response: Response) -> Sequence[Any]:
    result = mapping(response.result)
    match response.kind:
        case RequestKind.TOOL:
            found = result.get("content", [])
            return found[:MAX_ITEMS] if isinstance(found, list) else [found]
        case RequestKind.READ:
            return [{"type": "contents", "resource": one} for one in list_in(result, "contents")[:MAX_ITEMS]]
        case RequestKind.PROMPT:
            listed = (mapping(one).get("content") for one in list_in(result, "messages")[:MAX_ITEMS])
            return [item for one in listed for item in (one if isinstance(one, list) else [one])]
        case RequestKind.LIST:
            return ()


def _plain_text(item: Any) -> str | None:
    """Return the text of an item that is plain text, otherwise None."""
    match item:
        case str():
            return item
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "contents", "resource": {"text": str(text)}}:
            return text
    return None


def _described(item: Any) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        return {"type": "unknown"}
    kind = text_in(item, "type") or "unknown"
    resource = object_in(item, "resource")
    held = resource or item
    found: dict[str, Any] = {"type": "resource" if kind == "contents" else kind}
    texts = {"mime": text_in(held, "mimeType"), "uri": text_in(held, "uri"), "name": text_in(item, "name")}
    found |= {name: text for name, text in texts.items() if text}
    if (data := _data(item)) is not None:
        plain = plain_base64(data)
        octets = data.encode("utf-8", "replace") if plain is None else base64.b64decode(plain)
        found |= {"size": decoded_size(data) if plain is None else len(octets)}
        found |= {"sha256": hashlib.sha256(octets).hexdigest()}
    elif resource and isinstance(resource.get("text"), str):
        found["text"] = resource["text"]
    elif isinstance(size := held.get("size"), int) and not isinstance(size, bool):
        found["size"] = size
    return found


def _data(item: Mapping[str, Any]) -> str | None:
    """Return the base64 data of an item, None if it has none."""
    resource = object_in(item, "resource")
    data = resource.get("blob") if resource else item.get("data")
    return data if isinstance(data, str) else None


def _times(took: float, limit: float) -> tuple[str, str]:
    """Return two times in one unit, with so many digits that they differ."""
    texts = duration(took), duration(limit)
    digits = 0
    while texts[0] == texts[1] or (texts[0][-2:] != texts[1][-2:] and digits == 0):
        texts = f"{took:.{digits}f} ms", f"{limit:.{digits}f} ms"
        digits += 1
    return texts


def _other_roles(response: Response) -> str:
    """Return which messages of a prompt are not the user's, "" if all are."""
    if response.kind is not RequestKind.PROMPT:
        return ""
    messages = map(mapping, list_in(mapping(response.result), "messages")[:MAX_ITEMS])
    roles = (text_in(one, "role") for one in messages)
    return ", ".join(dict.fromkeys(f"role {clean_line(one, 40)}" for one in roles if one != "user"))


def _kinds(items: Sequence[Mapping[str, Any]]) -> str:
    counts = dict[str, int]()
    for item in items:
        word = str(item["type"]).replace("_", " ")
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(plural(number, word) for word, number in counts.items())


# ---- the parts of an expectation ---------------------------------------------------------------------------


def _text(expected: Expectation, response: Response) -> Iterator[Mismatch]:
    if expected.text is not None and not fits_text(expected.text, got := response.text):
        yield Mismatch("text", expected.text, got)


def _result(expected: Expectation, response: Response) -> Iterator[Mismatch]:
    if expected.result is UNSET:
        return
    if (value := response.value) is ABSENT:
        why = "the response has no structured content, and its text is not JSON"
        yield Mismatch("result", expected.result, ABSENT, why)
        return
    yield from _differences("result", expected.result, value)
    structured = response.structured
    if expected.text is None and structured is not None and says_more(response, structured):
        yield Mismatch("text", ABSENT, response.text, MORE_TEXT)


def _content(expected: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]]) -> Iterator[Mismatch]:
    for number, (wanted, item) in enumerate(zip(expected, got, strict=False)):
        given = {name: item[name] for name in wanted if name in item}
        yield from _differences(f"content[{number}]", dict(wanted), given)
    for number, item in enumerate(got[len(expected) :], len(expected)):
        yield Mismatch(f"content[{number}]", ABSENT, item, "an item that is not expected")
    for number, wanted in enumerate(expected[len(got) :], len(got)):
        yield Mismatch(f"content[{number}]", wanted, ABSENT, "the item is missing")


def _findings(expected: Expectation, findings: Sequence[Finding]) -> Iterator[Mismatch]:
    for one in findings:
        if _fails(one) and one.code not in expected.findings:
            yield Mismatch("findings", ABSENT, one.code, one.sentence)


def _fails(finding: Finding) -> bool:
    return finding.severity > Severity.HINT


def _differences(head: str, expected: Any, got: Any) -> Iterator[Mismatch]:
    comparison = compare(expected, got, _RESULT)
    gone = {one.path: one for one in comparison.differences if one.kind is Change.REMOVED}
    added = {one.path for one in comparison.differences if one.kind is Change.ADDED}
    for one in comparison.differences:
        if one.kind is Change.ADDED and one.path in gone:
            yield _mismatch(head, _replaced(gone[one.path], one))
        elif one.kind is not Change.REMOVED or one.path not in added:
            yield _mismatch(head, one)
    if not comparison.complete and not comparison.differences:
        yield Mismatch(head, expected, got, "too large to compare completely")


def _replaced(gone: Difference, added: Difference) -> Difference:
    """Return the difference between an item of a list and another one in its place, which may be renamed."""
    within = compare(gone.before, added.after, _RESULT).differences
    if len(within) == 1:
        return replace(within[0], steps=(*added.steps, *within[0].steps))
    return Difference(added.steps, Change.CHANGED, gone.before, added.after)


def _mismatch(head: str, one: Difference) -> Mismatch:
    joint = "" if not one.path or one.path.startswith("[") else "."
    path = f"{head}{joint}{one.path}"
    match one.kind:
        case Change.ADDED:
            return Mismatch(path, ABSENT, one.after, "not expected")
        case Change.REMOVED:
            return Mismatch(path, one.before, ABSENT, "missing")
        case Change.MOVED:
            return Mismatch(path, one.before, one.after, "in another order")
        case Change.CHANGED:
            return Mismatch(path, one.before, one.after)
