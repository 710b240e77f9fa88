"""Servers and a model that try to control the terminal, checked in every byte that the program writes."""

import re

from tests.conftest import wait_until
from tests.endpoint import Request, calls, says
from tests.terminal.pty_app import TerminalApp, alive
from tests.terminal.set_ups import config_with, endpoint_beside
from tui.ui.platform.ambiguous import PROBE

SERVERS = {
    "ansi": ("ansi_everywhere", {}),
    "markup": ("textual_markup", {}),
    "tty": ("writes_dev_tty", {}),
    "flood": ("stderr_flood", {"FAULT_MIB": "4"}),
}
EVIL = (
    "\x1b[31mred \x1b[2J\x1b[H\x1b[?1049l\x1b[8mhidden \x1b]0;TITLE\x07 \x1b]8;;https://evil.example\x1b\\x"
    "\x1b]8;;\x1b\\ \x1b]52;c;cm0gLXJm\x07 \x1bP$q q\x1b\\ \x1b[201~\r \x9b31mC1 \x9d0;T\x9c \x1b[6n\x00\x08"
    " \u202eevil\u200b [/x][@click=app.quit]go[/] [b"
)
ANSWER = (
    f"# {EVIL}\n\n- {EVIL}\n\n| {EVIL} | b |\n|--|--|\n| {EVIL} | c |\n\n```{EVIL}\n{EVIL}\n```\nThe end."
)

SET_UP = rb"\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026)[hl]|\?(?:2026|2048)\$p|>\d+u"
TITLE = rb"\x1b\[2[23];2t|\x1b\]2;(?:[^\x00-\x1f\x7f\xc2]|\xc2[^\x80-\x9f]){0,320}\x1b\\"
OF_THE_PROGRAM = re.compile(
    rb"\x1b\[(?:[\d;]*m|\d+;\d+H|[1-9]\d+[XC]|%s)|\x1b\]22;(?:default|pointer|text)(?:\x07|\x1b\\)|%s"
    % (SET_UP, TITLE)
)
"""Styles, cursor movements, erasing, the mouse pointer, the window's title, and the queries at the start."""

STRAY = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
ENTER, HELP, SERVERS_KEY, TRACE, LOG, EVERYTHING, ESCAPE = (
    *("\r", "\x1bOP", "\x1bOR", "\x1b[17~", "\x0c", "\x10", "\x1b"),
)
TRAFFIC = "\x1bOS"


def call_everything(request: Request):
    """Call every tool offered to the model with hostile arguments."""
    names = [tool["function"]["name"] for tool in request.json["tools"]]
    return calls(*((name, {"text": EVIL, EVIL: [EVIL]}) for name in names), text=EVIL)


def look_around(app: TerminalApp) -> None:
    """Open everything that shows text from servers."""
    for keys, seen in (
        (SERVERS_KEY + " ", "command"),
        (LOG, "LOG ansi"),
        (ESCAPE, "TRACE"),
        (ENTER, "Call  ctrl+s"),
        (ESCAPE, "TRACE"),
        (TRAFFIC, "TRAFFIC"),
        (ENTER, "explain"),
        (ESCAPE, "enter open   esc back   / filter"),
        (ESCAPE, "TRACE"),
        (TRACE + ENTER, "TRACE"),
        (EVERYTHING, "earch"),
        (ESCAPE, "TRACE"),
        (HELP, "Anywhere"),
        (ESCAPE, "TRACE"),
    ):
        app.send(keys)
        app.shows(seen)


def written_by_the_program(app: TerminalApp) -> str:
    """Return all output to the terminal without the sequences that the program uses."""
    whole = re.sub(rb"\x1b[^A-Za-z]*$", b"", bytes(app.raw))  # the last sequence may be incomplete
    whole = whole.replace(PROBE.encode(), b"", 1)  # only at the start
    return OF_THE_PROGRAM.sub(b"", whole).decode("utf-8", "ignore")


def stray_in(app: TerminalApp) -> list[str]:
    """Return the control sequences in the output that are none of the program's, with their surroundings."""
    rest = written_by_the_program(app)
    return [rest[max(0, at.start() - 20) : at.end() + 20] for at in STRAY.finditer(rest)]


def test_no_control_sequence_from_servers_or_a_model_reaches_the_terminal(tmp_path):
    with endpoint_beside([call_everything, says(ANSWER)]) as endpoint:
        config = config_with(tmp_path, SERVERS, endpoint=endpoint.base_url, rules=["*/*"])
        with TerminalApp.real("--config", config) as app:
            app.shows("4 of 4")
            app.send("go" + ENTER)
            app.shows("The end.", seconds=30)
            app.answered()
            look_around(app)
            assert stray_in(app) == []
            assert b"PWNED-VIA-DEV-TTY" not in app.raw
            # Sequences that the program may use, in places where they would come from the payload.
            assert b"\x1b[?1049l" not in app.raw
            assert app.raw.count(b"\x1b[?25l") == app.raw.count(b"\x1b[?1004h")
            assert b"\x1b[31mred" not in app.raw and b"\x1b[8mhidden" not in app.raw
            processes = app.children()
            app.quits()
            wait_until(lambda: not alive(processes), 5, "every process to be gone")
