"""All functions that read foreign text, each with the texts that are worst for it.

Foreign is what servers, models, endpoints, authorization servers, registries and files of others say. Each
text is one piece, repeated; `tests/unit/test_worst_texts.py` reads them. Add a function that reads such text
here, with the texts that its patterns, loops and copies like least: what begins over and over and never ends.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.texts import TOOLS
from tui.addons.packages.registry_entry import launch_options
from tui.addons.tests.reports.ci_log import inert
from tui.addons.tests.reports.junit import content
from tui.core.attachments import as_shown, fenced
from tui.core.comparison.placeholders import RUN_TO_RUN, fits, generalized_text, misspelled, parts_of
from tui.core.comparison.values import compare
from tui.core.comparison.varied import widened_text
from tui.core.context.tool_ranking import words as ranked_words
from tui.core.context.tool_results import cut_as_shown
from tui.core.conversation.sessions import title_of
from tui.core.forms.elicitation import schema_problem, secret_fields
from tui.core.hidden_text.injected_instructions import orders_in
from tui.core.hidden_text.readable import mixed_word, readable
from tui.core.hidden_text.scan import in_definition, scan
from tui.core.jsonrpc.classification import classify
from tui.core.jsonrpc.framing import EventCutter, Framer
from tui.core.jsonrpc.messages import find_ids, find_messages, read_line
from tui.core.jsonrpc.reader import read_damaged_listing
from tui.core.jsonrpc.skimmer import child_values, outline, root_value
from tui.core.permission.consent import question_of
from tui.core.permission.differences import suspicion
from tui.core.permission.launch import Launch
from tui.core.permission.risks import unpinned
from tui.core.permission.rule_values import plain_text
from tui.core.permission.wording import words_between
from tui.core.ports import TextPart
from tui.core.programs import is_command_line
from tui.core.search.readings import readings
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.named_values import SecretArguments, without_named_values
from tui.core.secrets.oauth_values import fields_of, masked_address, masked_fields, secrets_of
from tui.core.secrets.redact import Redactor
from tui.core.secrets.secret_shapes import is_searched, secret_lines
from tui.core.servers import ServerSpec, Transport
from tui.core.text import abridged, clean, clean_line, graphemes, head_of, preview, start_of, visible
from tui.core.traffic import Captured, Direction, Kind
from tui.core.web import header_value_fault, web_address
from tui.host.catalog import prompt_infos
from tui.host.passthrough.learned_secrets import LearnedSecrets
from tui.host.process.stderr import StderrTail, reason_line
from tui.host.transports.http_faults import MARKUP
from tui.model.dialects.argument_repair import UnreadableJson, answers_in, mend
from tui.model.dialects.call_maker import CallMaker, OfferedTools
from tui.model.dialects.text_tools import DIALECTS, ReplyReader
from tui.model.endpoints.failures import asked_wait, judged, message_in, refusals_in, reply_error, said_in
from tui.model.openai_api.think_tags import ThinkTags
from tui.settings.foreign.file import read_foreign, without_comments
from tui.settings.key_positions import json_places, toml_places
from tui.settings.references import expand, files_in, without_defaults
from tui.storage.exports.document import bounded_json
from tui.storage.exports.markdown import escaped, isolated
from tui.traffic.explain.crash import last_words
from tui.traffic.record.redaction import keep, scrub
from tui.ui.chat.transcript.markdown_stream import parts
from tui.ui.platform.editing import _split, _wrap_offsets
from tui.ui.widgets.markdown import Markdown
from tui.ui.widgets.rows import breaks, highlighted, wrap


class ForeignReader(NamedTuple):
    """A function that reads foreign text, and pieces whose repetition is worst for it."""

    name: str
    read: Callable[[str], object]
    pieces: tuple[str, ...]


def worst_text(piece: str, size: int) -> str:
    """Return a text of `size` characters that repeats a piece."""
    return (piece * (size // len(piece) + 1))[:size]


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of this thread that `work` takes."""
    began = time.thread_time()
    with contextlib.suppress(ValueError, RecursionError, UnreadableJson):
        work()
    return time.thread_time() - began


