"""Messages are found in any script, even by parts of words."""

import sqlite3
from contextlib import closing
from pathlib import Path
from unicodedata import normalize

import pytest

from tests.unit.storage.session_samples import ANSWER, ASKING, QUESTION, RESULT, saved, say
from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.storage.sessions.search import INDEXED, searchable_text
from tui.storage.sessions.store import SessionStore

ERROR = ToolMessage("c2", "weather__get", "HTTP 402: insufficient balance for request 17", is_error=True)


async def places(store, text: str) -> list[tuple[str, int]]:
    return [(found.session.id, found.index) async for found in store.search(text)]


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("BALANCE", 3),
        ("suffic", 3),
        ("request insufficient", 3),
        ("17", 3),
        ("weather__get", 1),
        ('"city": "Beijing"', 1),
        ("°C", 2),
        ("the weather", 0),
    ],
)
async def test_a_message_that_contains_all_words_or_parts_of_words_is_found(
    store: SessionStore, text: str, index: int
):
    session = await saved(store, QUESTION, ASKING, RESULT, ERROR, ANSWER)
    assert (session, index) in await places(store, text)


@pytest.mark.parametrize(
    "text", ["北京天气", "天气", "气", "ПОГОДА", "straße", "مرحبا", "👩‍💻", 'a"b', "x OR y", "NOT", "*"]
)
async def test_any_script_and_any_symbol_is_found(store: SessionStore, text: str):
    message = UserMessage('北京天气如何 погода Straße مرحبا بك 👩‍💻 a"b x OR y NOT *')
    session = await saved(store, message, ANSWER)
    assert await places(store, text) == [(session, 0)]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("text", ["Café", "CAFÉ", "cafe\u0301", "STRASSE", "é", "Việt Nam", "각", "ﬁle", "K"])
async def test_case_and_composition_are_ignored(store: SessionStore, text: str, form: str):
    message = UserMessage(normalize(form, "un café, Straße, tiếng Việt Nam, 각, file, \u212a"))
    session = await saved(store, UserMessage("un cafe, Strase, tieng Viet Nm, 가"), message)
    assert await places(store, text) == [(session, 1)]
    assert await places(store, "straße cafe\u0301") == [(session, 1)]


@pytest.mark.parametrize("text", ["Malmö", "MALMO\u0308", 'say "hi"', '"hi"'])
async def test_call_arguments_are_searched_as_they_are_shown(store: SessionStore, text: str):
    call = CallRequest("c1", "weather__get", r'{"city":"Malm\u00f6","note":"say \"hi\""}')
    session = await saved(store, QUESTION, AssistantMessage("", calls=(call,), model="demo"))
    assert await places(store, text) == [(session, 1)]
    assert await places(store, "u00f6") == []


async def test_an_excerpt_shows_the_match_even_if_folding_changes_the_length(store: SessionStore):
    for before in ("ß" * 3000, "e\u0301" * 3000):
        await saved(store, UserMessage(f"{before} needle {before}"))
    assert ["needle" in found.excerpt async for found in store.search("needle")] == [True, True]


OLDER = "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='trigram');"
OLDER += "INSERT INTO words (rowid, text) VALUES (0, 'un cafe\u0301')"


@pytest.mark.parametrize("more", ["", OLDER], ids=["no index", "decomposed text, of an older version"])
async def test_without_the_current_index_the_messages_are_read(
    tmp_path: Path, store: SessionStore, more: str
):
    session = await saved(store, UserMessage("un cafe\u0301"), ANSWER)
    with closing(sqlite3.connect(tmp_path / "sessions" / f"{session}.mcpsession")) as connection:
        connection.executescript(f"DROP TABLE folded; {more}")
    assert await places(store, "CAFÉ") == [(session, 0)]
    _, journal = await store.reopen(session)
    await say(journal, UserMessage("encore un café?"), start=2)
    await journal.close()
    assert await places(store, "CAFÉ") == [(session, 0), (session, 2)]


