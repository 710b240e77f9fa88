"""The keys of a `*.mcp.toml` file: what each takes and means. For the reader, JSON Schema and manual."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.addons.tests.suite.case import LISTS, RequestKind
from tui.core.servers import EraChoice, Transport


class Kind(StrEnum):
    """What a key takes, in the words of the manual and of errors."""

    TEXT = "string"
    TEXTS = "list of strings"
    ONE_OR_MORE = "string or list of strings"
    TRUTH = "true or false"
    WHOLE = "integer"
    NUMBER = "number"
    DURATION = 'duration, such as "800ms"'
    SIZE = "integer or placeholder"
    ARGUMENTS = "table, or JSON in a string"
    TEXT_TABLE = "table of strings"
    ANSWERS = "table of answers"
    CONTENT = "list of tables"
    CASES = "list of calls"
    RESULT = "JSON in a string, table or list"
    FORMS = 'table, "decline", "cancel", or a list of those'
    REPLIES = "string or false, or a list of those"
    SERVER = "name of a configured server, or a table"
    TABLE = "single table"
    TABLES = "array of tables"


@dataclass(frozen=True, slots=True)
class Key:
    """What a key takes.

    Attributes:
        choices: the only texts that it takes, or of which it takes some; () for any.
        least, most: bounds of a number.
        example: what to write, as TOML, for errors and the manual.
        section: the section of its table or tables, or "".
        may_be_empty: whether a text may be empty.
    """

    kind: Kind
    description: str
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    required: bool = False
    example: str = ""
    section: str = ""
    may_be_empty: bool = False


VERDICTS = ("breaking", "routing", "compatible", "cosmetic", "suspicious")
CONTENT_TYPES = ("image", "audio", "resource_link", "resource")
URL_ANSWERS = ("accept", "decline", "cancel")
FORM_ANSWERS = ("decline", "cancel")
REQUESTS = tuple(RequestKind)
MAX_RUNS = 100
INVALID_BASE64 = "invalid-base64"
"""The code of a finding that the linter of the traffic does not have."""

_SERVER = {
    "command": Key(
        Kind.TEXTS,
        "Program and arguments. Starts in the folder of the file, unless `cwd` is set. No shell is involved.",
        example='command = ["python", "server.py"]',
    ),
    "url": Key(
        Kind.TEXT,
        "URL of a remote server, instead of `command`. May contain `${NAME}` of the environment.",
        example='url = "http://127.0.0.1:8000/mcp"',
    ),
    "env": Key(
        Kind.TEXT_TABLE,
        "Variables for `command`. Values may contain `${NAME}` of the environment.",
        example='env = { API_KEY = "${API_KEY}" }',
    ),
    "headers": Key(
        Kind.TEXT_TABLE,
        "HTTP headers for `url`. Values may contain `${NAME}` of the environment.",
        example='headers = { Authorization = "Bearer ${TOKEN}" }',
    ),
    "cwd": Key(
        Kind.TEXT, "Working directory of `command`, relative to the folder of the file.", example='cwd = ".."'
    ),
    "transport": Key(
        Kind.TEXT,
        "Transport, if it is not that of most servers: `stdio` for `command`, `http` for `url`.",
        choices=tuple(Transport),
        example='transport = "sse"',
    ),
    "timeout": Key(
        Kind.DURATION,
        "Time after which a request is cancelled and its case is an error, unless the case has a "
        "`timeout`. If not set, `tool_seconds` of your configuration (60 s). It also limits the start, to no "
        "less than 20 s (180 s for launchers such as npx).",
        example='timeout = "30s"',
    ),
    "era": Key(
        Kind.TEXT,
        "Protocol era: `legacy` (up to 2025-11-25), `modern` (2026-07-28), or `auto`, which tries both.",
        choices=tuple(EraChoice),
        example='era = "modern"',
    ),
}

_REQUEST = {
    "tool": Key(Kind.TEXT, "Tool to call.", example='tool = "get_weather"'),
    "read": Key(Kind.TEXT, "URI of a resource to read.", example='read = "notes://today"'),
    "prompt": Key(Kind.TEXT, "Prompt to get.", example='prompt = "summary"'),
    "list": Key(Kind.TEXT, "What to list: all its pages.", choices=tuple(LISTS), example='list = "tools"'),
    "args": Key(
        Kind.ARGUMENTS,
        "Arguments of the tool or the prompt. JSON in a string may have null.",
        example='args = { location = "Hangzhou" }',
    ),
    "text": Key(
        Kind.TEXT,
        "Expected text: all texts of the result, joined by line breaks. For errors, the message.",
        example='text = "Weather in Hangzhou: light rain, <number> °C."',
        may_be_empty=True,
    ),
    "result": Key(
        Kind.RESULT,
        "Expected structured content, or else the JSON in the text of the result. "
        "Objects may have more members, lists may not have more items. "
        "For prompts and lists, the whole result.",
        example='result = \'{ "id": "<id>" }\'',
    ),
    "content": Key(
        Kind.CONTENT,
        "Expected items of the result that are not text. They are not compared if it is not set.",
        example='content = [{ type = "image", mime = "image/png" }]',
        section="content",
    ),
    "error": Key(
        Kind.TRUTH, "Whether the call must fail. `text` is then its message.", example="error = true"
    ),
    "within": Key(
        Kind.DURATION,
        "Time limit in ms, s or m. A slower response is reported, and fails with `--strict-time`.",
        example='within = "800ms"',
    ),
    "timeout": Key(
        Kind.DURATION,
        "Time after which the request is cancelled and the case is an error. If not set, that of `[server]`.",
        example='timeout = "5s"',
    ),
    "findings": Key(
        Kind.TEXTS,
        "Codes of lint findings to accept. Any other finding about the response fails the case.",
        example='findings = ["structured-content"]',
    ),
    "lose": Key(
        Kind.TEXT,
        "What to lose before the call is sent again: its `answer`, or the `connection`.",
        choices=("answer", "connection"),
        example='lose = "answer"',
    ),
    "save": Key(
        Kind.TEXT_TABLE,
        "Values of the result to use in later cases as `${NAME}`, each with its JSON path.",
        example='save = { id = "$.id" }',
    ),
    "answers": Key(
        Kind.ANSWERS,
        "Answers to what the server requests meanwhile.",
        example='answers = { form = { name = "Ada" } }',
        section="answers",
    ),
}

_SELECTION = {
    "tags": Key(Kind.ONE_OR_MORE, "Words to select cases with `--tag`.", example='tags = ["slow"]'),
    "skip": Key(Kind.TEXT, "Why the case is not run.", example='skip = "needs a database"'),
}

_CALL = {
    "name": Key(
        Kind.TEXT,
        "Name of the case, unique in the file. If not set, it is made of the request.",
        example='name = "weather in Hangzhou"',
    ),
    **_REQUEST,
    "then": Key(
        Kind.CASES,
        "Calls that follow directly. If one fails, the case fails.",
        example='then = [{ tool = "count_orders", result = \'{ "count": 1 }\' }]',
        section="then",
    ),
    "fresh": Key(Kind.TRUTH, "Whether to run the case in a process of its own.", example="fresh = true"),
    **_SELECTION,
}

_CONTENT = {
    "type": Key(
        Kind.TEXT,
        "Type of the item: `image`, `audio`, `resource_link` or `resource`.",
        required=True,
        example='type = "image"',
    ),
    "mime": Key(Kind.TEXT, "MIME type.", example='mime = "image/png"'),
    "size": Key(Kind.SIZE, "Size of the data in bytes.", least=0, example="size = 1204"),
    "sha256": Key(Kind.TEXT, "SHA-256 of the data, in hexadecimal digits."),
    "uri": Key(Kind.TEXT, "URI of a link or of an embedded resource.", example='uri = "notes://today"'),
    "name": Key(Kind.TEXT, "Name of a link.", example='name = "today"'),
    "text": Key(Kind.TEXT, "Text of an embedded resource.", example='text = "Buy milk"', may_be_empty=True),
}

_ANSWERS = {
    "form": Key(
        Kind.FORMS,
        "Values for the forms of the server, by the name of the field. "
        "One answer is for every form, a list has one for each in order.",
        choices=FORM_ANSWERS,
        example='form = { name = "Ada" }',
    ),
    "url": Key(
        Kind.ONE_OR_MORE,
        "Answers to requests to open a URL. Nothing is opened.",
        choices=URL_ANSWERS,
        example='url = "accept"',
    ),
    "sampling": Key(
        Kind.REPLIES,
        "Replies to sampling requests, as if a model wrote them. `false` declines. "
        "One reply is for every request, a list has one for each in order.",
        example='sampling = "A sunny day."',
    ),
    "roots": Key(
        Kind.TEXTS,
        "Directories to list as roots, relative to the folder of the file.",
        example='roots = ["data"]',
    ),
}

_TURN = {
    "question": Key(
        Kind.TEXT, "Question to the model.", required=True, example='question = "Is it raining?"'
    ),
    "name": Key(Kind.TEXT, "Name of the case. If not set, it is the question.", example='name = "rain"'),
    "calls": Key(
        Kind.ONE_OR_MORE,
        "Calls that are expected, in order. Others may come between. "
        "Each is a tool, with `NAME=VALUE` or `NAME~PART` for arguments.",
        example='calls = ["get_weather location~Hangzhou"]',
    ),
    "never": Key(
        Kind.ONE_OR_MORE, "Tools that must not be called, with `*` and `?`.", example='never = ["delete_*"]'
    ),
    "answer": Key(
        Kind.ONE_OR_MORE,
        "Texts that the answer must contain. They may have placeholders.",
        example='answer = "rain"',
    ),
    "max_steps": Key(
        Kind.WHOLE, "Maximum requests to the model.", least=1, most=1000, example="max_steps = 4"
    ),
    "cost": Key(
        Kind.NUMBER,
        "Maximum cost of a run, in the currency of the model profile.",
        least=0,
        example="cost = 0.02",
    ),
    "runs": Key(Kind.WHOLE, "How often to ask.", least=1, most=MAX_RUNS, example="runs = 5"),
    "pass": Key(
        Kind.NUMBER, "Share of the runs that must pass, from 0 to 1.", least=0, most=1, example="pass = 0.8"
    ),
    "models": Key(
        Kind.ONE_OR_MORE,
        "Model profiles to ask. If not set, the default model.",
        example='models = ["local", "large"]',
    ),
    **_SELECTION,
}

_CONTRACT = {
    "lock": Key(
        Kind.TEXT,
        "File with the definitions of the server, in the folder of the file or below.",
        required=True,
        example='lock = "weather.lock.json"',
    ),
    "fail": Key(
        Kind.TEXTS,
        "Verdicts that fail.",
        choices=VERDICTS,
        example='fail = ["breaking", "suspicious"]',
    ),
    "tokens": Key(
        Kind.WHOLE, "Maximum tokens of all definitions together.", least=1, example="tokens = 4000"
    ),
    "strength": Key(
        Kind.TEXT,
        "`full` also compares descriptions, `shape` only names, types and capabilities.",
        choices=("full", "shape"),
        example='strength = "full"',
    ),
}

_FILE = {
    "server": Key(
        Kind.SERVER,
        "Server to test: the name of a configured one, or its command or URL. Can be left out if the command "
        "line names it.",
        example='[server]\ncommand = ["python", "server.py"]',
        section="server",
    ),
    "call": Key(
        Kind.TABLES, "A case: a request with the expected result.", example="[[call]]", section="call"
    ),
    "turn": Key(
        Kind.TABLES,
        "A turn case: a question, with the calls that are expected of a model.",
        example="[[turn]]",
        section="turn",
    ),
    "contract": Key(
        Kind.TABLE,
        "Compares the definitions of the server with a lock file.",
        example="[contract]",
        section="contract",
    ),
}

SECTIONS: Mapping[str, Mapping[str, Key]] = {
    "": _FILE,
    "server": _SERVER,
    "call": _CALL,
    "then": {name: _CALL[name] for name in ("name", *_REQUEST)},
    "content": _CONTENT,
    "answers": _ANSWERS,
    "turn": _TURN,
    "contract": _CONTRACT,
}
"""The keys of each kind of table; "" is the file."""

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "server": {"era": "auto"},
    "call": {"error": False, "fresh": False},
    "turn": {"runs": 1, "pass": 1.0},
    "contract": {"fail": ["breaking", "suspicious"], "strength": "full"},
}

SYNONYMS: Mapping[str, str] = {
    "arguments": "args",
    "params": "args",
    "input": "args",
    "call": "tool",
    "resource": "read",
    "uri": "read",
    "expect": "text",
    "expected": "text",
    "output": "text",
    "contains": "text",
    "structured": "result",
    "structuredContent": "result",
    "json": "result",
    "is_error": "error",
    "isError": "error",
    "max_latency": "within",
    "max_time": "timeout",
    "latency": "within",
    "capture": "save",
    "captures": "save",
    "verify": "then",
    "fault": "lose",
    "elicitation": "form",
    "description": "name",
    "title": "name",
    "args": "command",
    "working_dir": "cwd",
    "environment": "env",
    "mimeType": "mime",
    "cases": "call",
    "case": "call",
    "test": "call",
    "tests": "call",
    "mcpServers": "server",
    "prompt": "question",
    "forbidden": "never",
    "tools": "calls",
}
"""Names that other tools use, for "did you mean"."""
