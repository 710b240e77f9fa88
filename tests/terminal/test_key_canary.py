"""An API key that the endpoint quotes in every error is neither on the screen nor in a file."""

import re
from pathlib import Path

from tests.endpoint import Answer, Request, refuses, says
from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import endpoint_beside

KEY = "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"
PARTS = [KEY[at : at + 8] for at in range(len(KEY) - 7)]
ENTER, QUIT, MODELS = "\r", "\x11", "\x1b[21~"

_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])|\s")


def leaked_in(raw: bytes) -> list[str]:
    text = _ESCAPE.sub(b"", raw).decode("latin-1")
    return [part for part in PARTS if part in text]


def answered(request: Request) -> Answer:
    said = request.json["messages"][-1]["content"]
    return says("Fine, thanks.") if said == "hello" else refuses(401, f"bad key {KEY}: {said[:9]}")


def test_an_api_key_quoted_in_an_error_is_neither_shown_nor_saved(tmp_path: Path):
    with endpoint_beside([answered]) as endpoint:
        endpoint.pages["/v1/models"] = refuses(403, f"no list for {KEY}")
        path = tmp_path / "config.toml"
        profile = f'base_url = "{endpoint.base_url}"\nmodel = "m"\napi_key = "{KEY}"'
        path.write_text(f"[models.m]\n{profile}\n[servers]\n", "utf-8")
        path.chmod(0o600)
        home = tmp_path / "home"
        with TerminalApp.real("--config", str(path), columns=300, env=home_in(home)) as app:
            app.shows("Ask anything")
            app.send("hello" + ENTER)
            app.shows("Fine, thanks.")
            app.until(lambda: "esc stop" not in app.text)
            app.send("and now" + ENTER)
            app.shows("bad key [redacted:models.m.api_key]: and now")
            app.until(lambda: "esc stop" not in app.text)
            app.send("/compact" + ENTER)
            app.until(lambda: len(endpoint.requests) == 3)
            app.shows("bad key [redacted:models.m.api_key]: Summ")
            app.send("/rename" + ENTER)
            app.until(lambda: len(endpoint.requests) == 4)
            app.send(MODELS)
            app.shows("Models", "window unknown")
            app.send("\t")
            app.shows("no list for", "[redacted:models.m.api_key]. The API key lacks permission.")
            app.send("\x1b")
            app.send(QUIT)
            app.ended()
            assert b"Traceback" not in app.raw
            assert leaked_in(bytes(app.raw)) == []
    assert [str(one) for one in home.rglob("*") if one.is_file() and leaked_in(one.read_bytes())] == []
