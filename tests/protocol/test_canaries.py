"""A key that an endpoint quotes is written nowhere."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.configurations import config_file, model
from tests.endpoint import Answer, Endpoint, Request, calls, chunk, refuses, says
from tests.programs import ANSWERING
from tests.protocol.command import Done, mcptui, recordings

KEY = "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"
PARTS = [KEY[at : at + 8] for at in range(len(KEY) - 7)]


def leaked_in(text: str) -> bool:
    return any(part in text for part in PARTS)


def leaking_files() -> list[str]:
    """Return the files written by mcptui that contain a part of the key."""
    home = Path(os.environ["HOME"])
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and leaked_in(path.read_bytes().decode("latin-1"))
    ]


def config(folder: Path, endpoint: Endpoint, more: str = "") -> str:
    return config_file(folder, model(endpoint, api_key_env="MY_KEY"), "[servers]", more)


async def run(*args: str) -> Done:
    return await mcptui("run", "--json", *args, MY_KEY=KEY)


async def exports() -> str:
    """Return every export of the recordings and sessions."""
    out = ""
    assert recordings()
    for recording in recordings():
        for kind in ("jsonl", "md", "har", "html"):
            done = await mcptui("traffic", str(recording), "--export", kind)
            assert done.code == 0
            out += done.out
    for args in (("export", "last", "--as", "json"), ("export", "last", "--as", "html"), ("show", "last")):
        done = await mcptui("sessions", *args)
        assert done.code == 0, done.err
        out += done.out
    return out


async def test_a_key_quoted_in_a_refusal_is_in_no_output_file_export_or_later_request(tmp_path: Path):
    refused = refuses(401, f"Incorrect API key provided: {KEY}", code=KEY)
    async with Endpoint([refused, says("Fine.")]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--session", "s")
        first = await run(*given, "hello")
        second = await run(*given, "again")
        sent = b"".join(request.body for request in endpoint.requests).decode()
        assert KEY in endpoint.requests[0].headers["authorization"]
    assert "Incorrect API key" in first.out + first.err and second.code == 0
    assert not leaked_in(first.out + first.err + second.out + second.err)
    assert not leaked_in(sent)
    assert not leaked_in(await exports())
    assert leaking_files() == []


async def test_a_key_quoted_at_a_limit_is_in_neither_the_answer_nor_the_next_request(tmp_path: Path):
    def reply(request: Request) -> Answer:
        if request.json["messages"][-1]["content"].startswith("You cannot call tools"):
            return refuses(403, f"key {KEY} is over its limit")
        return calls(("nothing__there", {})) if len(endpoint.requests) == 1 else says("Fine.")

    async with Endpoint([reply]) as endpoint:
        given = ("--config", config(tmp_path, endpoint, "[limits]\nmax_steps = 1\n"), "--session", "s")
        first = await run(*given, "hello")
        second = await run(*given, "again")
        sent = b"".join(request.body for request in endpoint.requests).decode()
    assert "The last request failed" in first.out and "over its limit" in sent
    assert not leaked_in(first.out + first.err + second.out + second.err + sent)
    assert not leaked_in(await exports())
    assert leaking_files() == []


async def test_a_key_streamed_in_pieces_is_written_nowhere(tmp_path: Path):
    pieces = [chunk(content=KEY[at : at + 4]) for at in range(0, len(KEY), 4)]
    echo = Answer([chunk(content="Your key: "), *pieces, chunk("stop")])
    async with Endpoint([echo, says("Fine.")]) as endpoint:
        given = ("--config", config(tmp_path, endpoint), "--session", "s")
        first = await run(*given, "what is my key?")
        second = await run(*given, "again")
        sent = b"".join(request.body for request in endpoint.requests).decode()
    assert "[redacted:MY_KEY]" in first.out and "[redacted:MY_KEY]" in sent
    assert not leaked_in(first.out + first.err + second.out + second.err + sent)
    exported = await exports()
    assert not leaked_in(exported) and KEY[4:8] not in exported
    assert "spells a key of its endpoint" in exported
    assert leaking_files() == []


ECHO = (
    ANSWERING
    + """
def answer(method, params, ident):
    if method == "tools/call":
        with open(sys.argv[1], "w", encoding="utf-8") as out:
            out.write(params["arguments"]["text"])
        return text("done")
schema = {"type": "object", "properties": {"text": {"type": "string"}}}
serve(answer, [{"name": "echo", "inputSchema": schema, "annotations": {"readOnlyHint": True}}])
"""
)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (
            "sk-proj-Zk3JQ9vT1wYb7LmN4xRcP2sDf8gHa6UeBi5Co",
            "OPENAI_API_KEY=sk-proj-...\nOTHER=sk-proj-xxxxxxxxxxxx",
        ),
        ("lm-studio", "/home/me/.cache/lm-studio/models"),
    ],
)
async def test_a_tool_receives_placeholders_and_words_in_its_arguments_unchanged(
    tmp_path: Path, key: str, text: str
):
    script, received = tmp_path / "echo.py", tmp_path / "received"
    script.write_text(ECHO, "utf-8")
    server = (
        f"echo.trusted = true\necho.command = {json.dumps(sys.executable)}\n"
        f"echo.args = {json.dumps([str(script), str(received)])}\n"
    )
    async with Endpoint([calls(("echo__echo", {"text": text})), says(f"It is {text}")]) as endpoint:
        given = ("--config", config(tmp_path, endpoint, server), "--session", "s")
        first = await mcptui("run", "--json", *given, f"write {text}", MY_KEY=key)
        second = await mcptui("run", "--json", *given, "again", MY_KEY=key)
        sent = endpoint.requests[-1].json["messages"]
    assert first.code == second.code == 0, first.err
    assert received.read_text("utf-8") == text
    assert "[redacted:" not in json.dumps(sent) and f"It is {text}" in [one["content"] for one in sent]
