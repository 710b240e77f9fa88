"""Ranking what servers offer for words, and its lines for the shell."""

import json

from tui.commands.call.search import BOLD, PLAIN, Offered, emphasized, offered_in, ranked
from tui.core.tools import Tool

SCHEMA = {"properties": {"city": {}, "days": {}}}
WEATHER = Offered("tool", Tool("weather", "get_forecast", "", "The forecast of a city.\nMore.", SCHEMA))
NOTES = Offered("prompt", Tool("notes", "summarize", "", "Summarize all notes about the weather."))
FILE = Offered("resource", Tool("files", "file:///a.txt", "a.txt", ""))
ALL = [FILE, NOTES, WEATHER]


def names(typed: str) -> list[str]:
    return [one.tool.name for one in ranked(ALL, typed)]


def test_the_best_match_comes_first() -> None:
    assert names("weather forecast") == ["get_forecast", "summarize"]


def test_argument_names_and_parts_of_words_match() -> None:
    assert names("days") == ["get_forecast"]
    assert names("a.txt") == ["file:///a.txt"]
    assert names("summar") == ["summarize"]


def test_common_words_match_as_they_are_written() -> None:
    assert names("all") == ["summarize"]
    assert names("zzz") == []


def test_a_line_names_server_kind_and_what_matched() -> None:
    (match,) = ranked(ALL, "days")
    about = "The forecast of a city. (arguments: days)"
    assert match.row("days") == ("weather", "tool", "get_forecast", about)


def test_matched_words_are_bold_on_a_terminal() -> None:
    (match, *_) = ranked(ALL, "city")
    assert f"The forecast of a {BOLD}city{PLAIN}." in emphasized(" ".join(match.row("city")), "city")


def test_foreign_text_is_cleaned() -> None:
    odd = Offered("tool", Tool("s\x1b[31m", "t\x1b]0;x\x07", "", "find\x1b[2J"))
    assert "\x1b" not in "".join(ranked([odd], "find")[0].row("find"))


def test_arguments_of_prompts_and_addresses_of_resources_are_searched() -> None:
    prompt = {"name": "p", "arguments": [{"name": "city"}, 3]}
    listed = {"prompts": [prompt], "resourceTemplates": [{"uriTemplate": "a://{b}", "name": "n"}], "x": [7]}
    found = list(offered_in("s", json.dumps(listed)))
    assert [(one.kind, one.tool.name, one.tool.title) for one in found] == [
        ("prompt", "p", ""),
        ("template", "a://{b}", "n"),
        ("x", "", ""),
    ]
    assert "city" in found[0].text
