"""Terminals of every size: the program starts in them and stays usable during a resize."""

from unicodedata import east_asian_width

from tests.terminal.pty_app import FRAME_ENDS, TerminalApp

ENTER, CONVERSATION, SERVERS, TRACE, COMPOSER = "\r", "\x1bOQ", "\x1bOR", "\x1b[17~", "\x1b[15~"
WIDTH_QUESTION, TWO_CELLS = b"\x1b[6n", "\x1b[2;7R"


def fits(app: TerminalApp) -> bool:
    """Whether the last line of the terminal is the footer and the first is not empty."""
    return "ctrl+q quit" in app.lines[-1] and bool(app.lines[0].strip())


def is_usable(app: TerminalApp) -> None:
    """Focus every region by its key, and type."""
    app.send(SERVERS)
    app.shows("weather", "notes", "RUNNING")
    app.send(TRACE)
    app.shows("turn 1", "answered")
    app.send(CONVERSATION)
    app.shows("Hello.")
    app.send(COMPOSER + "still writing")
    app.shows("still writing")
    app.send("\x7f" * len("still writing"))
    app.until(lambda: "still writing" not in app.text)
    app.until(lambda: fits(app))


def test_the_app_stays_usable_while_the_window_is_resized():
    with TerminalApp.fake("calm", columns=120, rows=40) as app:
        app.shows("2 of 3")
        app.send("hi" + ENTER)
        app.shows("Hello.")
        for columns, rows in [(80, 24), (1, 1), (200, 60), (20, 5), (99, 23), (100, 24), (120, 40)]:
            app.resize(columns, rows)
            if columns >= 80:
                app.until(lambda: fits(app))
                is_usable(app)
        app.quits()


def test_in_a_tiny_window_composer_status_and_footer_keep_their_lines():
    with TerminalApp.fake("calm", columns=20, rows=5) as app:
        app.shows("› Ask anything", "enter send", "demo model")
        for text in ("some more words " * 20, "\x0a" * 9 + "end"):
            app.send(text)
            for number, size in enumerate(((20, 6), (40, 4), (20, 5))):
                app.resize(*size)
                app.settled()
                app.send(f"ж{number}")
                app.shows(f"ж{number}", "enter send", "demo model")
                assert not [line for line in app.lines[-2:] if set(line) & set("▁▂▃▄▅▆▇█")]


def test_the_app_starts_in_a_window_without_room_and_is_usable_once_it_grows():
    with TerminalApp.real("--demo", "--no-start", columns=1, rows=1) as app:
        app.until(lambda: app.raw.count(FRAME_ENDS) > 1)
        app.resize(120, 40)
        app.shows("Ask anything", "SERVERS")
        app.resize(1, 1)
        app.resize(120, 40)
        app.send("hi")
        app.shows("› hi")
        app.quits()


def test_the_app_starts_whatever_the_environment_says_about_the_size():
    with TerminalApp.real("--demo", "--no-start", env={"COLUMNS": "9" * 20, "LINES": "-5"}) as app:
        app.until(lambda: app.raw.count(FRAME_ENDS) > 1)
        app.quits()


def test_signs_that_the_terminal_draws_two_cells_wide_are_replaced():
    with TerminalApp.fake("calm", columns=120, rows=40) as app:
        app.shows("2 of 3", "─" * 40)
        assert app.raw.count(WIDTH_QUESTION) == 1
        app.send(TWO_CELLS)
        app.shows("2 of 3", "-" * 40)
        app.until(lambda: not [sign for sign in app.text if east_asian_width(sign) == "A"])
        app.send("“hi…”" + ENTER)
        app.shows('"hi⋯"', "Hello.")
        assert not [sign for sign in app.text if east_asian_width(sign) == "A"]
        app.quits()
