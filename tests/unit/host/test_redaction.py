"""Only configured secrets are replaced in responses, in every part and encoding."""

from base64 import b64decode, b64encode, encodebytes
from urllib.parse import quote

import pytest

from tui.core.secrets.redact import Redactor
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, Tool, ToolResult
from tui.core.workbench import PromptMessage, PromptResult, RawAnswer
from tui.host.redaction import LARGE, ResultRedactor

SECRET = 'canary "7f3a9c" sécret/+x'
MARK = "[redacted:KEY]"


@pytest.fixture
def redaction() -> ResultRedactor:
    return ResultRedactor(Redactor({"KEY": SECRET, "ASCII": SECRET[:14]}))


async def test_each_part_of_a_result_is_redacted(redaction):
    raw = {"content": [{"type": "text", "text": SECRET}], "structuredContent": {SECRET: [SECRET]}}
    result = ToolResult(
        (
            TextContent(f"the key is {SECRET}."),
            LinkContent(f"x:{SECRET}", SECRET, SECRET),
            ResourceContent(f"x:{SECRET}", "text/plain", SECRET),
        ),
        structured={SECRET: [SECRET]},
        warning=f"does not match: {SECRET}",
        raw=raw,
    )
    found = await redaction.result(result)
    assert found.content == (
        TextContent(f"the key is {MARK}."),
        LinkContent(f"x:{MARK}", MARK, MARK),
        ResourceContent(f"x:{MARK}", "text/plain", MARK),
    )
    assert found.structured == {MARK: [MARK]}
    assert found.warning == f"does not match: {MARK}"
    assert found.raw == {"content": [{"type": "text", "text": MARK}], "structuredContent": {MARK: [MARK]}}


@pytest.mark.parametrize(
    "texts",
    [
        [f"a {SECRET[:9]}", f"{SECRET[9:]} b", f"c {SECRET[:8]}"],
        [f"a {SECRET[:9]}\u200b", f"\u00ad{SECRET[9:]} b", f"c {SECRET[:8]}\u200b"],
    ],
    ids=["plain", "with invisible characters between"],
)
async def test_a_secret_across_two_items_of_a_result_is_redacted(redaction, texts):
    raw = {"content": [{"type": "text", "text": text} for text in texts]}
    found = await redaction.result(ToolResult(tuple(map(TextContent, texts)), raw=raw))
    clear = ["a [redacted]", " b", "c [redacted]"]
    assert [one.text for one in found.content] == clear
    assert [one["text"] for one in found.raw["content"]] == clear


HIDDEN = [f"{SECRET[:9]}{hidden}{SECRET[9:]}" for hidden in ("\u200b", "\u00ad\u2060", "\U0001bca0")]


@pytest.mark.parametrize("text", HIDDEN)
async def test_a_secret_with_invisible_characters_in_it_is_redacted(redaction, text):
    raw = {"content": [{"type": "text", "text": text}], "structuredContent": {"a": text}}
    others = (TextContent("שלום"), ResourceContent("x:1", "text/plain", text), LinkContent("x:2", text, ""))
    found = await redaction.result(
        ToolResult((TextContent(f"a {text} b"), *others), structured={"a": text}, raw=raw)
    )
    assert found.content == (
        TextContent(f"a {MARK} b"),
        others[0],
        ResourceContent("x:1", "text/plain", MARK),
        LinkContent("x:2", MARK, ""),
    )
    assert found.structured == {"a": MARK} and found.raw["content"] == [{"type": "text", "text": MARK}]
    (tool,) = redaction.tools(
        [Tool("s", "t", description=text, schema={"properties": {"a": {"description": text}}})]
    )
    assert tool.description == MARK and tool.schema["properties"]["a"] == {"description": MARK}


@pytest.mark.parametrize(
    "octets",
    [
        *(text.encode() for text in HIDDEN),
        SECRET.encode("utf-16"),
        SECRET[:14].encode(),
        f"{SECRET[:9]}\xad{SECRET[9:]}".encode("cp1252"),
    ],
)
async def test_a_secret_in_a_file_is_redacted_in_every_text_encoding(redaction, octets):
    content = BinaryContent("blob", "text/plain", len(octets), " ".join(b64encode(octets).decode()))
    (found,) = (await redaction.result(ToolResult((content,), raw={}))).content
    assert b64decode(found.data).decode() in (MARK, "[redacted:ASCII]")


async def test_binary_content_without_secrets_is_returned_as_the_same_object(redaction):
    png = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256))).decode()
    texts = [png, b64encode("grün\u200b".encode()).decode(), "no base64", f"{png[:60]}\n{png[60:]}"]
    result = ToolResult(tuple(BinaryContent("blob", "", 1, text) for text in texts), raw={})
    assert await redaction.result(result) is result