def readers() -> Iterator[ForeignReader]:
    """Yield all functions that read foreign text."""
    for name, read, *pieces in (*_texts(), *_secrets(), *_messages(), *_definitions(), *_models(), *_files()):
        yield ForeignReader(name, read, tuple(pieces))


def _redactor() -> Redactor:
    """Return a redactor that knows a password, a key of an endpoint and 100 cookies."""
    redactor = Redactor(
        {"PASSWORD": "correct horse battery", "ODD": "abababababab"}, {"KEY": f"sk-{'k3y' * 9}"}
    )
    for number in range(100):
        redactor.learn("far", "set-cookie", f"cookie-value-{number:05}")
    return redactor


REDACTOR = _redactor()
MARKDOWN = Markdown()


def _octets(read: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda text: read(text.encode("utf-8", "replace"))


def _in_blocks(text: str, size: int) -> Iterator[bytes]:
    raw = text.encode("utf-8", "replace")
    return (raw[at : at + size] for at in range(0, len(raw), size))


def _texts() -> Iterator[tuple[Any, ...]]:
    yield "clean", clean, "\u200d", "\u0301", "\x1b[", "\U000e0041"
    yield "start_of", lambda text: start_of(text, len(text) - 1), "\u200d", "\u0301", "\U0001f1e6"
    yield "graphemes", lambda text: list(graphemes(text)), "\u200d", "\u0301", "\U0001f1e6"
    yield "clean_line", clean_line, "\u200d", "\n"
    yield "visible", visible, "\U000e0041", "e\u0301", "\u200d"
    yield "preview", preview, "\u200d", "\n"
    yield "log of CI", inert, " ", "\u2028 ", "::", "##["
    yield "content of XML", content, "]]>", "&", "\ufffe"
    yield "scan", lambda text: list(scan(text, "")), "<!--", "<a ", "&lt;", "\u202e", "\x1b[0;", "a"
    yield "mixed_word", lambda text: mixed_word(f"\u0430 {text}"), "A", "aA\u0430", "\u0430A1"
    yield "orders_in", lambda text: list(orders_in(text)), "ignore previous ", "do not tell ", "<", "."
    yield "readable hidden text", readable, "\u200d", "\u200b", " \n"
    yield "breaks", lambda text: breaks(text, 80), "e\u0301", "a ", "\u4e2d", "\u200d"
    yield "wrap", lambda text: wrap([(text, "")], 80), "x", "a ", "\u4e2d"
    yield (
        "wrapped input",
        lambda text: _wrap_offsets(text, 80, 8),
        "\U0001f1e6",
        "\u0301",
        "\t\U0001f1e6\U0001f1e7",
    )
    yield "wrapped tabs", lambda text: _wrap_offsets(f"\t{text}", 80, 8), "\U0001f1e6", "\u200d", "a\u0301"
    yield "graphemes of Rich", _split, "\U0001f1e6", "\u0301", "\U0001f1e6\u200d"
    yield "head_of", lambda text: head_of(text, 80), "\u200d", "\u0301"
    yield "abridged", lambda text: abridged(text, 80), "\u200d", "\u0301"
    yield "highlighted", lambda text: highlighted(((text, "text"),), "s"), "s", "s ", "\u00df"
    yield "title_of", title_of, "![", "[", "```", ".", "\u2026"
    yield "as_shown", as_shown, ", [", "[a], "
    yield "fence", fenced, "`", "```\n"
    yield "cut_as_shown", cut_as_shown, "\u2026", "["
    yield "words to rank tools", ranked_words, "aB", "é", "a_"


def _secrets() -> Iterator[tuple[Any, ...]]:
    shapes = (
        *("-eyJ", "eyJabcdefgh.", "-sk-abcdefghijklmnop", "-----BEGIN ", "bearer%20", "ccess_key="),
        "Bearer ",
    )
    known = (
        *("correct horse battery", "correct hors", "ab", "cookie-value-00001", "%63", "\\u0063"),
        *("sk-***", "…"),
    )
    assigned = (
        *("a=", "password=", "xtoken=/", "token_file=", "token=[redacted:", "--token ", '"a":"'),
        "https://a:b@",
    )
    yield "redact", REDACTOR.redact, *shapes, *known
    yield "redact_spoken", REDACTOR.redact_spoken, *known
    yield "redact_cut", REDACTOR.redact_cut, "…", "correct hors…", *known
    yield (
        "redact_texts",
        lambda text: REDACTOR.redact_texts(text.split(" ")),
        "correct ",
        "correct horse ",
        "ab ",
    )
    yield "masked", masked, *assigned, *shapes
    yield "masked_arguments", lambda text: masked_arguments(["x", text]), *assigned, *shapes
    yield (
        "arguments after a flag",
        lambda text: masked_arguments(["--token", text, "-u", text]),
        *assigned,
        "a:b",
    )
    yield "without_named_values", without_named_values, '"password":{', '"password":"', '"', '{"a":', '"a\\'
    yield "secret_lines", lambda text: list(secret_lines(text)), "\\", "\\n", "a\n", "-----BEGIN \n"
    yield "is_searched", lambda text: is_searched("X", text), "a-", "A", "a.b@", "1", "# "
    yield "learning from a response", _learn, *assigned, "a=b; ", "code=", "%25"
    yield "a sign-in", _sign_in, "a=b&", "%", "code=x&", '{"a":'
    yield "masked address", lambda text: masked_address(f"https://h/?{text}"), "a=&", "%25"


def _learn(text: str) -> None:
    headers = [["Set-Cookie", text], ["Cookie", text], ["Location", text], ["X-Api-Key", text]]
    detail = {"url": f"https://h/?{text}", "status": 200, "headers": headers}
    LearnedSecrets([].append, Redactor())(Captured("far", Direction.IN, 1, 1, text.encode(), detail=detail))


def _sign_in(text: str) -> None:
    for kind in ("application/x-www-form-urlencoded", "application/json"):
        fields = fields_of(text.encode(), kind)
        masked_fields(fields, len(text))
        secrets_of(fields)


def _messages() -> Iterator[tuple[Any, ...]]:
    nested = ('{"a":', "[", '{"jsonrpc":', '"a\\', '"', "\\ud800", '}{"jsonrpc":"2.0"', '{"id":1,', " ")
    yield "classify", _octets(classify), *nested
    yield "read_line", _octets(lambda raw: read_line(raw, patient=True)), *nested
    yield "find_ids", _octets(find_ids), *nested
    yield "find_messages", _octets(find_messages), *nested
    yield "outline", lambda text: outline(f'{{"a":{text}'.encode()), *nested
    yield "child_values", lambda text: _children(f"[{text}".encode()), *nested, "1,"
    yield "read_damaged_listing", _octets(read_damaged_listing), '{"tools":[', '{"name":"a"},', *nested
    yield "Framer", lambda text: _fed(Framer(1 << 24), text), "\n", "a\n", "a"
    yield (
        "EventCutter",
        lambda text: _fed(EventCutter(1 << 24), text),
        *("\n", "data:\n", "data: a\r\n\r\n", "a"),
    )
    yield "readings", _octets(readings), '"a\\', "data: ", "\\u00e9", "{"
    calls = (
        *('"arguments":"', '"arguments":{', '"arguments":"\\"a\\":', '"content":"'),
        '"role":"assistant","content":"',
    )
    stream = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    yield "recording a model's reply", _kept(Kind.MODEL_REPLY, Direction.IN), *calls, stream
    yield "recording a model's request", _kept(Kind.MODEL_REQUEST, Direction.OUT), *calls, '"name":"a",'
    given = ('"params":{', '"_meta":{', '"argument":{', '"arguments":{', '"password":{', '"password":"a",')
    yield (
        "recording what is sent",
        _kept(None, Direction.OUT),
        *given,
        '"completion/complete""argument":{',
        *nested,
    )
    yield "recording what is received", _kept(None, Direction.IN), '"requestedSchema":{', *nested
    yield "scrub", _scrub, "a=", "xtoken=/", "-eyJ", "<a=", "https://a:b@"
    yield "isolated", isolated, "`", "![", "<a", "> ", "- ", "\\"
    yield "Markdown of a recording", escaped, "*", "\\", "["
    yield "text of an entry", bounded_json, "{", '"a\\', "\\u00e9"
    yield "StderrTail", _stderr, "\n", "a\n", "a", "\x1b["
    yield (
        "Markdown",
        lambda text: MARKDOWN.rows(text, 80),
        *("a\n", "> ", "- ", "![", "`", "**a", "|a", "[a](", "***"),
    )
    yield "parts of an answer", lambda text: list(parts(text)), "\n", "a\n", "```\n", "- a\n"
    yield (
        "prompt_infos",
        lambda text: prompt_infos("x", [{"name": text, "description": text}]),
        "<!--",
        "\u200d",
    )
    yield (
        "generalized_text",
        lambda text: generalized_text(text, RUN_TO_RUN),
        *("1", "a-", "2020-01-01T", "1.5", "0-0"),
    )
    yield "fits", lambda text: fits("<text>a<id> <time>", text), "a", "a ", "1", "2020-01-01T"
    yield (
        "parts_of",
        lambda text: list(parts_of(text)),
        "<re:",
        "<",
        "<id",
        "<re:[",
        "<re:a>",
        "<<id>",
        "<re:[[[[>",
    )
    yield "misspelled", misspelled, "<nubmer>", "<", "<abc:", "<re:"
    yield (
        "widened_text",
        lambda text: widened_text(f"{text} 1", text),
        "a",
        "1",
        "1.",
        "a-",
        "a b ",
        "1:",
        "=",
        "<",
    )
    yield "compare", lambda text: compare({"a": text}, {"a": f"{text}x"}), "a", "\n", "a "


def _stderr(text: str) -> object:
    tail = StderrTail()
    for block in _in_blocks(text, 4096):
        tail.feed(block)
    return tail.lines, tail.reason


def _children(raw: bytes) -> None:
    if root := root_value(raw):
        child_values(raw, root)


def _fed(cutter: Framer | EventCutter, text: str) -> None:
    for block in _in_blocks(text, 1000):
        list(cutter.feed(block))


def _kept(kind: Kind | None, way: Direction) -> Callable[[str], object]:
    return lambda text: keep(
        Captured("far", way, 1, 1, text.encode("utf-8", "replace"), kind),
        REDACTOR.redact_bytes,
        0,
        SecretArguments(),
    )


def _scrub(text: str) -> None:
    scrub(
        {"url": text, "headers": [["link", text], ["set-cookie", text], ["x", text]]}, REDACTOR.redact_bytes
    )


def _definitions() -> Iterator[tuple[Any, ...]]:
    yield (
        "in_definition",
        lambda text: in_definition({"name": "a", "description": text}),
        "<!--",
        "ignore ",
        "\u0430A1",
    )
    yield "suspicion", suspicion, "<!--", "\u200b"
    yield "words_between", lambda text: words_between(text, text[::-1]), "a ", "ab", " "
    yield "a form", _form, "(", "[", "(a*)*", "a|", "\\", "password "
    yield "plain_text", plain_text, "%25", "\u0301", "e\u0301", "/../", "//"
    yield "header_value_fault", header_value_fault, "${", "\n", "${a}"
    yield "markup of an error", lambda text: MARKUP.sub(" ", text[:4096]), "<script", "<", "<style></"
    yield "web_address", web_address, "a.", "@", ":", "xn--"
    yield (
        "last_words",
        lambda text: last_words(text.split("\n")),
        "Error\n at a:1:1\n",
        "Error: ",
        "Traceback (most recent call last\n",
        "\u256d\u2500 Traceback\n\u2502 a:1 in b\n",
        ":1 in ",
        "|",
    )
    yield "reason_line", lambda text: reason_line(text.split("\n")), "npm ERR! ", "error ", "a: ", "a\n", "a/"


def _form(text: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "title": text, "pattern": text}}}
    schema_problem(schema)
    secret_fields(schema)


