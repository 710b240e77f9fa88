"""The rules screen: rules are listed, checked against a call, added, edited and removed."""

import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from tests.conftest import until
from tests.ui.app_stage import OnScreen, asked, asking, keys, opened
from tests.ui.fakes import FakeRuntime, says
from tui.core.permission.rules import Rules
from tui.core.ports import Answer
from tui.runtime.permission.approvals import Approvals
from tui.settings.config_file import ConfigFile
from tui.settings.save import Change
from tui.ui.dialogs.confirm import Confirm
from tui.ui.permission.rules import RulesScreen

CALL = 'notes/delete_note {"id": "milk"}'


class File:
    """A configuration with rules, which are in force once it is reloaded."""

    def __init__(self, path: Path, runtime: FakeRuntime, rules: Sequence[str]) -> None:
        self.path = path
        path.write_text(f"# mine\n[approvals]\nrules = {list(rules)}\n".replace("'", '"'))
        self._policy = runtime.turn_context.policy
        self._policy.rules = Rules.parsed(rules)
        configuration = SimpleNamespace(file=ConfigFile(str(path), {}), change=self._change)
        runtime.approvals = Approvals(configuration, runtime.turn_context.policy, trust=True)

    async def _change(self, change: Change) -> None:
        ConfigFile(str(self.path), {}).change(change)
        self._policy.rules = Rules.parsed(self.rules)

    @property
    def rules(self) -> list[str]:
        return tomllib.loads(self.path.read_text())["approvals"]["rules"]


@dataclass
class Scene(OnScreen):
    runtime: FakeRuntime
    file: File

    async def removes(self) -> None:
        """Remove the selected rule, and confirm."""
        await self.press("ctrl+d")
        dialog = self.pilot.app.screen
        assert isinstance(dialog, Confirm)
        dialog._delay._shown -= 60  # ripe
        await self.press("y")


@asynccontextmanager
async def listed(
    path: Path, *rules: str, runtime: FakeRuntime | None = None, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[Scene]:
    runtime = runtime or FakeRuntime(says("hi"))
    file = File(path / "config.toml", runtime, rules)
    async with opened(runtime, size=size) as (app, pilot):
        await pilot.press("f3", "P")
        await until(lambda: isinstance(app.screen, RulesScreen))
        yield Scene(pilot, runtime, file)


async def test_rules_are_listed_with_their_location(tmp_path: Path):
    async with listed(tmp_path, "allow weather/*", "deny */delete_*") as scene:
        await scene.shows("RULES", "allow  weather/*", "rules[1]", "deny   */delete_*", "rules[2]")
        await scene.shows("approvals.rules in ")
        await scene.press(*"weath")
        assert "delete_*" not in scene.text and "weather/*" in scene.text


async def test_without_rules_the_screen_explains_rules(tmp_path: Path):
    async with listed(tmp_path, size=(80, 24)) as scene:
        await scene.shows("No rules yet.", "ask files/*", "path=/etc/*", "To try the rules, type a call")


async def test_a_typed_call_is_checked_against_the_rules(tmp_path: Path):
    rules = "allow notes/*", "deny */delete_* id=m*", "ask files/*"
    async with listed(tmp_path, *rules) as scene:
        scene.pilot.app.screen.field.value = CALL
        await scene.shows("Denied   rule: deny */delete_* id=m*", "● deny", "! allow", "also matches")
        scene.pilot.app.screen.field.value = "other/tool"
        await scene.shows("Needs approval")
        scene.pilot.app.screen.field.value = 'notes/add {"text'
        await scene.shows("not a complete JSON object")


async def test_an_invalid_rule_is_reported_and_a_valid_one_is_added(tmp_path: Path):
    async with listed(tmp_path, "allow notes/*") as scene:
        await scene.press("ctrl+n")
        await keys(scene.pilot, "ask notes")
        await scene.press("enter")
        await scene.shows("must be a pattern of server/tool", "invalid rule")
        await keys(scene.pilot, "/*")
        await scene.press("enter")
        await scene.shows("Added.", "ask    notes/*")
        assert scene.file.rules == ["allow notes/*", "ask notes/*"]


async def test_a_rule_added_for_a_typed_call_denies_its_tool(tmp_path: Path):
    async with listed(tmp_path) as scene:
        scene.pilot.app.screen.field.value = CALL
        await scene.shows("Needs approval")
        await scene.press("ctrl+n", "enter")
        await scene.shows("Denied   rule: deny notes/delete_note")


async def test_a_rule_is_edited_and_removed(tmp_path: Path):
    async with listed(tmp_path, "allow notes/*", "deny */x") as scene:
        await scene.press("down", "enter", "backspace", "y", "enter")
        await scene.shows("Saved.", "deny   */y")
        await scene.press("up")
        await scene.removes()
        await scene.shows("Removed.")
        assert scene.file.rules == ["deny */y"] and "# mine" in scene.file.path.read_text()


async def test_a_file_changed_meanwhile_is_not_overwritten_and_this_is_reported(tmp_path: Path):
    async with listed(tmp_path, "allow notes/*") as scene:
        scene.file.path.write_text('[approvals]\nrules = ["deny a/*"]\n')
        await scene.removes()
        await scene.shows("has changed in the file")
        assert scene.file.rules == ["deny a/*"]


async def test_an_approval_for_the_session_is_listed_and_revoked(tmp_path: Path):
    runtime = FakeRuntime(says("hi"))
    policy = runtime.turn_context.policy
    policy.remember(runtime.toolbox.tools()[0], Answer.SESSION)
    async with listed(tmp_path, runtime=runtime) as scene:
        await scene.shows("Earlier approvals", "weather/get_weather", "until mcptui quits")
        await scene.press("ctrl+d")
        await scene.shows("Revoked. The tool needs approval again.")
        assert not policy.session


async def test_a_call_waiting_for_approval_is_checked_on_the_rules_screen(tmp_path: Path):
    runtime = asking()
    File(tmp_path / "config.toml", runtime, ["ask notes/*", "deny weather/*"])
    async with opened(runtime, size=(100, 30)) as (app, pilot):
        scene = OnScreen(pilot)
        await pilot.press("x", "enter")
        await until(lambda: app.main.parts.approvals.current)
        app.main.parts.approvals.typed_at = -1e9
        await pilot.press("f2")
        await until(lambda: app.main.parts.approvals.answer_delay.accepts_keys)
        await pilot.press("P")
        await scene.shows("try ›", CALL, "Needs approval   rule: ask notes/*")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)
        assert app.main.parts.approvals.current


async def test_the_last_call_of_the_conversation_can_be_checked(tmp_path: Path):
    runtime = asking()
    File(tmp_path / "config.toml", runtime, ["deny weather/*"])
    async with opened(runtime, size=(100, 30)) as (app, pilot):
        scene = OnScreen(pilot)
        await asked(app, pilot)
        await pilot.press("f2")
        await until(lambda: app.main.parts.approvals.answer_delay.accepts_keys)
        await pilot.press("n")
        await scene.shows("So be it.")
        await pilot.press("f3", "P")
        await until(lambda: isinstance(app.screen, RulesScreen))
        await pilot.press("tab")
        await scene.shows(CALL, "Needs approval")
