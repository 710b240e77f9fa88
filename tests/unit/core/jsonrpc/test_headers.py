"""The HTTP headers of a request, compared with those of the SDK (mcp 2.3)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from tests.cases import each_case
from tui.core.jsonrpc.headers import MovingHeaders, encoded, header_map, message_headers, parameter_headers
from tui.core.jsonrpc.protocol import VERSION_HEADER

TOKENS = st.sampled_from(["Region", "region", "no good", "", "X-1", 7, None, ["a"]])
TYPES = st.sampled_from(["string", "integer", "boolean", "number", "object", ["string"], None])
LEAF = st.fixed_dictionaries(
    {}, optional={"x-mcp-header": TOKENS, "type": TYPES, "default": st.just({"x-mcp-header": "A"})}
)


def nested(inner):
    names = st.sampled_from(["a", "b", "c"])
    some = st.dictionaries(names, inner, max_size=2)
    keys = {
        "properties": some,
        "items": inner,
        "anyOf": st.lists(inner, max_size=2),
        "$defs": some,
        "not": inner,
    }
    return st.fixed_dictionaries({}, optional=keys | {"x-mcp-header": TOKENS, "type": TYPES})


SCHEMAS = st.recursive(LEAF | st.none() | st.booleans(), nested, max_leaves=6)


@given(SCHEMAS)
def test_schemas_are_judged_as_by_the_sdk(schema):
    found = header_map(schema)
    if inbound.find_invalid_x_mcp_header(schema) is None:
        assert found == inbound.x_mcp_header_map(schema)
    else:
        assert isinstance(found, str) and found.startswith("its headers are invalid: ")


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**5000) | st.just([1])
)
WANTED = {("a",): "A", ("b", "c"): "B-C", ("b",): "B"}


@given(st.dictionaries(st.sampled_from(["a", "b"]), VALUES | st.dictionaries(st.just("c"), VALUES)))
def test_arguments_are_written_as_by_the_sdk(arguments):
    try:
        expected = inbound.mcp_param_headers(WANTED, arguments)
    except UnicodeError:
        with pytest.raises(UnicodeError):
            parameter_headers(WANTED, arguments)
        return
    assert parameter_headers(WANTED, arguments) == expected


@given(st.text() | st.sampled_from([" a", "=?base64?YQ==?=", "a\n"]))
def test_values_are_encoded_as_by_the_sdk_and_arrive_unchanged(text):
    try:
        value = encoded(text)
    except UnicodeError:
        return
    assert value == inbound.encode_header_value(text) and inbound.decode_header_value(value) == text


def test_arguments_that_are_no_object_have_no_headers():
    assert parameter_headers(WANTED, [1]) == parameter_headers(WANTED, None) == {}


@each_case(
    ("method", "params", "version", "headers"),
    [
        ("tools/call", {"name": "echo"}, "2026-07-28", {"mcp-method": "tools/call", "mcp-name": "echo"}),
        (
            "resources/read",
            {"uri": "a://b"},
            "2026-07-28",
            {"mcp-method": "resources/read", "mcp-name": "a://b"},
        ),
        ("tools/list", {}, "2026-07-28", {"mcp-method": "tools/list"}),
        ("tasks/get", {"taskId": "t-1"}, "2026-07-28", {"mcp-method": "tasks/get", "mcp-name": "t-1"}),
        ("tools/call", {"name": "echo"}, "2025-11-25", {}),
    ],
)
def test_a_modern_request_repeats_its_method_and_what_it_names(method, params, version, headers):
    found = message_headers({"method": method, "params": params}, version, None)
    assert found == headers


def test_the_names_of_the_headers_and_the_methods_with_names_are_those_of_the_sdk():
    """A newer SDK may know more."""
    from tui.core.jsonrpc import headers

    assert (VERSION_HEADER, headers.METHOD, headers.NAME) == (
        inbound.MCP_PROTOCOL_VERSION_HEADER,
        inbound.MCP_METHOD_HEADER,
        inbound.MCP_NAME_HEADER,
    )
    assert headers._NAMED_BY == dict(inbound.NAME_BEARING_METHODS)


CITY = {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}
LISTED = json.dumps({"id": 1, "result": {"tools": [{"name": "a", "inputSchema": CITY}, {"name": "b"}]}})
MESSAGES = st.one_of(
    st.tuples(
        st.just("tools/call"),
        st.fixed_dictionaries(
            {"name": st.sampled_from("ab")},
            optional={"arguments": st.fixed_dictionaries({}, optional={"city": st.text() | st.none()})},
        ),
    ),
    st.tuples(st.just("resources/read"), st.fixed_dictionaries({"uri": st.text(max_size=3)})),
    st.tuples(st.just("tools/list"), st.just({})),
)


@given(MESSAGES, MESSAGES)
def test_the_headers_of_a_changed_message_are_those_that_it_would_have_had(was, sent):
    moving = MovingHeaders()
    moving.learn(LISTED.encode())
    own = [(b"X-Own", b"1"), (b"MCP-Protocol-Version", b"2026-07-28")]

    def headers(method, params):
        wanted = {("city",): "City"} if params.get("name") == "a" else None
        found = message_headers({"method": method, "params": params}, "2026-07-28", wanted)
        return [(name.encode(), value.encode()) for name, value in found.items()]

    def written(method, params):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()

    try:
        before, after = headers(*was), headers(*sent)
    except UnicodeError:
        return
    found = moving.moved([*own, *before], written(*was), written(*sent))
    assert sorted(found) == sorted([*own, *after])


@pytest.mark.parametrize(
    "sent", [b"garbage", b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"method":"tools/ca']
)
def test_the_headers_of_what_is_no_request_stay(sent):
    headers = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/list")]
    assert MovingHeaders().moved(headers, b'{"id":1,"method":"tools/list"}', sent) == headers
