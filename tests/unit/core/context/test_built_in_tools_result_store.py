"""Whole results are kept by name, the newest at the expense of the oldest."""

from tui.core.context.built_in_tools import ResultStore


def test_what_is_kept_is_found_under_its_name() -> None:
    shelf = ResultStore()
    name = shelf.keep("all of it")
    assert name == "result-1" and shelf.find(name) == "all of it" and shelf.name_of("all of it") == name
    assert shelf.find("result-2") is None and shelf.name_of("other") == ""


def test_the_oldest_go_when_there_are_too_many_and_it_is_known_that_they_were_here() -> None:
    shelf = ResultStore(max_results=2)
    for text in "abc":
        shelf.keep(text)
    assert shelf.names() == ("result-2", "result-3") and len(shelf) == 2
    assert shelf.was_here("result-1") and not shelf.was_here("result-2") and not shelf.was_here("result-9")


def test_the_oldest_go_when_they_are_too_large() -> None:
    shelf = ResultStore(max_bytes=10_000)
    for letter in "abc":
        shelf.keep(letter * 4000)
    assert shelf.names() == ("result-2", "result-3")


def test_the_newest_stays_however_large_it_is() -> None:
    shelf = ResultStore(max_bytes=100)
    shelf.keep("a" * 50)
    assert shelf.find(shelf.keep("b" * 1000)) == "b" * 1000 and len(shelf) == 1


def test_a_reopened_conversation_has_its_results_and_never_gives_a_name_twice() -> None:
    shelf = ResultStore({"result-2": "two", "result-7": "seven", "../etc/passwd": "no"})
    assert shelf.find("result-7") == "seven" and shelf.names() == ("result-2", "result-7")
    assert shelf.keep("new") == "result-8" and shelf.was_here("result-5")