def _models() -> Iterator[tuple[Any, ...]]:
    marks = (
        *("<use_mcp_tool>", '\n{"tool": ', "```\n{", "\nAction: now(", "<tool_call>{", '{"name": "'),
        *("call:now{a:", "```tool_code\nnow(", ">>>now\n{", '"a\\', "\n", "["),
    )
    for name in DIALECTS:
        yield f"dialect {name}", lambda text, name=name: _reply(name, text), *marks
    yield "native calls", lambda text: _reply("", text), "<|channel|>", *marks
    yield "ThinkTags", _thoughts, "<think", "<think>", "</think>", "<"
    yield "mend", mend, '"a\\', '{"a":"', "[", "'a\\", " ", "```"
    yield "answers_in", answers_in, "```", "{", "[]", '"_meta":{', "~~~\n"
    yield "message_in", message_in, "a", "<", "{"
    yield "said_in", said_in, "a.a", "a-", "www.a/", "{"
    yield (
        "refusals_in",
        lambda text: list(refusals_in(said_in(text))),
        *(
            *("tools ", "function ", "context length is 1 ", "not support ", "images ", "schema "),
            *("grammar ", "input 1", "model ", "loading ", "failed to ", "server is ", "content "),
        ),
    )
    yield "reply_error", lambda text: reply_error({"error": {"message": text}}), "context_window_exceed", "1m"
    yield "asked_wait", asked_wait, "try again in ", "wait ", "1 s and ", "retry after: ", '{"reset":', "9"
    yield "judged", judged, "context_window_exceed", "tokens ", "input token count", "context "


