"""Every screen, for docs/pictures.md: how to get there, what it shows, and the key that opens it.

python -m tests.pictures gallery        takes all of them
python -m tests.gallery                 writes the page
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.ui.keys.action_table import ACTIONS, Context
from tui.ui.keys.bindings import first_key

if TYPE_CHECKING:
    from tests.pictures import Stage

PAGE = Path(__file__).parents[1] / "docs" / "pictures.md"
SIZE = (120, 40)
C = Context


@dataclass(frozen=True, slots=True)
class Shown:
    """A screen.

    Attributes:
        name: of the files.
        title: its heading on the page.
        about: what it shows, as a sentence.
        key: the action that opens it, or words.
        contexts: whose keys work there.
        has: words on it, by which the script knows that it has got there.
    """

    name: str
    title: str
    about: str
    key: str
    contexts: tuple[Context, ...] = ()
    has: str = ""


CHAT = (
    Shown(
        "chat",
        "Conversation",
        "The conversation with its tool calls, the servers, and the trace of the turn.",
        "focus.composer",
        (C.COMPOSER, C.CONVERSATION, C.SERVERS, C.TRACE),
    ),
    Shown(
        "approval",
        "Approval",
        "A call that may change something waits for your answer, with all its arguments.",
        "focus.conversation",
        (C.QUESTION,),
    ),
    Shown(
        "palette",
        "Commands",
        "Every command, with its key, found by any of its words.",
        "app.palette",
        has="New conversation",
    ),
    Shown(
        "keys", "Keys", "All keys of the current screen, and of the others.", "app.help", has="ype to filter"
    ),
    Shown("themes", "Themes", "Each theme is shown while it is selected.", "app.theme", has="THEME"),
    Shown("sessions", "Sessions", "Saved conversations, searched in full.", "chat.sessions", (C.SESSIONS,)),
    Shown("models", "Models", "The models to switch to, with window and price.", "chat.models", (C.MODELS,)),
    Shown(
        "model",
        "Add a model",
        "A model of any provider, or of a program of yours.",
        "model.add",
        has="Add model",
    ),
    Shown(
        "result",
        "Tool result",
        "The whole result of a call, as text, tables, pictures or a tree.",
        "chat.result",
        (C.RESULT,),
    ),
    Shown("export", "Export", "A conversation as Markdown, HTML or JSON.", "chat.export", has="Markdown"),
    Shown("rules", "Rules", "Which tool calls run without a question.", "rules.open", (C.RULES,)),
    Shown("log", "Server log", "What a server writes to stderr.", "servers.log", (C.LOG,)),
    Shown("doctor", "Doctor", "Why a server does not work, step by step.", "servers.doctor", (C.DOCTOR,)),
    Shown(
        "server",
        "Add a server",
        "A server of yours: how it starts, and all its settings.",
        "servers.add",
        has="Add server",
    ),
    Shown("events", "Events", "What servers report, and what is done about it.", "events.open", (C.EVENTS,)),
)
TRAFFIC = (
    Shown("traffic", "Traffic", "Every message of every server and model.", "traffic.open", (C.TRAFFIC,)),
    Shown("entry", "Entry", "A message as a tree, beside its request.", "traffic.read", (C.ENTRY,)),
    Shown(
        "statistics",
        "Statistics",
        "Requests, failures and latency of each server and tool.",
        "traffic.stats",
        (C.STATISTICS,),
    ),
    Shown("waterfall", "Waterfall", "Where the time of a turn went.", "traffic.waterfall", (C.WATERFALL,)),
    Shown("comparison", "Comparison", "Two messages, line by line.", "traffic.compare", (C.COMPARISON,)),
    Shown("held", "Breakpoint", "Messages held on their way, to edit or drop.", "tray.open", (C.TRAY,)),
)
BENCH = (
    Shown(
        "overview",
        "Overview",
        "A server's instructions, abilities and process.",
        "servers.open",
        has="PERMISSIONS",
    ),
    Shown(
        "tools",
        "Workbench",
        "A tool as a form, its calls, and the result of the last one.",
        "servers.open",
        (C.WORKBENCH, C.BENCH_LIST, C.BENCH_FORM),
        has="Added note",
    ),
    Shown(
        "resources",
        "Resources",
        "The resources of a server, and the content of one.",
        "bench.resources",
        has="notes://all",
    ),
    Shown(
        "prompts",
        "Prompts",
        "The prompts of a server, and the messages of one.",
        "bench.prompts",
        has="summarize_notes",
    ),
)
DEV = (
    Shown("keep", "Keep a call", "A call becomes a test, with the parts that vary.", "keep.call", has="KEEP"),
    Shown(
        "watch",
        "After a save",
        "What a save changed in the tools, and for whom.",
        "`mcptui dev`",
        has="restarted",
    ),
    Shown("tests", "Tests", "All kept calls with their last results.", "tests.open", (C.TESTS,)),
    Shown("review", "Review", "What a test expects, and what came.", "tests.review", (C.REVIEW,)),
)
SKILLS = (
    Shown(
        "question",
        "Question",
        "What a server asks, or what you agree to; here a skill that has changed.",
        "opens by itself",
        (C.SERVER_QUESTION,),
    ),
    Shown("skills", "Skills", "The skills of a server, and which are approved.", "bench.skills", (C.SKILLS,)),
)
SCREENS = (*CHAT, *TRAFFIC, *BENCH, *DEV, *SKILLS)


async def chat(stage: "Stage") -> None:
    from tests.pictures import QUESTIONS

    main, act = stage.app.main, stage.app.action_act
    await stage.start_slow()
    await stage.ask(*QUESTIONS)
    await stage.keep("chat")
    main.composer.load_text("add a note: call the dentist")
    await stage.press("enter")
    await stage.until(lambda: main.parts.approvals.current is not None)
    await stage.keep("approval")
    await stage.press("escape")
    await stage.until(lambda: not main.parts.turns.running)
    for keys, name in (("ctrl+p", "palette"), ("f1", "keys"), ("ctrl+t", "themes")):
        await stage.press("f5", keys)
        await stage.keep(name)
        await stage.press("escape")
    for action, name in (("chat.sessions", "sessions"), ("chat.models", "models")):
        await act(action)
        await stage.keep(name)
        if name == "models":
            await stage.press("ctrl+n")
            await stage.keep("model")
            await stage.press("escape")
        await stage.press("escape", "escape")
    await stage.press("f2", "home", "down")
    for key, name in (("v", "result"), ("x", "export")):
        await stage.press(key)
        await stage.keep(name)
        await stage.press("escape")
    for key, name in (("P", "rules"), ("l", "log"), ("H", "doctor"), ("a", "server")):
        await stage.press("f3", "end", key)
        await stage.keep(name)
        await stage.press("escape")
    await act("events.open")
    await stage.keep("events")


async def traffic(stage: "Stage") -> None:
    from tests.pictures import QUESTIONS, tray

    await stage.start_slow()
    await stage.ask(*QUESTIONS, "count slowly for 2 seconds", "run always_fails")
    await stage.press("f4")
    await stage.keep("traffic")
    await stage.press("S")
    await stage.keep("statistics")
    await stage.press("escape", "slash")
    await stage.write("tool:count_slowly")
    await stage.press("enter", "end", "w")
    await stage.keep("waterfall")
    await stage.press("escape", "enter")
    await stage.keep("entry")
    await stage.press("escape", "escape", "slash")
    await stage.write("dir:in method:tools/call")
    await stage.press("enter", "home", "d", "down", "d")
    await stage.keep("comparison")
    await stage.press("escape", "escape", "escape")
    await tray(stage)
    await stage.keep("held")


async def bench(stage: "Stage") -> None:
    from tests.pictures import workbench

    await stage.press("f3", "down", "enter", "1")
    await stage.keep("overview")
    await stage.press("escape", "f3", "home")
    await workbench(stage)
    await stage.keep("tools")
    for key, name in (("3", "resources"), ("4", "prompts")):
        await stage.press(key, "home", "ctrl+s")
        await stage.keep(name)


async def dev(stage: "Stage") -> None:
    from tests.pictures import break_server, dev

    await dev(stage, at_keep=lambda: stage.keep("keep"))
    await stage.keep("watch")
    await break_server(stage)
    await stage.press("7")
    await stage.keep("tests")
    await stage.press("enter")
    await stage.keep("review")


async def skills(stage: "Stage") -> None:
    from tests.pictures import skill

    await skill(stage)
    await stage.keep("question")
    await stage.press("escape", "f3", "end", "enter", "8")
    await stage.keep("skills")


SCENES: tuple[tuple[tuple[Shown, ...], Callable[["Stage"], Awaitable[None]], int], ...] = (
    (CHAT, chat, 6),
    (TRAFFIC, traffic, 6),
    (BENCH, bench, 6),
    (DEV, dev, 0),
    (SKILLS, skills, 6),
)
"""Screens, how to get to them, and the tools that run before that, as in `tests.pictures.Picture`."""


def named(name: str) -> Shown:
    """Return the screen of this name."""
    return next(one for one in SCREENS if one.name == name)


def page() -> str:
    """Return docs/pictures.md."""
    keys = {found.id: first_key(found.keys) for found in ACTIONS}
    lines = [
        "# Pictures of every screen",
        "",
        "At 120 × 40, in the themes `harbor` and `quay`: you see the one that fits your browser's colors. "
        "`python -m tests.pictures gallery` takes them, from the real program and sample servers.",
    ]
    for one in SCREENS:
        key = f"`{keys[one.key]}`" if one.key in keys else one.key
        source = f"pictures/screens/{one.name}"
        lines += [
            "",
            f"## {one.title}",
            "",
            f"{one.about} Key: {key}.",
            "",
            "<picture>",
            f'  <source media="(prefers-color-scheme: light)" srcset="{source}-light.svg">',
            f'  <img alt="{one.about}" src="{source}.svg">',
            "</picture>",
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
