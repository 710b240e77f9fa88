"""How the server of a recording was started or reached, and what is written of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tui.core.errors import UsageError
from tui.core.servers import Reference, ServerSpec
from tui.runtime.copies.origin import Launched, Origin, about, has_secret, origin_of, upper


def redact(text: str) -> str:
    return text.replace("s3cret-value", "[redacted:key]")


def origin(**spec: object) -> Origin:
    return Origin.of_spec(ServerSpec("my-notes", **spec), "/w", configured=False)  # type: ignore[arg-type]


def test_a_configured_server_that_starts_in_the_same_way_is_taken(tmp_path: Path) -> None:
    spec = ServerSpec("s", "python", ("a.py",))
    assert origin_of("s", Launched(("python", "a.py")), [spec], tmp_path).configured
    assert not origin_of("s", Launched(("python", "b.py")), [spec], tmp_path).configured


def test_a_recording_that_does_not_say_how_its_server_started_has_no_origin(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say"):
        origin_of("s", None, [], tmp_path)


def test_a_secret_becomes_a_variable() -> None:
    found = origin(env={"A": "s3cret-value", "B": "plain ${x}", "API_KEY": "short"})
    assert found.value("env", "A", "s3cret-value", redact) == "${A}"
    assert found.value("env", "B", "plain ${x}", redact) == "plain $${x}"
    assert found.value("env", "API_KEY", "short", redact) == "${API_KEY}"
    assert found.value("headers", "Authorization", "x", redact) == "${MY_NOTES_AUTHORIZATION}"


def test_a_reference_of_the_configuration_is_written_as_it_is() -> None:
    found = origin(env={"A": "value"}, references={"env.A": Reference("${OTHER}", ("OTHER",))})
    assert found.value("env", "A", "value", redact) == "${OTHER}"


def test_a_url_with_a_secret_becomes_a_variable() -> None:
    assert origin(url="https://x/mcp").url(redact) == "https://x/mcp"
    assert origin(url="https://u:pw-of-user@x/mcp").url(redact) == "${MY_NOTES_URL}"


def test_names_become_parts_of_variables() -> None:
    assert (upper("my-notes.2"), upper("…")) == ("MY_NOTES_2", "SERVER")


def test_a_mark_counts_as_a_secret() -> None:
    assert has_secret("[redacted:key]", str) and not has_secret("key", str)


def test_an_earlier_run_has_the_folder_of_its_recording_else_the_current_one() -> None:
    assert about(cast(Any, SimpleNamespace(meta=lambda: {"cwd": "/then"}))) == {"cwd": "/then"}
    assert about(cast(Any, SimpleNamespace())) == {"cwd": str(Path.cwd())}
