"""The command palette: every action of the table, and commands for each server."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.screen import Screen

from tui.core.language.translate import N_, _, localized
from tui.core.matching import has_words, nearness, word_spans
from tui.core.servers import ServerState
from tui.core.text import cells_of, cropped, quoted_name
from tui.ui.dialogs.dialog import CSS, NARROW, Dialog, Frame, heading
from tui.ui.keys.action_table import ACTIONS, MAIN, OF_SCREENS, OPENERS, Action, Context, action, of_context
from tui.ui.keys.bindings import KeyOverrides, first_key, is_opener, key_words, overrides_of
from tui.ui.keys.slash_commands import OWN
from tui.ui.platform.palette import WordedPalette
from tui.ui.widgets.bar import KeyLine, SplitBar
from tui.ui.widgets.server_rows import configured

if TYPE_CHECKING:
    from tui.ui.chat.parts import ChatParts


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the palette.

    Attributes:
        help: its keys, or its syntax.
        words: more words that find it.
        why_not: why it is unavailable now, or "". An unavailable command is only found by searching.
        is_elsewhere: whether it belongs to another screen, which it opens. It is only found by searching.
    """

    title: str
    help: str
    run: Callable[[], object]
    words: str = ""
    why_not: str = ""
    is_elsewhere: bool = False


class CommandProvider(Provider):
    """Provides the palette with the commands of the app (from its method `commands`).

    Texts are never markup.
    """

    def _commands(self) -> Sequence[Command]:
        commands: Callable[[], Sequence[Command]] = getattr(self.app, "commands", tuple)
        return commands()

    async def discover(self) -> Hits:
        for command in self._commands():
            if command.why_not or command.is_elsewhere:
                continue
            line = self._line(Content(command.title), command.help)
            yield DiscoveryHit(line, command.run, text=command.title)

    def _line(self, title: Content, keys: str) -> Content:
        """Return a command with its keys right-aligned, on a second line if one has no room for both."""
        room = min(WIDTH, self.app.size.width) - AROUND
        keys = cropped(keys, room - INDENT)
        gap = room - title.cell_length - cells_of(keys)
        between = " " * gap if gap >= GAP else "\n" + " " * INDENT
        return Content.assemble(title, between, (keys, "$text-dim")) if keys else title

    async def search(self, query: str) -> Hits:
        for command, score in matches(query, self._commands()):
            title, run = Content(command.title), command.run
            for start, end in word_spans(command.title, query):
                title = title.stylize(self.match_style or "", start, end)
            if command.is_elsewhere:
                score *= ELSEWHERE
            if command.why_not:
                score, title = score * BEHIND, Content.styled(command.title, "$text-dim")
                run = partial(self.app.notify, _("Not available: {why}.", why=localized(command.why_not)))
            yield Hit(score, self._line(title, command.help), run, text=command.title)


WIDTH = 80
"""Columns of the palette."""

AROUND = 6
"""Columns of the palette around its lines: edge, padding and scroll bar."""


class Palette(WordedPalette):
    """Textual's palette as a card. Like a `Dialog`, the key that opens it closes it."""

    NO_MATCHES = staticmethod(lambda: _("No matches"))
    HORIZONTAL_BREAKPOINTS = Dialog.HORIZONTAL_BREAKPOINTS
    VERTICAL_BREAKPOINTS = Dialog.VERTICAL_BREAKPOINTS
    DEFAULT_CSS = (
        CSS.replace("Dialog", "Palette")
        + """
    Palette > Frame { height: 90%; max-height: 40; visibility: visible; }
    Palette.-short > Frame { height: 100%; }
    Palette #--container { height: 1fr; }
    Palette SearchIcon { display: none; }
    Palette #--input, Palette #--input.--list-visible { border: none; margin-bottom: 1; background: $field; }
    Palette.-short #--input { margin-bottom: 0; }
    Palette CommandInput, Palette CommandInput:focus { border: none; padding: 0 1; height: 1; }
    Palette #--results { overlay: none; height: 1fr; visibility: visible; }
    Palette CommandList {
        border: none; height: 1fr; max-height: 100%; background: $panel; padding: 0;
        scrollbar-size-vertical: 1; scrollbar-background: $panel; scrollbar-background-hover: $panel;
    }
    Palette CommandList > .option-list--option { text-style: none; padding: 0; }
    Palette CommandList > .option-list--option-highlighted { text-style: bold; }
    """
    )

    def __init__(self) -> None:
        super().__init__(placeholder=_("Search for commands…"))
        self.add_class(NARROW)

    def compose(self) -> ComposeResult:
        with Frame(lambda: None):
            yield SplitBar(heading(_("Commands")), id="title")
            yield from super().compose()
            yield KeyLine([("enter", _("run")), ("esc", _("close"))])

    def closes_on(self, event: events.Key) -> bool:
        keys = overrides_of(self.app).keys_of(action("app.palette")).split(",")
        return is_opener(event.key) and event.key in keys

    def leave(self, key: str) -> None:
        self.call_later(self.run_action, "escape")


GAP, INDENT = 3, 2
"""Minimum number of columns between a command and its keys, and before keys on a line of their own."""

