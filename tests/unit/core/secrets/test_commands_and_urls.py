"""Secrets in command lines, URLs and headers are found by position, however short."""

import pytest

from tests.cases import each_case
from tui.core.secrets.commands_and_urls import masked, masked_arguments, secrets_in, secrets_in_arguments

S = "hunter2"


@each_case(
    ("arguments", "shown"),
    [
        (["--api-key", S, "x"], ["--api-key", "[redacted:api-key]", "x"]),
        ([f"--token={S}"], ["--token=[redacted:token]"]),
        (["--pass", S, "--smtp-pass=x"], ["--pass", "[redacted:pass]", "--smtp-pass=[redacted:smtp-pass]"]),
        (["-password", S], ["-password", "[redacted:password]"]),
        (["-e", f"API_KEY={S}", "image"], ["-e", "API_KEY=[redacted:API_KEY]", "image"]),
        ([f"--env=API_KEY={S}"], ["--env=API_KEY=[redacted:API_KEY]"]),
        (["--header", f"Authorization: Bearer {S}"], ["--header", "Authorization: [redacted:Authorization]"]),
        (
            [f"X-Api-Key:{S}", f"X-Api-Key: {S}"],
            ["X-Api-Key:[redacted:X-Api-Key]", "X-Api-Key: [redacted:X-Api-Key]"],
        ),
        ([f"postgres://ada:{S}@db/notes"], ["postgres://ada:[redacted:password]@db/notes"]),
        ([f"--db=postgres://ada:{S}@db/n"], ["--db=postgres://ada:[redacted:password]@db/n"]),
        ([f"redis://:{S}@cache:6379/0"], ["redis://:[redacted:password]@cache:6379/0"]),
        (["https://ghp12345678@github.com/a"], ["https://[redacted:user]@github.com/a"]),
        ([f"https://h/mcp?api_key={S}&x=1"], ["https://h/mcp?api_key=[redacted:api_key]&x=1"]),
        ([f'{{"apiKey": "{S}", "n": 1}}'], ['{"apiKey": "[redacted:apiKey]", "n": 1}']),
        (["-c", f"TOKEN={S} x --pin {S}"], ["-c", "TOKEN=[redacted:TOKEN] x --pin [redacted:pin]"]),
        ([f"Server=db;Password={S};Pooling=1"], ["Server=db;Password=[redacted:Password];Pooling=1"]),
        ([f"host=db password={S} port=1"], ["host=db password=[redacted:password] port=1"]),
        (["--password=a;b c&d"], ["--password=[redacted:password]"]),
        (["ghp_" + "a1" * 18], ["[redacted:github]"]),
        (["--gh=ghp_" + "a1" * 18], ["--gh=[redacted:github]"]),
        (["--api-key", "sk-abcdefghijklmnop1234"], ["--api-key", "[redacted:api-key]"]),
        (["AKIAIOSFODNN7EXAMPLE"], ["[redacted:aws]"]),
        (["xoxb-123456789012-abcdefgh1"], ["[redacted:slack]"]),
        (["ü sk-abcdefghijklmnop1234 é"], ["ü [redacted:key] é"]),
        ([f"--header=X-Api-Key: {S} x"], ["--header=X-Api-Key: [redacted:X-Api-Key]"]),
        ([f"-HX-Api-Key: {S}"], ["-HX-Api-Key: [redacted:X-Api-Key]"]),
        (["-u", f"joe:{S}"], ["-u", "joe:[redacted:password]"]),
        ([f"--user=joe:{S}", f"-ujoe:{S}"], ["--user=joe:[redacted:password]", "-ujoe:[redacted:password]"]),
        ([f"/tmp/x?a=1&sig={S}"], ["/tmp/x?a=1&sig=[redacted:sig]"]),
    ],
)
def test_a_secret_in_a_command_line_is_masked_in_place(arguments: list[str], shown: list[str]):
    assert masked_arguments(arguments) == shown


@each_case(
    "arguments",
    [
        ["-y", "@scope/server@1.2", "/home/ada/notes"],
        ["--token-file", "/run/secrets/token"],
        ["--api-key-env", "MY_VARIABLE"],
        ["--no-auth", "server.js"],
        ["--max-tokens", "4096"],
        ["--author", "Ada"],
        ["--author", "Jo Smith", "--keyboard", "us, de", "--pass-through", "a b"],
        ["run", "npm:pkg@1.2", "https://ada@host/path?page=2"],
        ["--verbose", "--token"],
        ["--key", "./key.pem"],
        ["-u", "1000:1000", "--user", "node:node", "--user=ada"],
        ["-u", "https://host/path", "--user", "bob@example.com"],
        ["-u", "localhost:8080/path", "--header=Accept: text/html", "--sig", "x"],
        ["sk-proj-xxxxxxxxxxxxxxxxxxxx"],
    ],
)
def test_an_ordinary_command_line_is_unchanged(arguments: list[str]):
    assert masked_arguments(arguments) == arguments


def test_masking_twice_changes_nothing():
    words = [f"--token={S}", "--api-key", S, f"https://a:{S}@h/?key={S}&sig={S}", "-u", f"a:{S}"]
    once = masked_arguments([*words, f"--header=X-Key: {S}9"])
    assert masked_arguments(once) == once


def test_secrets_are_found_with_and_without_percent_encoding_and_the_scheme_of_a_header():
    assert secrets_in("https://a:p%40ss-word@h/?token=t%2Fk") == ["p%40ss-word", "p@ss-word", "t%2Fk", "t/k"]
    found = dict(reversed(pair) for pair in secrets_in_arguments(["-H", "Authorization: Bearer t0k3n-value"]))
    assert found == {"Bearer t0k3n-value": 1, "t0k3n-value": 1}


@each_case(
    ("text", "shown"),
    [
        ("a=b=token=abc", "a=b=token=[redacted:token]"),
        ("password=token=abc", "password=[redacted:password]"),
        ("url=https://h?x=1&token=abc", "url=https://h?x=1&token=[redacted:token]"),
        (f"xtoken=/{'a' * 2000}", "xtoken=[redacted:xtoken]"),
        ("password=x token='a b'", "password=[redacted:password] token='[redacted:token]'"),
        ("password=ab;token=***", "password=[redacted:password];token=***"),
        ("Bearer password=abc-def:ghi", "Bearer [redacted:bearer][redacted:password]"),
        (f"é ghp_{'a1' * 18} 中 ghp_{'b2' * 18}", "é [redacted:github] 中 [redacted:github]"),
        *[("https://host:8080/v1?page=2#top",) * 2],
    ],
)
def test_secrets_in_a_text_are_masked_in_place_even_nested_or_overlapping(text, shown):
    assert masked(text) == shown


@pytest.mark.parametrize("name", ["token_count", "secret_name", "auth_mode"])
def test_what_only_describes_a_secret_is_not_masked(name: str):
    assert masked(f"--{name} 12345678") == f"--{name} 12345678"
