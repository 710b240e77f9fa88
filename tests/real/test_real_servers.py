"""Third-party servers from npm and PyPI, driven by a scripted endpoint over real HTTP."""

from pathlib import Path

from tests.configurations import config_file, model, table
from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import mcptui
from tests.real.installed import EVERYTHING, FILES, TIME, needs

pytestmark = needs(EVERYTHING, FILES, TIME)


async def test_parallel_calls_are_answered_in_call_order_and_the_linter_finds_nothing(tmp_path: Path):
    asked = calls(
        ("everything__echo", {"message": "marco"}),
        ("files__read_text_file", {"path": str(tmp_path / "hello.txt")}),
        ("time__get_current_time", {"timezone": "Europe/Berlin"}),
        ("everything__get-sum", {"a": 2, "b": 40}),
        ("everything__get-structured-content", {"location": "Chicago"}),
        ("files__list_allowed_directories", {}),
    )
    (tmp_path / "hello.txt").write_text("hello from a file", encoding="utf-8")
    commands = {"everything": (EVERYTHING,), "files": (FILES, tmp_path), "time": (TIME,)}
    tables = [
        table(f"servers.{name}", command=str(program), args=[str(one) for one in args])
        for name, (program, *args) in commands.items()
    ]
    async with Endpoint([asked, says("Done.")]) as endpoint:
        path = config_file(tmp_path, model(endpoint), *tables)
        done = await mcptui("run", "--json", "--approve", "all", "--config", path, "go")
        told = [message["content"] for message in endpoint.requests[1].json["messages"][-6:]]
    assert done.code == 0 and not any(result["is_error"] for result in done.of_type("tool_result"))
    parts = ("marco", "hello from a file", "Europe/Berlin", "42", "conditions", str(tmp_path))
    assert [words for words, content in zip(parts, told, strict=True) if words not in content] == []
    linted = await mcptui("traffic", "--lint", "--json")
    assert linted.code == 0, linted.err  # not 2, which prints no findings either
    assert [one for one in linted.objects if one["severity"] != "hint"] == []
