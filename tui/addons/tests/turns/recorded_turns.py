"""The turns in a recording: what each model was asked, and what it replied. Pure.

A recorded turn answers a new one with the same question. Each request must have the same calls before it.
What servers answered does not matter, because it may vary from run to run.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.reader import json_value
from tui.core.ports import ToolSpec
from tui.core.schemas.tool_names import accepted_name
from tui.core.text import list_in, mapping, object_in, text_in
from tui.core.traffic import Entry, Kind
from tui.core.units import and_more

MOST_EXCHANGES = 10_000
"""Maximum exchanges with models that are read from a recording."""

MOST_BYTES = 256 * 1024 * 1024
"""Maximum bytes of requests and replies that are read."""

MOST_NAMED = 3
PREFIX = "model:"
"""Of the source of a model's traffic; the name of its profile follows."""

ToolName = tuple[str, str]
"""The qualified name of a tool after "", or the name of its server and its own."""

_LISTED = re.compile(
    r"^- (?P<name>[\w.-]+)(?: \(server (?P<server>[\w.-]+)\))?: (?P<description>.*)\n  (?P<schema>\{.*)$",
    re.M,
)
"""A tool in the system text of a dialect."""

Said = tuple[str, tuple[tuple[str, str], ...]]
"""What a model said in one message: its text, and its calls as names and canonical arguments."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of a request that a recorded one is found by.

    Attributes:
        question: the last message of the user before anything the model said in this turn.
        said: what the model has said since.
        tools: what it reads of each tool, by name.
        is_native: whether it was sent tools in the format of the endpoint, and not in its system text.
    """

    model: str
    question: str
    said: tuple[Said, ...]
    tools: Mapping[ToolName, str]
    history: int = 0
    is_native: bool = False

    @classmethod
    def of(cls, body: Any, history: int | None = None) -> "Prompt":
        """Return the prompt of a request body in OpenAI's format.

        `history` is the number of messages before the question; None to take the last one of the user. In
        later requests of a turn, messages of the user may follow the question: results as text, and
        mcptui's own.
        """
        body = mapping(body)
        messages = [one for one in list_in(body, "messages") if isinstance(one, Mapping)]
        asked = [at for at, one in enumerate(messages) if one.get("role") == "user"]
        at = (asked[-1] if asked else 0) if history is None else history
        later = messages[at + 1 :]
        native = list_in(body, "tools")
        system = next((_text(one.get("content")) for one in messages if one.get("role") == "system"), "")
        return cls(
            text_in(body, "model"),
            _text(messages[at].get("content")) if at < len(messages) else "",
            tuple(_said(one) for one in later if one.get("role") == "assistant"),
            dict(_tools(native) if native else _tools_in_text(system)),
            at,
            bool(native),
        )

    def changed_tools(self, now: "Prompt") -> list[str]:
        """Return the names of the tools that are new, gone, or described differently in another prompt."""
        names = dict.fromkeys((*self.tools, *now.tools))
        return [name for _, name in (one for one in names if self.tools.get(one) != now.tools.get(one))]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its complete reply. `url` is where it was sent, `seq` the entry of the reply."""

    prompt: Prompt
    reply: bytes
    content_type: str = ""
    url: str = ""
    seq: int = 0


@dataclass(slots=True)
class RecordedTurn:
    """The exchanges of one turn with one model, in order."""

    model: str
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def question(self) -> str:
        return self.exchanges[0].prompt.question

    def find(self, prompt: Prompt, after: int) -> int | None:
        """Return the place of the exchange with the same calls before it, at or behind a place."""
        places = range(after, len(self.exchanges))
        return next((at for at in places if self.exchanges[at].prompt.said == prompt.said), None)


class RecordedTurns:
    """All turns of a recording. `problem` says in a sentence why some cannot be played, or is ""."""

    def __init__(self, turns: Sequence[RecordedTurn], problem: str = "") -> None:
        self._turns = turns
        self.problem = problem

    @property
    def models(self) -> list[str]:
        """The names of the profiles that replied."""
        return list(dict.fromkeys(turn.model for turn in self._turns))

    def of(self, model: str, question: str) -> list[RecordedTurn]:
        """Return the turns of a model that began with this question, in order."""
        wanted = _folded(question)
        return [one for one in self._turns if one.model == model and _folded(one.question) == wanted]

    def native(self, model: str) -> bool:
        """Return whether a model was sent tools in the format of the endpoint."""
        return any(
            one.prompt.is_native for turn in self._turns if turn.model == model for one in turn.exchanges
        )

    def why_none(self, model: str) -> str:
        """Return why there is no turn of a model, "" for any, with the question that was looked for."""
        if not self._turns:
            return self.problem or "the recording has no replies of models"
        if model and model not in self.models:
            return f"the recording has no replies of {model}. It has replies of {and_more(self.models, 5)}"
        return f"the recording has no reply{f' of {model}' if model else ''} to this question"


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """An entry of a model's traffic with its body; `is_whole` unless only a part of it was recorded."""

    entry: Entry
    body: bytes
    is_whole: bool = True


