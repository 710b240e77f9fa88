"""The hash of what runs, and how changes to it are described."""

import dataclasses
from typing import Any

import pytest

from tests.cases import each_case
from tui.core.permission.launch import Launch, spelled
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.servers import OAuthSpec, Reference, ServerSpec, Transport

SPEC = ServerSpec("s", "uvx", ("tool", "--token", "tk-71hQz9aa"), {"A": "1"}, headers={"B": "2"}, cwd="/srv")


def launch(spec: ServerSpec = SPEC, program: str = "/bin/uvx", **fields: Any) -> Launch:
    return Launch.of(dataclasses.replace(spec, **fields), lambda spec: program)


@each_case(
    "fields",
    [
        {"command": "npx"},
        {"args": ("tool", "--token", "tk-71hQz9aa", "more")},
        {"args": ("tool --token", "tk-71hQz9aa")},
        {"env": {"A": "2"}},
        {"env": {"A": "1", "B": "1"}},
        {"env": {}},
        {"cwd": "/other"},
        {"cwd": None},
        {"url": "https://example.com"},
        {"headers": {"B": "3"}},
        {"transport": Transport.LINES},
        {"sse_fallback": True},
        {"oauth": OAuthSpec(issuer="https://example.com")},
        {"oauth": OAuthSpec(client_secret="x")},
        {"oauth": OAuthSpec(identity_provider=IdentityProvider("acme", "https://idp.example", "c"))},
        {"program": "/tmp/uvx"},
    ],
)
def test_any_change_to_what_runs_changes_the_hash_and_is_named(fields: dict[str, Any]):
    before, after = launch(), launch(**fields)
    assert before.digest() != after.digest()
    assert after.changes(before.summary("salt"), "salt")


@each_case(
    "fields", [{"name": "other"}, {"autostart": False}, {"pins": ("a",)}, {"source": "x"}, {"roots": ("/a",)}]
)
def test_settings_that_do_not_affect_what_runs_do_not_change_the_hash(fields: dict[str, Any]):
    assert launch().digest() == launch(**fields).digest()


def test_changes_are_named_without_variable_values_and_secrets():
    before = launch().summary("salt")
    after = launch(
        args=("tool", "--token", "tk-71hQz9bb", "--verbose"), env={"A": "x9secret", "LD_PRELOAD": "/x.so"}
    )
    assert after.changes(before, "salt") == [
        "argument 4: new, --verbose",
        "variable LD_PRELOAD: was not set, is now /x.so",
        "variable A: value changed",
    ]


def test_values_that_affect_what_runs_and_are_not_secret_are_shown_when_they_change():
    oauth = OAuthSpec(issuer="https://a.example", callback_port=7)
    before = launch(env={"LD_PRELOAD": "/x.so"}, oauth=oauth)
    after = launch(env={"LD_PRELOAD": "/y.so"}, oauth=dataclasses.replace(oauth, issuer="https://b.example"))
    assert after.changes(before.summary("salt"), "salt") == [
        "oauth.issuer: was https://a.example, is now https://b.example",
        "variable LD_PRELOAD: was /x.so, is now /y.so",
    ]
    gone = launch(env={}, oauth=OAuthSpec(callback_port=7))
    assert "oauth.issuer: was https://a.example, is now not set" in gone.changes(before.summary("s"), "s")


def test_for_a_file_without_stored_values_a_change_shows_only_the_current_value():
    summary = launch(env={"LD_PRELOAD": "/x.so"}).summary("salt")
    del summary["values"]
    summary["env"] = {"LD_PRELOAD": "0123"}
    assert launch(env={"LD_PRELOAD": "/y.so"}).changes(summary, "salt") == [
        "variable LD_PRELOAD: is now /y.so"
    ]


def test_a_variable_that_loads_code_keeps_its_value_although_its_name_suggests_a_secret():
    assert launch(env={"GIT_TOKEN": "v-1", "LD_AUDIT": "/x"}).open_values == {"variable LD_AUDIT": "/x"}


def test_the_stored_summary_contains_no_secrets_or_values():
    kept = str(launch().summary("salt"))
    assert "tk-71hQz9aa" not in kept and "'A': '1'" not in kept
    assert kept != str(launch().summary("other salt"))
    references = {"env.LD_PRELOAD": Reference("${X}", ("X",))}
    found = launch(env={"LD_PRELOAD": "/secret"}, references=references)
    assert "/secret" not in str(found.summary("salt"))


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({"args": ("tool\u202e", "--token", "tk-71hQz9aa")}, "argument 1: was tool, is now tool[U+202E]"),
        ({"args": ("tool", "--token", "tk-71hQz9bb")}, "a value that is not shown"),
        ({"program": "/tmp/uvx"}, "program on this computer: was /bin/uvx, is now /tmp/uvx"),
    ],
)
def test_a_change_is_named_with_hidden_characters_visible_and_without_secrets(fields: Any, change: str):
    assert launch(**fields).changes(launch().summary("salt"), "salt") == [change]


