"""What `mcptui keep` prints about a call. Whole commands are in tests/protocol/test_tests_keep.py."""

import argparse
from pathlib import Path

import pytest

from tui.addons.tests.keep.command import confirm_replacing, keep
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind
from tui.core.errors import StorageError, UsageError
from tui.core.servers import ServerSpec
from tui.runtime.copies.origin import Origin


def arguments(**given: str | None) -> argparse.Namespace:
    return argparse.Namespace(
        **({"recording": None, "entry": None, "output": None, "name": None, "yes": False} | given)
    )


def test_an_unknown_recording_is_an_error():
    with pytest.raises(StorageError, match="recording not found"):
        keep(arguments(recording="nothing"))


@pytest.mark.parametrize(("name", "said"), [("", "is required"), ("a\nb", "must be one line of at most 200")])
def test_a_name_that_no_case_can_have_is_an_error_before_anything_else(name: str, said: str):
    with pytest.raises(UsageError, match=f"A name {said}"):
        keep(arguments(name=name))


def test_without_recordings_it_says_how_to_make_one():
    with pytest.raises(UsageError, match="no recorded call yet"):
        keep(arguments())


def test_a_case_is_replaced_without_a_question_only_with_yes(tmp_path: Path):
    request = Request(RequestKind.TOOL, "get")
    exchange = Exchange("s", request, result={"content": [{"type": "text", "text": "Rain."}]})
    origin = Origin.of_spec(ServerSpec("s", "python", ("server.py",)), str(tmp_path), configured=False)
    keeping = Keeping.of(exchange, origin, tmp_path, str, is_own=True)
    there, target = Case("rain", 1, request, Expectation(text="Sun.")), keeping.target(str(tmp_path / "a"))
    confirm_replacing(keeping, target, there, yes=True)
    with pytest.raises(
        UsageError, match=r"a\.mcp\.toml already has this call: “rain”\. Use --yes to replace"
    ):
        confirm_replacing(keeping, target, there, yes=False)


def test_a_configuration_that_records_nothing_is_named(separate_home: Path):
    file = separate_home / "config" / "mcptui" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[traffic]\nrecord = false\n")
    with pytest.raises(UsageError, match=r"record = false is set under \[traffic\]"):
        keep(arguments())
