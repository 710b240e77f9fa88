"""The requests that can be kept."""

from tui.addons.tests.keep.exchange import ITEMS, LISTS, METHODS, Exchange
from tui.addons.tests.suite.case import Request, RequestKind
from tui.addons.tests.suite.keys import LISTS as NAMES

LIST = Request(RequestKind.LIST, "tools")


def test_every_list_of_a_test_file_has_its_method_and_its_member():
    listing = {method for method, kind in METHODS.items() if kind is RequestKind.LIST}
    assert listing == set(LISTS) and set(LISTS.values()) == set(ITEMS) == set(NAMES)


def test_an_error_is_one_of_the_tool_or_of_the_protocol():
    assert not Exchange("s", LIST, result={"tools": []}).is_error
    assert Exchange("s", LIST, result={"isError": True}).is_error
    assert Exchange("s", LIST, error={"code": -1}).is_error
