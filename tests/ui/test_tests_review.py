"""The review of failed cases on screen, over real servers and files."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.kept_stage import AS_KEPT, CHANGED, Kept, kept_folder, open_tests, run_all
from tests.ui.real_stage import RealApp, real_app
from tui.addons.tests.review.last_runs import LastRuns
from tui.addons.tests.suite.read import read_suite


@pytest.fixture
def kept(tmp_path: Path, separate_home: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Return a folder whose cases fail. The user has kept a call in another folder, too."""
    found = kept_folder(tmp_path / "work", monkeypatch, CHANGED)
    found.agree()
    other = tmp_path / "other.mcp.toml"
    other.write_text('server = "x"\n[[call]]\ntool = "y"\ntext = "z"\n')
    with closing(LastRuns()) as runs:
        runs.remember(other)
    return found


async def review(app: RealApp) -> None:
    """Run the cases, and review the first."""
    await open_tests(app, "2 never ran")
    await run_all(app, "2 failed")
    await app.press("enter")
    await app.shows("REVIEW", "1 of 2", "the weather", "expected", "got")


async def test_a_case_is_accepted_a_part_of_another_varies_and_the_rest_of_the_file_stays(
    kept: Kept, separate_home: Path
) -> None:
    before = kept.file.read_text()
    async with real_app(separate_home, "") as app:
        await review(app)
        await app.press("m")
        await app.shows("weather.mcp.toml now", "as it will be written", "station <number>", "write")
        assert kept.file.read_text() == before
        await app.press("enter")
        await app.shows("2 of 2", "an order", "1 varies")
        await app.press("a")
        await app.shows("1 accepted", "as expected")
        after = kept.file.read_text()
        assert "Hangzhou: rain, <number> °C.\nstation <number>" in after
        assert """{ "id": "<id>", "state": "closed" }'   # other members may follow""" in after
        assert "# kept in November" in after
        await app.press("escape")
        await app.shows("files changed, not run since")
        await run_all(app, "2 passed")


async def test_undo_takes_the_last_change_back(kept: Kept, separate_home: Path) -> None:
    before = kept.file.read_text()
    async with real_app(separate_home, "") as app:
        await review(app)
        await app.press("a")
        await app.shows("2 of 2", "1 accepted")
        await app.shows("wrote weather.mcp.toml, ctrl+z undoes it")
        await app.press("ctrl+z")
        await app.shows("1 of 2", "text: expected", "station 5")
        assert kept.file.read_text() == before
        await app.press("ctrl+z")
        await app.shows("Nothing to undo.")
        await app.press("a", "escape")  # and after the review
        await app.shows("files changed, not run since")
        await app.press("ctrl+z")
        await app.shows("Undone in weather.mcp.toml.")
        assert kept.file.read_text() == before


async def test_a_proposed_change_can_be_discarded_and_a_case_may_keep_failing(
    kept: Kept, separate_home: Path
) -> None:
    before = kept.file.read_text()
    async with real_app(separate_home, "") as app:
        await review(app)
        await app.press("m")
        await app.shows("as it will be written")
        await app.press("escape")
        await app.shows("expected", "text: expected")
        await app.press("x")
        await app.shows("2 of 2", "1 keeps failing")
        await app.press("N")
        await app.shows("1 of 2", "the weather   keeps failing")
        assert kept.file.read_text() == before


async def test_a_file_that_another_program_changed_is_not_written(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "") as app:
        await review(app)
        kept.file.write_text(kept.file.read_text() + "\n# mine\n")
        changed = kept.file.read_text()
        await app.press("a")
        await app.shows("was changed by another program")
        assert kept.file.read_text() == changed


async def test_the_messages_of_a_failed_case_open_at_its_exchange(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "") as app:
        await review(app)
        await app.press("f4")
        await app.shows("TRAFFIC", "2 of ", "tools/call", "weather")
        await app.press("escape")
        await app.shows("REVIEW", "1 of 2")


async def test_a_failed_case_is_copied_as_a_command(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "") as app:
        await review(app)
        await app.press("c")
        await app.shows("COPY AS", "mcptui call …", "test case", "mcptui test …")
        await app.press("enter")
        await until(lambda: app.app.clipboard.startswith("mcptui call weather"))


async def test_failures_of_an_earlier_run_are_read_from_its_recording(
    kept: Kept, separate_home: Path
) -> None:
    async with real_app(separate_home, "") as app:
        await review(app)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 failed")
        await until(lambda: app.app.screen.browser.list.selected)
        await app.press("enter")
        await app.shows("REVIEW", "1 of 2", "station 5", "station 7")
        await app.press("a")
        await app.shows("2 of 2", "1 accepted")


async def test_a_case_that_expects_nothing_yet_gets_its_result(kept: Kept, separate_home: Path) -> None:
    head = kept.file.read_text().partition("# kept")[0]
    kept.file.write_text(f'{head}\n[[call]]\nname = "saved"\ntool = "weather"\n')
    async with real_app(separate_home, "") as app:
        await open_tests(app, "no result", "saved")
        await app.press("r")
        await app.shows("1 skipped")
        await until(lambda: not app.app.screen.browser.runs.is_running)
        await app.press("enter")
        await app.shows("Nothing is expected yet", "station 7")
        await app.press("a")
        await app.shows("as expected")
        assert "station 7" in kept.file.read_text()


async def test_a_renamed_member_is_written_after_it_was_shown(kept: Kept, separate_home: Path) -> None:
    kept.answer({**AS_KEPT, "order": {"id": "a-2", "status": "open", "more": 1}})
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        await run_all(app, "1 failed")
        await app.press("down", "enter")
        await app.shows("REVIEW", "an order", "a accept")
        before = kept.file.read_text()
        await app.press("a")
        await app.shows("as it will be written", "enter write")
        await app.press("x", "n", "N", "m", "a", "ctrl+z")
        await app.shows(
            "as it will be written", "an order", "Press enter to write the change, or esc to discard it."
        )
        assert kept.file.read_text() == before
        await app.press("enter")
        await app.shows("1 accepted", "as expected")
        expected = read_suite(kept.file).cases[1].expected.result
        assert expected == {"id": "<id>", "status": "open", "more": 1}


async def test_a_case_that_passes_cannot_fail_or_vary(kept: Kept, separate_home: Path) -> None:
    kept.answer(AS_KEPT)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        await run_all(app, "2 passed")
        await app.press("enter")
        await app.shows("REVIEW", "as expected")
        await app.press("x")
        await app.shows("The result is as expected.")
        assert "keeps failing" not in app.text
        await app.press("m")
        assert "Move the cursor" not in app.text


async def test_at_80_columns_the_difference_goes_before_what_was_written(
    kept: Kept, separate_home: Path
) -> None:
    async with real_app(separate_home, "", size=(80, 24)) as app:
        await review(app)
        await app.press("a")
        await app.shows("2 of 2", 'result.state: expected "open", got "closed"', "1 accepted")