@pytest.mark.parametrize(
    "text",
    [
        quote(SECRET, safe=""),
        b64encode(SECRET.encode()).decode(),
        "Basic " + b64encode(f"ada:{SECRET}".encode()).decode(),
        '"canary \\"7f3a9c\\" s\\u00e9cret/+x"',
        '"{\\"a\\": \\"canary \\\\\\"7f3a9c\\\\\\" sécret\\/+x\\"}"',
    ],
    ids=["url", "base64", "basic", "json", "json in json"],
)
async def test_encoded_secrets_are_redacted(redaction, text):
    found = await redaction.result(ToolResult((TextContent(text),), raw={}))
    (content,) = found.content
    assert isinstance(content, TextContent)
    assert "[redacted:KEY]" in content.text
    assert "7f3a9c" not in content.text and "N2YzYTlj" not in content.text


@pytest.mark.parametrize("start, write", [("", b64encode), ("", encodebytes), ("data:;base64,", b64encode)])
async def test_binary_content_with_a_secret_remains_valid_base64(redaction, start, write):
    data = start + write(f"{'x' * 45} {SECRET} in it".encode()).decode()
    clear = f"{'x' * 45} {MARK} in it".encode()
    content = BinaryContent("blob", "text/plain", 73, data)
    found = await redaction.result(ToolResult((content,), raw={"data": data}))
    shown = start + b64encode(clear).decode()
    assert found.content == (BinaryContent("blob", "text/plain", len(clear), shown),)
    assert found.raw == {"data": shown}


async def test_a_sentence_that_quotes_a_server_contains_no_partial_secret_where_it_was_truncated(redaction):
    text = f"The server answered: {SECRET[:12]}… Try again."
    found = await redaction.result(ToolResult((TextContent(text),), is_error=True))
    assert found.content == (TextContent("The server answered: … Try again."),)
    answer = await redaction.answer(RawAnswer(problem=text))
    assert answer.problem == "The server answered: … Try again."


async def test_a_result_without_secrets_is_returned_unchanged(redaction):
    texts = "key-xxxxxxxx, sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa", "an invisible\u200bcharacter"
    result = ToolResult(tuple(map(TextContent, texts)), raw={"a": [1, "b"]})
    assert await redaction.result(result) is result


async def test_without_configured_secrets_the_result_is_returned_unchanged():
    result = ToolResult((TextContent(SECRET),), raw={"a": SECRET})
    assert await ResultRedactor(Redactor()).result(result) is result


async def test_a_large_result_is_redacted_too(redaction):
    result = ToolResult((TextContent("x" * LARGE + SECRET),))
    (content,) = (await redaction.result(result)).content
    assert isinstance(content, TextContent) and content.text == "x" * LARGE + MARK


async def test_prompts_and_raw_responses_are_redacted(redaction):
    prompt = PromptResult(SECRET, (PromptMessage("user", TextContent(SECRET)),), SECRET, raw={"a": SECRET})
    found = await redaction.answer(prompt)
    assert found == PromptResult(MARK, (PromptMessage("user", TextContent(MARK)),), MARK)
    assert found.raw == {"a": MARK}
    answer = await redaction.answer(RawAnswer({"a": [SECRET]}, {"message": SECRET}, SECRET))
    assert answer == RawAnswer({"a": [MARK]}, {"message": MARK}, MARK)


def test_progress_messages_are_redacted(redaction):
    told = []
    redaction.progress(lambda *what: told.append(what))(1, 2, f"with {SECRET}")
    assert told == [(1, 2, f"with {MARK}")]


def test_among_many_tools_only_those_with_a_secret_are_copied(redaction):
    tools = [Tool("s", f"t{number}", description="words") for number in range(9)]
    tools[7] = Tool("s", "told", schema={"description": SECRET})
    found = redaction.tools(tools)
    assert [one is tool for one, tool in zip(found, tools, strict=True)] == [at != 7 for at in range(9)]
    assert found[7].schema == {"description": MARK}
    assert all(one is again for one, again in zip(found, redaction.tools(tools), strict=True))


def test_tools_that_a_server_lists_no_more_are_forgotten(redaction):
    def tools(server, *names):
        return [Tool(server, name, description=SECRET) for name in names]

    redaction.listed(tools("other", "kept"))
    for number in range(5):
        redaction.listed(found := tools("srv", "stays", f"tool{number}"))
        (stays, _) = redaction.tools(found)
        assert stays.description == MARK and redaction.definition(stays) is found[0]
    assert sorted(redaction._cleared_tools) == [("other", "kept"), ("srv", "stays"), ("srv", "tool4")]