ELSEWHERE, BEHIND = 0.1, 0.01
"""Factors for the scores of other screens' actions and of unavailable actions, which come last."""


def matches(query: str, commands: Sequence[Command]) -> list[tuple[Command, float]]:
    """Return the commands that have every word, each with its score.

    Best have all in a short title, then in the label, with which their other words begin.
    """
    return [
        (
            command,
            1
            + nearness(command.title, query)
            + nearness(command.words, query) / 10
            + 1 / (1 + len(command.title)),
        )
        for command in commands
        if has_words(f"{command.title} {command.help} {command.words}", query)
    ]


_SHORT = {Context.TRAFFIC: N_("Traffic"), Context.BENCH_LIST: N_("Workbench")}
"""Shorter names of contexts."""

_MOVES = (
    *(".back", ".leave", ".next", ".previous", ".read", ".open"),
    *(".next_tab", ".last_tab", ".left", ".right"),
)
"""Suffixes of the ids of actions that only move the cursor or focus within their screen."""


def elsewhere(
    contexts: Sequence[Context], overrides: KeyOverrides, run: Callable[[Action], object]
) -> Iterator[Command]:
    """Yield the actions of screens other than that of `contexts`; `run` opens the action's screen."""
    listed = {one.id for context in (*contexts, *MAIN) for one in of_context(context)}
    for found in ACTIONS:
        if not found.palette or found.id in listed or found.context not in OPENERS:
            continue
        if found.id.endswith(_MOVES):
            continue
        listed.add(found.id)
        what = _(found.help).partition(". ")[0].partition("。")[0]
        title = _(
            "{place}: {action}",
            place=_(_SHORT.get(found.context, found.context.value)),
            action=f"{what[:1].lower()}{what[1:]}",
        )
        key = first_key(overrides.keys_of(found))
        yield Command(title, key, partial(run, found), _words(found), is_elsewhere=True)


def _words(found: Action) -> str:
    """Return more words that find an action, the English ones in every language."""
    return f"{_(found.label)} {found.help} {found.label} {found.id}"


def action_commands(
    why_not: Callable[[Action], str],
    overrides: KeyOverrides,
    run: Callable[[Action], object],
    contexts: Sequence[Context] = (),
    actions: Sequence[Action] = ACTIONS,
) -> Iterator[Command]:
    """Yield the actions, those of `contexts` first, each with the reason if it is unavailable."""
    listed: set[str] = set()  # an action of an add-on may be in several contexts
    for found in sorted(actions, key=lambda one: one.context not in contexts):
        if not found.palette or found.id in listed:
            continue
        if found.context in OF_SCREENS and found.context not in contexts:
            continue
        listed.add(found.id)
        keys = key_words(overrides.keys_of(found))
        if found.context is not Context.ANYWHERE:
            keys = _("{keys} in {place}", keys=keys, place=_(found.context.value).lower())
        if found.anywhere:
            keys = f"{key_words(found.anywhere)}, {keys}"
        keys = ", ".join((keys, *(f"/{spec.name}" for spec in OWN if spec.help == found.help)))
        if why := why_not(found):
            keys = _("not available: {why}", why=localized(why))
        yield Command(_(found.help), keys, partial(run, found), _words(found), why)


def chat_commands(parts: "ChatParts") -> Iterator[Command]:
    """Yield the commands of the chat screen that are not actions."""
    listed = {one.help for one in ACTIONS if one.palette}
    for spec in OWN:
        if spec.help not in listed:
            listed.add(spec.help)
            names = " ".join(f"/{one.name}" for one in OWN if one.help == spec.help)
            write = partial(parts.outbox.write_command, spec)
            yield Command(_(spec.help), f"/{spec.name} {_(spec.usage)}", write, f"{names} {spec.help}")
    yield Command(_("Add a model"), _("adds a profile to the configuration"), parts.current.add_model)


def server_commands(parts: "ChatParts", under: Screen[Any]) -> Iterator[Command]:
    """Yield workbench, start, stop, restart and log of every server, depending on its state."""
    host, navigator = parts.runtime.host, parts.navigator

    def carry_out(request: Callable[[str], None], name: str) -> None:
        if configured(host, name, under.notify) is not None:  # it may have been removed in the meantime
            request(name)

    for status in host.statuses():
        name, shown, state = (
            status.name,
            quoted_name(status.name, 60),
            _("now {state}", state=status.state.in_words),
        )
        open_server, open_log = partial(navigator.open_server, name), partial(navigator.open_log, name)
        yield Command(
            _("Open the workbench of {server}", server=shown), _("call its tools by hand"), open_server
        )
        if status.spec.disabled or status.spec.problem:
            pass  # this server is only listed
        elif status.state in (ServerState.STOPPED, ServerState.STOPPING):
            yield Command(
                _("Start {server}", server=shown), state, partial(carry_out, host.request_start, name)
            )
        else:
            yield Command(
                _("Stop {server}", server=shown), state, partial(carry_out, host.request_stop, name)
            )
            yield Command(
                _("Restart {server}", server=shown), state, partial(carry_out, host.request_restart, name)
            )
        yield Command(
            _("Open the log of {server}", server=shown), _("its stderr, and stray text on stdout"), open_log
        )
