"""Complete results are stored by name; the oldest are dropped first."""

from tui.core.context.built_in_tools import ResultStore


def test_a_stored_result_is_found_by_its_name_and_its_text() -> None:
    result_store = ResultStore()
    name = result_store.keep("all of it")
    assert (
        name == "result-1"
        and result_store.find(name) == "all of it"
        and result_store.name_of("all of it") == name
    )
    assert result_store.find("result-2") is None and result_store.name_of("other") == ""


def test_beyond_the_maximum_the_oldest_results_are_dropped_and_reported_as_dropped() -> None:
    result_store = ResultStore(max_results=2)
    for text in "abc":
        result_store.keep(text)
    assert result_store.names() == ("result-2", "result-3") and len(result_store) == 2
    assert (
        result_store.was_here("result-1")
        and not result_store.was_here("result-2")
        and not result_store.was_here("result-9")
    )


def test_beyond_the_size_limit_the_oldest_results_are_dropped() -> None:
    result_store = ResultStore(max_bytes=10_000)
    for letter in "abc":
        result_store.keep(letter * 4000)
    assert result_store.names() == ("result-2", "result-3")


def test_the_newest_result_is_kept_whatever_its_size() -> None:
    result_store = ResultStore(max_bytes=100)
    result_store.keep("a" * 50)
    assert result_store.find(result_store.keep("b" * 1000)) == "b" * 1000 and len(result_store) == 1


def test_a_reopened_conversation_restores_its_results_and_never_reuses_a_name() -> None:
    result_store = ResultStore({"result-2": "two", "result-7": "seven", "../etc/passwd": "no"})
    assert result_store.find("result-7") == "seven" and result_store.names() == ("result-2", "result-7")
    assert result_store.keep("new") == "result-8" and result_store.was_here("result-5")