KEY = Reference("${TOK}", ("TOK",))


def test_a_rotated_token_is_not_a_change_but_another_variable_is():
    def one(value: str, reference: Reference = KEY) -> Launch:
        places = dict.fromkeys(("env.A", "args.2", "url", "headers.B"), reference)
        values = {"args": ("tool", "--token", value), "env": {"A": value}, "headers": {"B": value}}
        return launch(**values, references=places)

    assert one("first").digest() == one("second").digest()
    assert one("first").digest() != one("first", Reference("${AWS_SECRET}", ("AWS_SECRET",))).digest()
    assert one("first").digest() != launch(args=("tool", "--token", "${TOK}"), env={"A": "${TOK}"}).digest()
    assert "first" not in str(one("first").summary("salt"))


def test_a_path_and_instructions_taken_from_the_environment_are_part_of_the_hash():
    def one(value: str) -> Launch:
        return launch(args=(value,), references={"args.0": Reference("${TOOLS}/run.py", ("TOOLS",))})

    assert one("/a/run.py").digest() != one("/b/run.py").digest()
    assert one("/a/run.py").shown_words == ("uvx", "${TOOLS}/run.py")
    other = launch(references={"instructions": Reference("${AWS_SECRET}", ("AWS_SECRET",))})
    assert other.digest() != launch().digest()


def test_the_target_of_a_secret_argument_is_hashed_but_not_shown_and_a_lost_link_is_named():
    def one(target: str) -> Launch:
        return dataclasses.replace(launch(), links={"args.2": target})

    assert one("/a").digest() != one("/b").digest()
    assert one("/b").changes(one("/a").summary("salt"), "salt") == ["link of argument 3: target changed"]
    assert "/a" not in str(one("/a").summary("salt"))
    shown = {**one("/b").summary("salt"), "links": {"args.2": "/a"}}
    assert one("/b").changes(shown, "salt") == ["link of argument 3: led to /a"]
    before = dataclasses.replace(launch(), links={"program": "/opt/uvx"}).summary("")
    assert launch().changes(before, "") == ["link of program: led to /opt/uvx, is no longer a link"]


@each_case(
    ("text", "shown"),
    [
        ("uvx mcp-server-time==1.2.3", "uvx mcp-server-time==1.2.3"),
        ("a\u200bb", "a[U+200B]b"),
        ("a\u202eb", "a[U+202E]b"),
        ("a\u200b\u200b\u2063", "a[U+200B ×2, U+2063]"),
        ("a\U000e0001", "a[U+E0001]"),
        ("a\nb\tc", "a[U+000A]b[U+0009]c"),
        ("a\x1b[2K", "a[U+001B][2K"),
        ("a\u00a0b", "a[U+00A0]b"),
        ("a\U000e0041", "a[tag: A]"),
        ("a\ud800", "a[U+D800]"),
        ("a\u034f\U0001bca0", "a[U+034F, U+1BCA0]"),
        ("a\U00016fe4\U0001d159", "a[U+16FE4, U+1D159]"),
        ("北京 à", "北京 à"),
        ("a" + " " * 40 + "b", "a[40 blanks]b"),
    ],
)
def test_invisible_characters_are_shown_as_code_points(text: str, shown: str):
    assert spelled(text) == shown


def test_a_change_of_the_identity_provider_is_a_change_of_the_launch():
    provider = IdentityProvider("acme", "https://idp.example", "c", "secret")
    before = launch(oauth=OAuthSpec(identity_provider=provider))
    for change in ({"issuer": "https://evil.example"}, {"client_secret": "x"}, {"scopes": ("all",)}):
        other = dataclasses.replace(provider, **change)
        assert launch(oauth=OAuthSpec(identity_provider=other)).digest != before.digest


def test_the_identity_provider_is_shown_without_its_secret():
    provider = IdentityProvider("acme", "https://idp.example", "c", "secret", ("openid",))
    shown = launch(oauth=OAuthSpec(identity_provider=provider)).settings
    assert shown["oauth.identity_provider.issuer"] == "https://idp.example"
    assert shown["oauth.identity_provider.client_id"] == "c" and "secret" not in str(shown)
