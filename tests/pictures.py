"""Takes the screenshots for README.md and docs/ as SVG, with the real app, sample servers and demo model.

    python -m tests.pictures [NAME ...]

writes docs/pictures/*.svg, or only the named pictures. `gallery` is those of all screens, `gallery:chat`
and the like a part of them. Run it again when a screen changes.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widgets import Input

from tests import gallery
from tests.changing_server import tool, write_server
from tests.moving_picture import Shot, join
from tests.unit.addons.skills.site import SERVER, Site, content, raw_entry

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tui.runtime.runtime import Runtime
    from tui.ui.app.app import McptuiApp

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
DARK, LIGHT = "harbor", "quay"
LIT = "-light"
"""Suffix of a picture in the light theme, if it exists in both themes."""

QUESTIONS = ("What's the weather in Hangzhou?", "add a note: buy milk", "which notes mention milk?")
NOTES = (
    ("search_notes", {"query": "milk"}),
    ("delete_note", {"id": "2026-11-20-milk"}),
    ("add_note", {"text": "buy oat milk"}),
)
"""Calls that a breakpoint holds."""

SETTLE_SECONDS = 0.5


class Stage:
    """The running app, with user actions to perform before a screenshot."""

    def __init__(self, app: "McptuiApp", runtime: "Runtime", pilot: "Pilot[int]") -> None:
        self.app, self.runtime, self.pilot = app, runtime, pilot
        self.shots: list[Shot] = []
        self.kept: dict[str, str] = {}  # screens of the gallery
        self.tasks: list[asyncio.Task[object]] = []  # calls that a breakpoint holds

    async def shoot(self, seconds: float, caption: str = "") -> None:
        """Take a screenshot that the animation shows for `seconds`, by default with the caption before."""
        await self.pilot.pause()
        self.shots.append((self.screenshot(), seconds, caption or self.shots[-1][2]))

    async def show(self, *keys: str, seconds: float, caption: str = "") -> None:
        """Press keys and take a screenshot of what they open."""
        await self.press(*keys)
        await asyncio.sleep(SETTLE_SECONDS)
        await self.shoot(seconds, caption)

    async def keep(self, name: str) -> None:
        """Take the picture of a screen of the gallery, which must have the contexts that are named there."""
        await asyncio.sleep(SETTLE_SECONDS)
        await self.pilot.pause()
        panes = self.app.focused.ancestors_with_self if self.app.focused is not None else ()
        focused = {getattr(pane, "context", getattr(pane, "CONTEXT", None)) for pane in panes}
        screen, svg = gallery.named(name), join([(self.screenshot(), 1.0, "")])
        missing = {*screen.contexts} - {*self.app.contexts, *focused}
        assert not missing, f"{name} shows {type(self.app.screen).__name__}, without {missing}"
        words = screen.has.replace(" ", "\xa0").lower()  # a title may be in capitals
        assert words in svg.lower(), f"{name} shows {type(self.app.screen).__name__}"
        self.kept[name] = svg

    def screenshot(self) -> str:
        """Return the screen as SVG."""
        return _without_web_fonts(self.app.export_screenshot(title="mcptui", simplify=True))

    async def type_visibly(self, text: str) -> None:
        """Type a text, with a screenshot every few characters."""
        for start in range(0, len(text), 3):
            await self.write(text[start : start + 3])
            await self.shoot(0.12)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, "the app did not get there"
            await asyncio.sleep(0.02)

    async def press(self, *keys: str) -> None:
        """Press keys, with a short pause after each."""
        for key in keys:
            await self.pilot.press(key)
            await asyncio.sleep(0.05)

    async def write(self, text: str) -> None:
        """Type a text."""
        names = {" ": "space", ":": "colon", "/": "slash", "'": "apostrophe", "?": "question_mark"}
        await self.press(*(names.get(char, char) for char in text))

    async def ready(self, tools: int = 6) -> None:
        """Wait until the servers are ready and have this many tools."""
        await self.until(
            lambda: self.runtime.is_ready and sum(s.tools for s in self.runtime.host.statuses()) == tools
        )

    async def ask(self, *questions: str) -> None:
        """Ask the model, and allow every call once."""
        for question in questions:
            self.app.main.composer.load_text(question)
            await self.press("f5", "enter")
            # A short turn may already be over. A message that was sent is no longer in the input.
            await self.until(lambda: self.app.main.parts.turns.running or not self.app.main.composer.text)
            while self.app.main.parts.turns.running:
                if (
                    self.app.main.parts.approvals.current
                    and self.app.main.parts.approvals.answer_delay.accepts_keys
                ):
                    await self.app.action_act("question.once")
                await asyncio.sleep(0.02)
        await self.app.action_act("focus.composer")

    async def start_slow(self) -> None:
        """Start the third sample server, which waits and fails on demand."""
        await self.press("f3", "end", "s")
        await self.ready(9)


async def conversation(stage: Stage) -> None:
    """The main screen after a few questions."""
    await stage.ask(*QUESTIONS)


async def one_question(stage: Stage) -> None:
    """The main screen in a small terminal."""
    await stage.ask(QUESTIONS[0])


async def _some_traffic(stage: Stage) -> None:
    await stage.start_slow()
    await stage.ask(*QUESTIONS, "count slowly for 2 seconds", "run always_fails")


async def traffic(stage: Stage) -> None:
    """Tool calls, and one of them next to its response."""
    await _some_traffic(stage)
    await stage.press("f4", "slash")
    await stage.write("method:tools/call")
    await stage.press("enter", "up", "enter")


async def filtering(stage: Stage) -> None:
    """A filter being typed, with its completions."""
    await _some_traffic(stage)
    await stage.press("f4", "slash")
    await stage.write("method:tools/call")
    await stage.press("enter", "slash")
    # Inserted at once, since every partly typed name would be searched as a word.
    stage.app.screen.query_one("FilterBar Input", Input).insert_text_at_cursor(" status:")


async def workbench(stage: Stage) -> None:
    """A tool as a form, its calls, and the result of the last one."""
    await stage.press("f3", "down", "enter")
    for text in ("buy milk", "call the dentist"):
        await stage.press("2", "home", "enter", "ctrl+d")
        await stage.write(text)
        await stage.press("ctrl+s")
        await asyncio.sleep(SETTLE_SECONDS)
        await stage.press("escape")


async def conversations(stage: Stage) -> None:
    """The saved conversations, and the places where a word occurs in them."""
    for question in (*QUESTIONS, "which notes mention the dentist?"):
        await stage.ask(question)
        await stage.app.action_act("chat.new")
    await stage.ask("what's the weather in Paris?")
    await stage.press("f9")
    await stage.write("milk")
    await asyncio.sleep(SETTLE_SECONDS)


async def break_server(stage: Stage) -> None:
    """Save the server with a defect, and wait until the kept calls have run."""
    watch = stage.runtime.watches.find("weather")
    before = watch.report
    _save("Hangzhou: light rain, None °C", "city")
    await stage.until(lambda: watch.report is not before and watch.report.kept is not None)


async def dev(stage: Stage, at_keep: Callable[[], Awaitable[None]] | None = None) -> None:
    """A server right after its file was saved, with a kept call that differs."""
    await stage.ready(2)
    await stage.press("2", "enter")
    await stage.write("Hangzhou")
    await stage.press("ctrl+s")
    await asyncio.sleep(SETTLE_SECONDS)
    await stage.press("escape", "C")
    await asyncio.sleep(SETTLE_SECONDS)
    if at_keep is not None:
        await at_keep()
    await stage.press("ctrl+s")
    await asyncio.sleep(SETTLE_SECONDS)
    _save("Hangzhou: sunny, 21 °C", "city", "day")
    watch = stage.runtime.watches.find("weather")
    await stage.until(lambda: watch.report is not None and watch.report.kept is not None)
    await asyncio.sleep(SETTLE_SECONDS)


def _save(result: str, *arguments: str) -> None:
    """Save the server that is developed."""
    weather = {**tool("get_weather", *arguments), "description": "Get the weather in a city."}
    alerts = {**tool("get_alerts", "city"), "description": "List the alerts for a city."}
    starts = "import time; time.sleep(0.35)"
    write_server(Path("server.py"), (weather, alerts), result=result, extra=starts)


async def tray(stage: Stage) -> None:
    """Calls that a breakpoint holds, after those that passed before."""
    await stage.ask(*QUESTIONS)
    await stage.press("f4", "I")
    await stage.write("dir:out tool:*_note*")
    await stage.press("enter")
    held, call = stage.runtime.breakpoints, stage.runtime.workbench.request
    for number, (name, arguments) in enumerate(NOTES, 1):
        params = {"name": name, "arguments": arguments}
        calling = call("notes", "tools/call", params, call=f"hand-{number}", seconds=60)
        stage.tasks.append(asyncio.create_task(calling))
        await stage.until(lambda number=number: len(held.messages) == number)
    await stage.press("H", "down")


async def skill(stage: Stage) -> None:
    """A skill that has changed since it was approved."""
    for module in (SERVER, SERVER.with_name("answering_loop.py")):
        shutil.copy(module, Path())
    site = Site(Path())
    spec = replace(site.spec(), command="python3", args=(SERVER.name,), cwd=os.getcwd(), is_own=True)
    stage.runtime.host.add(spec)
    await stage.runtime.host.start(spec.name)
    await _offer_skill(stage, site, 1)
    await stage.press("ctrl+s")
    await asyncio.sleep(SETTLE_SECONDS)
    await stage.press("ctrl+c")
    await _offer_skill(stage, site, 2)


async def _offer_skill(stage: Stage, site: Site, version: int) -> None:
    """Ask to load a skill in one of two versions."""
    folder = "skill://pdf-forms"
    about = "Fill PDF forms with fill_form, field by field, and check the result"
    text = f"---\nname: pdf-forms\ndescription: {about}\n---\n\nRead references/FIELDS.md first.\n"
    files = {f"{folder}/SKILL.md": text, f"{folder}/references/FIELDS.md": "name, date\n" * version}
    if version > 1:
        files[f"{folder}/scripts/fill.py"] = "print()\n"
    site.pages = [[raw_entry(f"{folder}/SKILL.md", files, description=about)]]
    site.files = {uri: content(uri, data) for uri, data in files.items()}
    site.save()
    await stage.press("f5")
    await stage.write("/skills pdf-forms")
    await stage.press("enter")
    await asyncio.sleep(3 * SETTLE_SECONDS)


async def story(stage: Stage) -> None:
    """A call is kept as a test, its server breaks, and the test shows where."""
    await stage.ready(2)
    await stage.press("2", "enter")
    await stage.shoot(1.2, "Call a tool of your server")
    await stage.type_visibly("Hangzhou")
    await stage.show("ctrl+s", seconds=1.8)
    await stage.press("escape")
    await stage.show("C", seconds=2.2, caption="Keep the call as a test")
    await stage.show("ctrl+s", seconds=1)
    await break_server(stage)
    await asyncio.sleep(SETTLE_SECONDS)
    await stage.shoot(2.5, "Break the server: on save, it restarts and the test runs")
    await stage.show("7", seconds=1.8, caption="The test is red")
    await stage.show("enter", seconds=2.8, caption="What was kept, and what came")
    await stage.show("f4", "enter", seconds=4, caption="The messages of that call")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture.

    Attributes:
        name: of the file.
        scene: the actions before the screenshot.
        size: columns and lines.
        themes: pairs of a suffix of the file name and a theme.
        tools: that run when the scene begins: 6 of the demo, or 0 for `mcptui dev`.
    """

    name: str
    scene: Callable[[Stage], Awaitable[None]]
    size: tuple[int, int] = (120, 36)
    themes: tuple[tuple[str, str], ...] = (("", DARK), (LIT, LIGHT))
    tools: int = 6