@pytest.mark.parametrize(
    "text", ["", "   ", "nothing like it", "balance nothing", "\0", "\ud800", "'", "x" * 5000]
)
async def test_text_that_does_not_occur_in_a_message_is_not_found(store: SessionStore, text: str):
    await saved(store, QUESTION, ASKING, RESULT, UserMessage("balance"))
    assert await places(store, text) == []


async def test_recently_changed_sessions_come_first_and_the_search_can_be_closed_early(store: SessionStore):
    first, second = await saved(store, QUESTION), await saved(store, QUESTION)
    assert await places(store, "weather") == [(second, 0), (first, 0)]
    search = store.search("weather")
    assert (await anext(search)).session.id == second
    await search.aclose()


async def test_a_new_message_is_found_at_once(store: SessionStore):
    journal = await store.begin()
    await say(journal, QUESTION)
    journal.message(1, ANSWER)
    assert await places(store, "sunny") == [(journal.id, 1)]
    journal.message(1, AssistantMessage("It is cloudy."))
    assert await places(store, "sunny") == []
    await journal.close()


async def test_a_damaged_index_prevents_neither_storing_nor_finding(tmp_path: Path, store: SessionStore):
    session = await saved(store, QUESTION, ANSWER)
    with closing(sqlite3.connect(tmp_path / "sessions" / f"{session}.mcpsession")) as connection:
        connection.execute("UPDATE folded_data SET block = x'ffffffffffff'")
        connection.commit()
    _, journal = await store.reopen(session)
    await say(journal, UserMessage("rainy?"), start=2)
    await journal.close()
    assert await places(store, "rainy") == [(session, 2)]
    assert await places(store, "sunny") == [(session, 1)]


async def test_an_excerpt_is_one_clean_line_around_the_match(store: SessionStore):
    await saved(store, UserMessage("x " * 500 + "\x1b[31mneedle\n" + "y " * 500))
    (found,) = [found async for found in store.search("needle")]
    assert "needle" in found.excerpt and "\x1b" not in found.excerpt and "\n" not in found.excerpt
    assert found.excerpt.startswith("…") and found.excerpt.endswith("…") and len(found.excerpt) < 250


def test_only_the_beginning_of_a_huge_message_is_indexed():
    assert len(searchable_text(UserMessage("x" * 10_000_000))) == INDEXED


async def test_text_after_a_nul_is_found(store: SessionStore):
    session = await saved(store, UserMessage("before\0behind it"), ANSWER)
    assert await places(store, "behind") == [(session, 0)]


async def test_a_log_line_in_a_result_is_found_by_the_text_that_is_shown(store: SessionStore):
    line = ToolMessage("c1", "files__tail", r'[INFO] opened "C:\temp\new\notes.txt" ok')
    session = await saved(store, QUESTION, ASKING, line, ANSWER)
    for text in ("temp", r"C:\temp\new", "notes"):
        assert await places(store, text) == [(session, 2)]


async def test_an_excerpt_of_json_decodes_escaped_cjk(store: SessionStore):
    escaped = '["\\u676d\\u5dde sunny", "\\u5317\\u4eac rain"]'
    await saved(store, QUESTION, ASKING, ToolMessage("c1", "weather__get", escaped), ANSWER)
    for text in ("sunny", "杭州", "北"):
        found = next(one for one in [one async for one in store.search(text)] if one.index == 2)
        assert "杭州 sunny" in found.excerpt
        assert "\\u" not in found.excerpt[:20]


async def test_a_call_and_its_result_are_found_as_one_place(store: SessionStore):
    call = AssistantMessage("", calls=(CallRequest("c1", "notes__add", '{"text": "buy milk"}'),))
    other = AssistantMessage("", calls=(CallRequest("c2", "notes__list", "{}"),))
    results = ToolMessage("c1", "notes__add", "Added: buy milk"), ToolMessage("c2", "notes__list", "buy milk")
    session = await saved(store, UserMessage("What is there to buy?"), call, results[0], other, results[1])
    assert await places(store, "milk") == [(session, 1), (session, 4)]
    assert await places(store, "added") == [(session, 2)]