def _reply(name: str, text: str) -> None:
    found = DIALECTS.get(name)
    reading = ReplyReader(CallMaker(OfferedTools(TOOLS), found.written if found else None), found)
    for at in range(0, len(text), 50):
        reading.part(TextPart(text[at : at + 50]))
    reading.end(cut=False)


def _thoughts(text: str) -> None:
    tags = ThinkTags()
    for at in range(0, len(text), 50):
        list(tags.feed(text[at : at + 50]))


def _files() -> Iterator[tuple[Any, ...]]:
    values = ("${AA:-", "${", "a=", "xtoken=/", "\\", "$A", "[", "{a}", "@v1.1.1", "a.b@", "a\n")
    values += ("${file:", "{env:", "${{ a", "$(", "a b ", "${file:}")
    yield "read_foreign", _import, *values
    yield "files_in", files_in, *values
    yield "is_command_line", is_command_line, *values
    yield (
        "read_foreign, the file itself",
        lambda text: read_foreign(text, Path("mcp.json")),
        *("{", "/*", "//", '"a\\', "["),
    )
    yield "without_comments", without_comments, "/*", "//", '"a\\', "/", "\\"
    yield "expand", lambda text: expand(text, {"AA": "x"}), *values
    yield "without_defaults", without_defaults, *values
    yield "question_of", _ask, *values
    yield "unpinned", _versions, "@v1.1.1", "1.1.1", "@", "==", f"@{'a' * 40}#", "/", ":"
    yield "launch_options", _registry, *values
    yield "json_places", json_places, "{", '{"a":', "[", '"a\\', ","
    yield "toml_places", toml_places, "[a]\n", "a=1\n", "[", '"""', "a."


