"""Takes the pictures of README.md: the real app, its real sample servers and demo model, as SVG.

    python -m tests.pictures

writes docs/pictures/*.svg. Run it again when the screen changes.
"""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
QUESTIONS = ("What's the weather in Hangzhou?", "add a note: buy milk", "which notes mention milk?")


async def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the app did not get there"
        await asyncio.sleep(0.02)


def _without_fonts_from_afar(svg: str) -> str:
    """A picture asks nobody for a font; whoever shows it has a monospaced one."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono")


async def take(name: str, size: tuple[int, int], theme: str, questions: tuple[str, ...]) -> None:
    """Ask the questions, let every call run, and write one picture."""
    from tui.options import Options
    from tui.runtime import Runtime
    from tui.ui.app import McptuiApp

    runtime = Runtime(Options(demo=True, theme=theme), os.environ)
    app = McptuiApp(lambda: runtime, theme=theme, keys={})
    async with app.run_test(size=size) as pilot:
        await _until(lambda: runtime.is_ready and sum(s.tools for s in runtime.host.statuses()) == 6)
        for question in questions:
            app.composer.load_text(question)
            await pilot.press("enter")
            await _until(lambda: app.chat.running)
            while app.chat.running:
                if app.approvals.current and app.approvals.ripe:
                    app.action_question_once()
                await asyncio.sleep(0.02)
        app.action_focus_composer()
        await asyncio.sleep(0.5)
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{name}.svg").write_text(
            _without_fonts_from_afar(app.export_screenshot(title="mcptui", simplify=True)), encoding="utf-8"
        )
    await app.close()
    await runtime.shutdown()


def main() -> None:
    """Take all pictures, with a home of their own."""
    with tempfile.TemporaryDirectory() as home:
        places = {"CONFIG": "config", "DATA": "data", "STATE": "state", "CACHE": "cache"}
        os.environ |= {f"XDG_{name}_HOME": f"{home}/{folder}" for name, folder in places.items()}
        os.environ |= {"TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor"}
        asyncio.run(take("main", (120, 40), "harbor", QUESTIONS))
        asyncio.run(take("narrow", (80, 24), "quay", QUESTIONS[:1]))


if __name__ == "__main__":
    main()