PICTURES = (
    Picture("story", story, (96, 26), tools=0),
    Picture("main", conversation, (120, 40), (("", DARK),)),
    Picture("narrow", one_question, (80, 24), (("", LIGHT),)),
    Picture("traffic", traffic),
    Picture("filter", filtering, (120, 24)),
    Picture("conversations", conversations, (120, 20)),
    Picture("workbench", workbench, (120, 30)),
    Picture("dev", dev, (120, 26), tools=0),
    Picture("breakpoint", tray, (120, 26)),
    Picture("skill", skill, (100, 26)),
    *(Picture("gallery", scene, gallery.SIZE, tools=tools) for _, scene, tools in gallery.SCENES),
)


def _without_web_fonts(svg: str) -> str:
    """Replace web fonts by the viewer's monospaced font, so that a picture downloads nothing."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono")


def _without_places(svg: str) -> str:
    """Replace the folder of this checkout and the home by others of the same length, so that columns stay."""
    for place, end in ((str(FOLDER.parents[1]), "ada/mcptui"), (os.environ["HOME"], "home/ada")):
        svg = svg.replace(place, "/" + ("srv/" * len(place) + end)[1 - len(place) :])
    return svg


async def take(picture: Picture, ending: str, theme: str) -> None:
    """Open the app, play the scene, and write the picture."""
    from tui.core.servers import ServerSpec
    from tui.runtime.options import Options
    from tui.runtime.runtime import Runtime
    from tui.ui.app.app import McptuiApp

    options = Options(demo=True, theme=theme)
    if not picture.tools:
        _save("Hangzhou: light rain, 21 °C", "city")
        patterns = (f"{os.getcwd()}/*.py",)
        spec = ServerSpec("weather", "python3", ("server.py",), watch=patterns, is_own=True)
        options = replace(Options(theme=theme).with_server(spec, {}), opens=spec.name)
    runtime = Runtime(options, os.environ)
    app = McptuiApp(lambda: runtime, theme=theme, keys={})
    async with app.run_test(size=picture.size) as pilot:
        stage = Stage(app, runtime, pilot)
        if picture.tools:
            await stage.ready(picture.tools)
        await picture.scene(stage)
        await asyncio.sleep(SETTLE_SECONDS)
        files = {f"screens/{name}": svg for name, svg in stage.kept.items()} or {
            picture.name: join(stage.shots or [(stage.screenshot(), 1.0, "")])
        }
        (FOLDER / "screens").mkdir(parents=True, exist_ok=True)
        for name, svg in files.items():
            (FOLDER / f"{name}{ending}.svg").write_text(_without_places(svg), encoding="utf-8")
    await app.close()
    await runtime.shutdown()


def main(names: list[str]) -> None:
    """Take the named pictures, or all of them, each with its own home folder."""
    os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor"}
    for picture in PICTURES:
        if names and not {picture.name, f"{picture.name}:{picture.scene.__name__}"} & {*names}:
            continue
        for ending, theme in picture.themes:
            with tempfile.TemporaryDirectory() as home:
                places = {"CONFIG": "config", "DATA": "data", "STATE": "state", "CACHE": "cache"}
                os.environ |= {f"XDG_{name}_HOME": f"{home}/{folder}" for name, folder in places.items()}
                # The header shows the folder, which must not be that of a real user.
                os.environ["HOME"] = home
                os.mkdir(f"{home}/project")
                os.chdir(f"{home}/project")
                asyncio.run(take(picture, ending, theme))


if __name__ == "__main__":
    main(sys.argv[1:])
