"""A secret that a server or an endpoint repeats everywhere is neither painted, copied nor written."""

import base64
import re
from pathlib import Path

from tests.configurations import config_file, model, server, table
from tests.endpoint import Answer, Request, calls, chunk, refuses, says
from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import endpoint_beside

LEAKY = Path(__file__).parents[1] / "unit" / "host" / "leaky_server.py"
SECRET = "cv7Zq81kdW4nX2bT"
MARK = "[redacted:servers.leaky.env.LEAKY_TOKEN]"
ENTER, ESCAPE, QUIT = "\r", "\x1b", "\x11"
F2, F3, F4, F6 = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[17~"
LOG, CALL, NEXT = "\x0c", "\x13", "\x1b[6;5~"

_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|\s")
_COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)")


def leaked_in(raw: bytes, secret: str = SECRET) -> list[str]:
    """Return the parts of a secret that a text has, whatever escape sequences are in between."""
    text = _ESCAPE.sub(b"", raw).decode("latin-1")
    parts = (secret[at : at + 8] for at in range(len(secret) - 7))
    return [part for part in parts if part in text]


def press(app: TerminalApp, *keys: str) -> None:
    """Press keys one by one, each once painting has stopped."""
    for key in keys:
        app.send(key)
        app.settled()


def answered(request: Request) -> Answer:
    said = request.json["messages"][-1]
    if said["role"] == "user":
        return calls(("leaky__leak", {"text": "a"}))
    assert SECRET in said["content"]  # the model may get it
    pieces = [chunk(content=SECRET[at : at + 3]) for at in range(0, len(SECRET), 3)]
    return Answer([chunk(content="The token is "), *pieces, chunk(content=". Bye."), chunk("stop")])


def configured(folder: Path, base_url: str) -> str:
    leaky = server("leaky", LEAKY, env={"LEAKY_TOKEN": SECRET}, send_as_is=True)
    talking = table("models.m", model="m", base_url=base_url)
    return config_file(folder, talking, table("approvals", allow=["leaky/*"]), leaky)


def test_no_secret_is_painted_copied_or_written(tmp_path: Path):
    home = tmp_path / "home"
    with endpoint_beside([answered]) as endpoint:
        config = configured(tmp_path, endpoint.base_url)
        environment = home_in(home) | {"SSH_CONNECTION": "here"}
        with TerminalApp.real("--config", config, columns=250, rows=60, env=environment) as app:
            app.shows("Ask anything", "1 of 1")
            app.send("what is the token?" + ENTER)
            app.shows(f"The token is {MARK}. Bye.")
            app.answered()
            press(app, F2, "c")
            app.until(lambda: _COPIED.search(app.raw))
            press(app, "v")
            app.shows(f"it is {MARK}; told False")
            press(app, "q", F6, ENTER, F3, LOG)
            app.shows(f"called with {MARK}")
            press(app, ESCAPE, F3, ENTER, "1")
            app.shows("INSTRUCTIONS", f"Use {MARK}.", "sent to the model as is")
            press(app, "2")
            app.shows(f"Leaks {MARK}.")
            press(app, ENTER, CALL)
            app.shows(f"it is {MARK}; told False")
            press(app, NEXT)
            app.shows(f"leak://{MARK}/notes")
            press(app, ENTER, NEXT, ENTER, NEXT)
            app.shows(f"called with {MARK}")
            press(app, NEXT)
            app.shows("tools/call")
            press(app, ESCAPE, ESCAPE, ESCAPE, F4)
            app.shows("resources/read")
            press(app, "/", "method:tools/call", ENTER, ENTER)
            app.shows(MARK)
            press(app, ESCAPE, ESCAPE, ESCAPE, QUIT)
            app.ended()
            painted = bytes(app.raw)
    assert b"Traceback" not in painted
    assert leaked_in(painted) == []
    copied = [base64.b64decode(found) for found in _COPIED.findall(painted)]
    assert any(MARK.encode() in text for text in copied)
    assert [text for text in copied if leaked_in(text)] == []
    assert [str(one) for one in home.rglob("*") if one.is_file() and leaked_in(one.read_bytes())] == []


KEY = "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"
MODELS = "\x1b[21~"


def refused(request: Request) -> Answer:
    said = request.json["messages"][-1]["content"]
    return says("Fine, thanks.") if said == "hello" else refuses(401, f"bad key {KEY}: {said[:9]}")


def test_an_api_key_quoted_in_an_error_is_neither_shown_nor_saved(tmp_path: Path):
    with endpoint_beside([refused]) as endpoint:
        endpoint.pages["/v1/models"] = refuses(403, f"no list for {KEY}")
        path = config_file(tmp_path, model(endpoint, "m", api_key=KEY), "[servers]")
        home = tmp_path / "home"
        with TerminalApp.real("--config", path, columns=300, env=home_in(home)) as app:
            app.shows("Ask anything")
            app.send("hello" + ENTER)
            app.shows("Fine, thanks.")
            app.answered()
            app.send("and now" + ENTER)
            app.shows("bad key [redacted:models.m.api_key]: and now")
            app.answered()
            app.send("/compact" + ENTER)
            app.until(lambda: len(endpoint.requests) == 3)
            app.shows("bad key [redacted:models.m.api_key]: Summ")
            app.send("/rename" + ENTER)
            app.until(lambda: len(endpoint.requests) == 4)
            app.send(MODELS)
            app.shows("MODELS", "window unknown")
            app.send("\t")
            app.shows("no list for", "[redacted:models.m.api_key]. The API key lacks permission.")
            app.send("\x1b")
            app.send(QUIT)
            app.ended()
            assert b"Traceback" not in app.raw
            assert leaked_in(bytes(app.raw), KEY) == []
    assert [str(one) for one in home.rglob("*") if one.is_file() and leaked_in(one.read_bytes(), KEY)] == []
