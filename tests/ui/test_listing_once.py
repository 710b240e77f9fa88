"""What servers list for the menus of `/` and `@` is kept: letters do not request it again."""

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.real_stage import real_app
from tui.ui.chat.composer.composer import Composer

SERVER = Path(__file__).with_name("counting_server.py")


def config(folder: Path, *eras: str) -> str:
    """Return the configuration of a server for each era, each with a file that counts."""
    parts = []
    for era in eras:
        parts.append(
            f"[servers.{era}]\ncommand = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(SERVER))}]\n"
            f"env = {{ COUNT_FILE = {json.dumps(str(folder / era))}, ERA = {json.dumps(era)} }}\n"
        )
    return "\n".join(parts)


def listed(folder: Path, era: str) -> int:
    """Return how many requests for lists of prompts, resources and templates a server got."""
    lines = (folder / era).read_text().splitlines()
    return sum(line in ("prompts/list", "resources/list", "resources/templates/list") for line in lines)


@pytest.mark.parametrize("key", ["slash", "at"])
async def test_each_list_is_requested_once_however_much_is_typed(
    separate_home: Path, tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a user who types slowly: the servers announce changes."""
    monkeypatch.setattr("tui.ui.chat.composer.suggestions.STALE_SECONDS", 0.0)
    eras = ("legacy", "modern")
    async with real_app(separate_home, config(tmp_path, *eras)) as real:
        for era in eras:
            await real.has_state(era, "RUNNING")
        before = {era: listed(tmp_path, era) for era in eras}
        await real.pilot.press(key)
        composer = real.app.main.query_one(Composer)
        await until(lambda: not composer.completing.sources.is_listing)
        once = {era: listed(tmp_path, era) for era in eras}
        assert all(once[era] <= before[era] + 3 for era in eras)
        for letters in ("gre", "mem"):
            for letter in letters:
                await real.pilot.press(letter)
            for _ in range(4):
                await real.pilot.press("backspace")
            await real.pilot.press(key)
        await until(lambda: not composer.completing.sources.is_listing)
        assert {era: listed(tmp_path, era) for era in eras} == once