def _import(text: str) -> None:
    entries = {
        "x": {"command": "a", "args": [text], "env": {"A": text}},
        "y": {"url": text, "headers": {"A": text}},
    }
    read_foreign(json.dumps({"mcpServers": entries}), Path("mcp.json"))


def _ask(text: str) -> None:
    local = ServerSpec("x", "npx", args=(text,), env={"TOKEN": text}, source="the file mcp.json")
    far = ServerSpec(
        "y", transport=Transport.HTTP, url=f"https://h.example/{text}", source="the file mcp.json"
    )
    for spec in (local, far):
        question_of(spec.name, spec.source, Launch.of(spec, lambda word: "/usr/bin/npx"))


def _versions(text: str) -> None:
    for words in (["npx"], ["go", "run"], ["uvx"], ["docker", "run"], ["deno", "run"], ["pip", "install"]):
        unpinned([*words, text])
        unpinned([*words, f"https://h/x{text}\n"])
        unpinned([*words, f"x@v1.1.1{text}\0"])


def _registry(text: str) -> None:
    named = [{"name": text, "value": text}]
    package = {"registryType": "npm", "identifier": text, "version": text, "environmentVariables": named}
    launch_options({"packages": [package], "remotes": [{"type": "sse", "url": text, "headers": named}]})
