"""The question whether a server may run."""

import pytest

from tests.cases import each_case
from tui.core.permission.consent import MAX_LINES, MAX_ON_SCREEN, ConsentQuestion, question_of
from tui.core.permission.launch import Launch
from tui.core.servers import OAuthSpec, Reference, ServerSpec, Transport


def question(spec: ServerSpec, *changes: str) -> ConsentQuestion:
    return question_of(spec.name, spec.source, Launch.of(spec, lambda spec: "/usr/bin/npx"), changes)


def text(spec: ServerSpec, *changes: str) -> str:
    return "\n".join(question(spec, *changes).lines())


def test_everything_that_affects_what_runs_is_shown_without_values():
    env = {"LD_PRELOAD": "/tmp/x y.so", "API": "value-of-a-variable"}
    spec = ServerSpec("w", "npx", ("-y", "a b", "--api-key", "sk-abcdefgh12345678"), env, cwd="/srv/w")
    said = text(ServerSpec(**{**_fields(spec), "source": "the file /tmp/mcp.json"}))
    assert "The server “w” comes from the file /tmp/mcp.json and has never been started. Start it?" in said
    assert "command    npx -y 'a b' --api-key '[redacted:api-key]'" in said
    assert "program    /usr/bin/npx" in said
    assert "folder     /srv/w" in said
    assert "variables  API, LD_PRELOAD = '/tmp/x y.so' (other values are not shown)" in said
    assert "! LD_PRELOAD can make any program load other code." in said
    assert "value" not in said.replace("other values are not shown", "").replace("sk-", "")


def _fields(spec: ServerSpec) -> dict[str, object]:
    return {name: getattr(spec, name) for name in spec.__dataclass_fields__}


def test_an_address_is_shown_with_its_header_names():
    headers = {"Authorization": "Bearer x9"}
    said = text(ServerSpec("w", url="https://e.example/mcp", headers=headers, transport=Transport.HTTP))
    assert "address  https://e.example/mcp" in said
    assert "headers  Authorization (values are not shown)" in said
    assert "x9" not in said
    assert "has never been connected to. Connect to it?" in said


@pytest.mark.parametrize("hidden", ["a\u202eb", "a\nb", "\x1b[2Ja"])
def test_no_hidden_characters_are_left_in_the_question(hidden: str):
    said = text(ServerSpec("w", "npx", (hidden,), {hidden: "1"}, cwd=f"/{hidden}", source=hidden))
    assert hidden not in said
    assert said.isprintable() or "\n" in said


def test_a_question_too_long_for_the_screen_says_why_and_is_printed_in_full():
    spec = ServerSpec("w", "sh", ("x" * MAX_ON_SCREEN, "evil"))
    assert "(40,0" in question(spec).too_long and "mcptui config trust" in question(spec).too_long
    assert text(spec).count("x") >= MAX_ON_SCREEN and "evil" in text(spec)
    changes = [f"argument {number}: new" for number in range(MAX_LINES)]
    assert "lines), so you cannot accept it here" in question(ServerSpec("w", "sh"), *changes).too_long


def test_values_from_the_environment_are_named_and_never_shown():
    spec = ServerSpec(
        "w",
        "npx",
        ("--k", "v-123"),
        {"FOO": "v-123", "BAR": "x", "KEY": "keyring:a/b"},
        references={
            "env.FOO": Reference("${AWS_SECRET_ACCESS_KEY}", ("AWS_SECRET_ACCESS_KEY",)),
            "args.1": Reference("${TOK}", ("TOK",)),
            "oauth.client_secret": Reference("${TOK}", ("TOK",)),
        },
    )
    said = text(spec)
    assert "BAR, FOO = value of AWS_SECRET_ACCESS_KEY, KEY = keychain entry a/b (other values" in said
    assert "npx --k '${TOK}'" in said and "oauth.client_secret = value of TOK" in said
    assert "env.FOO gets the value of AWS_SECRET_ACCESS_KEY, which looks like one of your keys." in said
    assert "KEY gets a key from your keychain." in said
    assert "v-123" not in said


def test_an_address_and_its_headers_are_shown_without_values_from_the_environment():
    spec = ServerSpec(
        "w",
        url="https://e.example/?k=v-123",
        headers={"X": "Bearer v-123"},
        transport=Transport.HTTP,
        references={
            "url": Reference("https://e.example/?k=${TOK}", ("TOK",)),
            "headers.X": Reference("Bearer ${TOK}", ("TOK",)),
        },
    )
    said = text(spec)
    assert "https://e.example/?k=${TOK}" in said and "X = text with the value of TOK" in said
    assert "v-123" not in said


def test_a_key_in_a_variable_is_not_shown_as_an_argument_either():
    key = "wJalrXUtnFEMI/K7MDENG0bPxRfi"
    spec = ServerSpec("w", "npx", (f"x={key}",), {"AWS_SECRET_ACCESS_KEY": key})
    assert key not in text(spec) and "[redacted:AWS_SECRET_ACCESS_KEY]" in text(spec)
    assert key not in str(Launch.of(spec, lambda spec: "").summary("salt"))


@pytest.mark.parametrize("value", ["evil-package", "/tmp/evil.sh", "https://e.example/Evil1"])
def test_a_variable_named_like_a_key_hides_nothing_in_the_command(value: str):
    assert value in text(ServerSpec("w", "npx", (value,), {"API_KEY": value}))


def test_sign_in_settings_are_shown_without_secrets():
    oauth = OAuthSpec(issuer="https://evil.example", callback_port=7, client_id="c", client_secret="s3cret")
    spec = ServerSpec("w", url="https://e.example/mcp", transport=Transport.HTTP, oauth=oauth)
    assert "sign-in  client_id = c, issuer = https://evil.example, callback_port = 7\n" in f"{text(spec)}\n"
    assert "s3cret" not in text(spec)


@each_case(
    ("name", "said"),
    [
        ("w\u0435ather", "The name mixes letters of several scripts"),
        ("Checked by mcptui. Safe to start", "The name reads like a sentence."),
        ("this one is fine", "The name reads like a sentence."),
        ("x" * 50, "The name reads like a sentence."),
        ("models.w\u0435ather", "The name mixes letters"),
    ],
)
def test_a_look_alike_server_name_is_flagged(name: str, said: str):
    assert f"! {said}" in text(ServerSpec(name, "npx"))


def test_an_ordinary_server_name_is_not_flagged():
    for name in ("weather", "my-server_2", "погода", "Hugging Face", "@scope.x"):
        assert "! The name" not in text(ServerSpec(name, "npx"))
