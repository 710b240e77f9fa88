"""The page to share in the shell: a conversation with its recorded messages, and what is left out of it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.configurations import config_file, model, server
from tests.endpoint import Endpoint, calls, says
from tests.programs import ANSWERING
from tests.protocol.command import mcptui

ECHO = (
    ANSWERING
    + "serve(lambda method, *_: text('canary-answer') if method == 'tools/call' else None, ['echo'])"
)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[str]:
    """Save a session of two turns, with one call of a real server, that was recorded in two runs."""
    asks = calls(("it__echo", {"text": "canary-argument"}))
    async with Endpoint([asks, says("canary-said"), says("Bye.")]) as endpoint:
        config = config_file(tmp_path, model(endpoint), server("it", "-c", ECHO))
        for question in ("What does it say?", "Thanks"):
            given = ("run", "--config", config, "--session", "talk", "--approve", "all", question)
            done = await mcptui(*given)
            assert done.code == 0, done.err
    yield "talk"


async def page(*more: str) -> tuple[str, str]:
    done = await mcptui("sessions", "export", "talk", "--as", "html", *more)
    assert done.code == 0, done.err
    return done.out, done.err


async def test_a_page_has_the_waterfall_and_the_messages_of_each_turn(talk: str):
    text, told = await page()
    assert re.findall(r"<summary>(\d+) messages of this turn", text)[1:] == ["2"]
    assert "initialize</bdi>" in text
    links = re.findall(r'<a href="#(\w+)">Show the message</a>', text)
    assert len(links) == 2 and all(f'id="{link}"' in text for link in links)
    assert text.count("<summary>Waterfall ") == 2
    assert '<th scope="row" dir="auto">it › echo</th>' in text
    assert 'id="e' in text and 'id="r2-e' in text
    assert re.search(r"^  waterfall    2 turns\n  messages     \d+ entries, \d+ B$", told, re.MULTILINE)


async def test_what_is_left_out_is_nowhere_on_the_page(talk: str):
    whole, _ = await page()
    text, told = await page("--without", "values")
    for canary in ("canary-answer", "canary-argument"):
        assert canary in whole and canary not in text
    assert "canary-said" in text and "  without values\n" in told and "\n  values " not in told
    silent, _ = await page("--without", "conversation,messages")
    assert "canary-said" not in silent and "Turn 2" in silent


async def test_a_redacted_page_has_neither_texts_nor_values(talk: str):
    text, _ = await page("--redact")
    assert "canary" not in text and "it › echo" in text


async def test_parts_are_left_out_of_documents_only(talk: str):
    done = await mcptui("sessions", "export", "talk", "--as", "json", "--without", "values")
    assert done.code == 2 and "--without requires Markdown or HTML" in done.err
    done = await mcptui("traffic", "--export", "har", "--without", "notes")
    assert done.code == 2 and "--without requires Markdown or HTML" in done.err
    done = await mcptui("traffic", "--without", "notes")
    assert done.code == 2 and "--without requires --export" in done.err


async def test_a_page_of_a_recording_has_its_findings_and_says_what_it_contains(talk: str, tmp_path: Path):
    target = tmp_path / "list.html"
    done = await mcptui("traffic", "--export", "html", "--without", "values", "-o", str(target))
    assert done.code == 0 and "  messages     " in done.err
    assert "argument value" not in done.err and "  values  " not in done.err
    assert '<details class="row" id="e1">' in target.read_text() and "canary" not in target.read_text()