def recorded_turns(messages: Iterable[RecordedMessage]) -> RecordedTurns:
    """Return the turns in the traffic of models, in the order of their first request.

    Refused and broken requests are left out: the model was asked again, or the turn ended. Without turn
    numbers, a question without replies begins a turn.
    """
    asked: dict[int, RecordedMessage] = {}
    turns: list[RecordedTurn] = []
    latest: dict[tuple[str, int], RecordedTurn] = {}
    problem, count, octets = "", 0, 0
    for message in messages:
        entry = message.entry
        octets += len(message.body)
        if entry.kind is Kind.MODEL_REQUEST:
            asked[entry.seq] = message
            continue
        request = asked.pop(entry.pair, None)
        if request is None or not _is_good(entry):
            continue
        if not (request.is_whole and message.is_whole) or entry.detail.get("withheld"):
            problem = "some replies of models were not recorded completely"
            continue
        if count >= MOST_EXCHANGES or octets > MOST_BYTES:
            problem = f"only the first {count:,} replies of models are used"
            break
        count += 1
        body = json_value(request.body.decode("utf-8", "replace"))
        model, cause = entry.source.removeprefix(PREFIX), request.entry.cause
        number = cause.turn if cause is not None else 0
        turn = latest.get((model, number))
        prompt = Prompt.of(body, turn.exchanges[0].prompt.history if turn is not None else None)
        if turn is None or not (number or prompt.said):
            prompt = Prompt.of(body)
            turn = latest[model, number] = RecordedTurn(model)
            turns.append(turn)
        kind = text_in(object_in(entry.detail, "headers"), "content-type")
        url = text_in(request.entry.detail, "url")
        turn.exchanges.append(Exchange(prompt, message.body, kind, url, entry.seq))
    return RecordedTurns(turns, problem)


def _is_good(reply: Entry) -> bool:
    return reply.detail.get("status") == 200 and not reply.detail.get("broken")


def _said(message: Mapping[str, Any]) -> Said:
    calls = (object_in(one, "function") for one in list_in(message, "tool_calls") if isinstance(one, Mapping))
    made = tuple((text_in(one, "name"), _canonical(text_in(one, "arguments"))) for one in calls)
    return _text(message.get("content")), made


def _canonical(arguments: str) -> str:
    value = json_value(arguments, arguments)
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _text(content: Any) -> str:
    """Return the text of a message; its parts may carry marks, and attachments are left out."""
    parts = content if isinstance(content, list) else [content]
    texts = (part if isinstance(part, str) else text_in(mapping(part), "text") for part in parts)
    return "\n".join(text.strip() for text in texts if text.strip())


def _folded(text: str) -> str:
    return " ".join(text.split())


def _tools(tools: Sequence[Any]) -> Iterator[tuple[ToolName, str]]:
    for one in tools:
        function = object_in(mapping(one), "function")
        yield ("", text_in(function, "name")), _read(function, function.get("parameters"))


def _tools_in_text(system: str) -> Iterator[tuple[ToolName, str]]:
    """Yield the tools that a system text lists, as those of dialects do."""
    for one in _LISTED.finditer(system):
        yield (one["server"] or "", one["name"]), _read(one.groupdict(), json_value(one["schema"]))


def _read(tool: Mapping[str, Any], schema: Any) -> str:
    """Return what a model reads of a tool."""
    properties = sorted(object_in(mapping(schema), "properties"))
    return json.dumps([text_in(tool, "description"), properties], ensure_ascii=False)


def recorded_names(recorded: Collection[ToolName], now: Sequence[ToolSpec]) -> Mapping[str, ToolName]:
    """Return what tools are called in a recording, by their names of now, if their server has another one.

    The name of a server is that of its test file, which may have been renamed or copied.
    """
    same = {tool.name: {("", tool.name), (tool.server, tool.tool)} for tool in now}
    gone = set(recorded).difference(*same.values())
    tools = [tool for tool in now if not same[tool.name] & set(recorded)]
    fitting = {tool.name: [one for one in gone if _is_called(tool, one)] for tool in tools}
    count = Counter(one for found in fitting.values() for one in found)
    return {name: found[0] for name, found in fitting.items() if len(found) == 1 == count[found[0]]}


def _is_called(tool: ToolSpec, name: ToolName) -> bool:
    """Return whether a recorded name may be that of a tool; one that models do not accept has a hash."""
    server, written = name
    if server:
        return written == tool.tool
    own = re.escape(accepted_name(tool.tool).strip("_"))
    return re.fullmatch(rf".*__{own}(?:_[0-9a-f]{{8}})?", written) is not None


def changed_words(names: Sequence[str]) -> str:
    """Return the note that tools have changed since the recording, or ""."""
    if not names:
        return ""
    return (
        f"{and_more(names, MOST_NAMED)} changed since the recording, so the model may reply differently "
        "now. Record again with --record"
    )
