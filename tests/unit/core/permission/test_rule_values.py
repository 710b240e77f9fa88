"""Arguments that try to evade a rule."""

import posixpath
import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.permission import rule_values
from tui.core.permission.rule_values import MISSING, covers_all, covers_any, values_at
from tui.core.permission.rules import Rules

JUNK = st.sampled_from(["", ".", "x/..", "./", "a/b/../.."])
SEGMENTS = st.lists(JUNK, min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@each_case(
    ("arguments", "path", "found"),
    [
        ({"a": 1}, "a", [1]),
        ({"a": {"b": 1}}, "a.b", [1]),
        ({"a.b": 1}, "a.b", [1]),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", [1, 2]),
        ({"a": [{"b": 1}, {"b": 2}, {}]}, "a.b", [1, 2, MISSING]),
        ({"a": ["x", "y"]}, "a.1", ["y"]),
        ({"a": ["x"]}, "a.7", [MISSING]),
        ({"a": "text"}, "a.b", [MISSING]),
        ({}, "a", [MISSING]),
        ({"a": [{"b": 1}, [2]], "c": "d"}, "*", [1, 2, "d"]),
    ],
)
def test_a_dotted_path_selects_values(arguments, path, found):
    assert sorted(map(repr, values_at(path, arguments))) == sorted(map(repr, found))


def test_a_missing_argument_does_not_match():
    assert not covers_any("*", "path", {}) and not covers_all("*", "path", {})
    assert not covers_all("*", "edits.path", {"edits": [{"path": "/a"}, {}]})


JSON = [(True, "true"), (None, "null"), (3, "3"), (3.0, "3"), (3.0, "3.0"), ({"a": 1}, '{"a":1}')]


@each_case(("value", "text"), JSON)
def test_a_value_that_is_not_a_string_is_matched_as_json(value, text):
    assert covers_any(text, "v", {"v": value}) and covers_all(text, "v", {"v": value})


@each_case(
    "path",
    [
        "/etc/passwd",
        "/tmp/../etc/passwd",
        "//etc/passwd",
        "/./etc//passwd",
        "/../../etc/passwd",
        "/etc",
        "/etc/",
        "/etc/.",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "file://localhost/tmp/%2e%2e/etc/passwd",
        "/tmp/%2e%2e/etc/passwd",
        "\\tmp\\..\\etc\\passwd",
        ["/home/me", "/tmp/../etc/passwd"],
        [["/etc/passwd"]],
        [{"name": "/etc/passwd"}],
        "%2fetc%2fpasswd",
        "%252Fetc%25252fpasswd",
        "%2Ftmp%2f..%2Fetc/passwd",
        "file%3A///etc/passwd",
        " /etc/passwd",
        "\t/etc/passwd\n",
        "%20%09/etc/passwd",
        "%20 /tmp/../etc/passwd",
        " file:///etc/passwd",
        "\0/etc/passwd",
        "\u200b\ufeff\u00a0/etc/passwd",
        "\u3000/tmp/%2e%2e/etc",
    ],
)
def test_any_spelling_of_a_path_into_a_folder_is_matched(path):
    assert covers_any("/etc/*", "path", {"path": path})
    assert covers_any("/etc/*", "*", {"options": {"where": path}})
    assert not covers_all("/home/*", "path", {"path": path})


@each_case(
    "path",
    [
        "/home/me/../../etc/passwd",
        "/home/me/..\\..\\..\\etc",
        "/home/me/../a\\..\\me\\x",
        "/home/me/%2e%2e/%2e%2e/etc",
        "/home/me%2f%252e%252e/%2e%2e/etc",
        "/home/me/..%2f..%2fetc",
        "/home/me/%" + "25" * 20 + "2e%2e",
        ["/home/me/a", "/etc/passwd"],
        [["/home/me/a"]],
        {"/home/me/": "/home/me/"},
        7,
    ],
)
def test_a_path_that_leads_or_may_lead_outside_is_not_allowed(path):
    assert not covers_all("/home/me/*", "path", {"path": path})


@pytest.mark.parametrize("path", ["/home/me/a", "/home/me/x/../a", "/home/me/", ["/home/me/a", "/home/me/b"]])
def test_a_path_inside_the_folder_is_allowed(path):
    assert covers_all("/home/me/*", "path", {"path": path})


def test_a_file_uri_is_matched_as_written():
    assert covers_all("file:///home/*", "uri", {"uri": "file:///home/a%20b"})
    assert not covers_all("file:///home/*", "uri", {"uri": "file:///home/../etc"})


@given(SEGMENTS, SEGMENTS)
def test_no_spelling_of_a_path_evades_a_deny_rule(before, within):
    path = "/" + "/".join([*before, "etc", *within, "passwd"])
    assert covers_any("/etc/*", "path", {"path": path})
    assert not covers_all("/home/*", "path", {"path": path})


@given(VALUES, st.text(max_size=6))
def test_a_value_that_an_allow_rule_matches_is_also_matched_by_a_deny_rule(value, pattern):
    for path in ("v", "*", "v.a"):
        if covers_all(pattern, path, {"v": value}):
            assert covers_any(pattern, path, {"v": value})


def test_arguments_nested_or_encoded_too_deeply_are_denied_and_not_allowed():
    deep: list = []
    for _ in range(200_000):
        deep = [deep]
    assert covers_any("/etc/*", "v", {"v": deep}) and not covers_all("*", "v", {"v": deep})
    value = "%" + "25" * 20 + "41"
    assert covers_any("/etc/*", "v", {"v": value}) and not covers_all("*", "v", {"v": value})


@each_case("text", ["100 %", "50% off", "a%zz", "line\n", "%41"])
def test_text_with_spaces_or_a_percent_sign_is_not_a_path(text):
    assert not covers_any("/etc/*", "*", {"v": text}) and covers_all("*", "v", {"v": text})


def test_a_long_value_is_matched_like_a_short_one():
    value = "%2F".join(["a" * 50, "%2e%2e"] * 2_000)
    assert not covers_any("*b*c*d*e", "v", {"v": value})
    assert covers_any("*/etc", "v", {"v": f"/{value}/etc"})
    assert covers_any("*\u00e9\ufffd/x", "v", {"v": "a" * 3_000 + "%C3%a9%ff/x"})


@each_case(
    "value",
    [
        "a/b " * 100_000,
        "/./a" * 100_000,
        "%41/" * 100_000,
        "\\a/../" * 60_000,
        "%" + "25" * 200_000,
        [f"/a/b%20c{n}" for n in range(20_000)],
    ],
)
def test_a_value_too_large_to_decode_is_quickly_denied_and_not_allowed(value):
    strict, lax = (
        Rules.parsed([f"{action} */* *=*/etc/{n}*" for n in range(10) for action in actions])
        for actions in (("ask", "deny"), ("allow",))
    )
    begin = time.process_time()
    assert strict.deciding("files", "write", {"v": value}).action == "deny"
    assert lax.deciding("files", "write", {"v": value}) is None
    assert time.process_time() - begin < 0.5


def test_a_large_text_with_only_one_spelling_is_matched():
    rules = Rules.parsed(["deny */* *=*/etc/*", "allow */*  text=*words*"])
    assert rules.deciding("notes", "add", {"text": "hello words\n" * 50_000}).action == "allow"


def test_the_texts_of_a_call_are_decoded_once_for_all_rules(monkeypatch):
    read = []
    monkeypatch.setattr(rule_values, "_meanings", lambda text: read.append(text) or iter([text]))
    rules = Rules.parsed([f"deny */* *=/etc/{n}" for n in range(9)])
    rules.deciding("f", "r", {"a": "/x", "b": ["/x", "/y"]})
    assert sorted(read) == ["/x", "/y"]


@given(st.text("ab*?[]", max_size=8), st.text("ab*?[]", max_size=12))
def test_patterns_match_as_in_fnmatch(pattern, text):
    assert covers_any(pattern, "v", {"v": text}) == fnmatchcase(text, pattern)


@pytest.mark.parametrize("value", ["C:\\Users\\x\\..\\me\\a", "C:/Users/me/a", "C:\\Users\\me\\a"])
def test_a_pattern_with_backslashes_matches_the_same_path(value):
    assert covers_any("C:\\Users\\me\\*", "path", {"path": value})


@given(st.lists(st.sampled_from(["a", "..", ".", "", "b\\..", "%2e%2e", "file:", "etc"]), max_size=8))
def test_an_allowed_path_never_leads_out_of_its_folder(names):
    path = "/".join(["/home/me", *names])
    if covers_all("/home/me/*", "path", {"path": path}):
        assert f"{posixpath.normpath(path)}/".startswith("/home/me/")


@each_case(
    "text",
    [
        "a se\u200bcret",
        "a s\u00ade\u2060c\U000e0061ret",
        "a se\x00cret",
        "a s\U0001bca0e\U00013430c\U0001d159r\U00016fe4et",
        "a se\u200dcret",
        "a ｓｅｃｒｅｔ",
        "a 𝐬𝐞𝐜𝐫𝐞𝐭",
        "a ⓢecr\u200bet",
        "a se%E2%80%8Bcret",
        "/x/ｓe\u200bcret",
        "％73ecret",
        ["a", "se\u200bcret"],
        {"deep": ["se\u200bcret"]},
    ],
)
def test_invisible_or_fullwidth_characters_do_not_evade_a_rule(text):
    assert covers_any("*secret*", "text", {"text": text}) and covers_any("*secret*", "*", {"text": text})
    assert not covers_all("*se[!c]*", "text", {"text": text})


@pytest.mark.parametrize(
    "path", ["／etc／passwd", "/tmp/．．/etc/passwd", "/e\u200btc/passwd", "%2fe％74c/passwd"]
)
def test_a_path_with_fullwidth_or_invisible_characters_also_matches_as_a_plain_path(path):
    assert covers_any("/etc/*", "path", {"path": path}) and not covers_all("/tmp/*", "path", {"path": path})


def test_an_allow_rule_must_match_every_reading_of_a_text():
    assert not covers_all("*ｓecret*", "v", {"v": "a secret"})
    assert not covers_all("a?b", "v", {"v": "a\u200bb"})
    assert covers_all("*（株）*", "v", {"v": "日本（株）"})
    assert covers_all("*❤️*", "v", {"v": "a ❤️ b"})
    assert not covers_all("?*＊", "v", {"v": "ab"})


def test_a_rule_with_invisible_or_fullwidth_characters_matches_only_these():
    assert covers_any("*\u200b*", "v", {"v": "a\u200bb"}) and not covers_any("*\u200b*", "v", {"v": "ab"})
    assert covers_any("*＊*", "v", {"v": "a＊b"}) and not covers_any("*＊*", "v", {"v": "ab"})
    assert covers_any("*cafe\u0301*", "v", {"v": "café"}) and covers_any("*café*", "v", {"v": "cafe\u0301"})


@pytest.mark.parametrize(
    "value", ["a" + "\u0315\u0300\u0327" * 100_000, "ｓ\u200b" * 200_000, "日本語" * 200_000]
)
def test_a_large_plain_text_is_matched_quickly(value):
    begin = time.process_time()
    assert not covers_any("*secret*", "v", {"v": value})
    assert time.process_time() - begin < 1
