"""The error codes and keys are those of the SDK."""

import mcp_types

from tui.core.jsonrpc import protocol


def test_the_codes_and_keys_are_those_of_the_sdk():
    theirs = {
        "PARSE_ERROR": mcp_types.PARSE_ERROR,
        "INVALID_REQUEST": mcp_types.INVALID_REQUEST,
        "METHOD_NOT_FOUND": mcp_types.METHOD_NOT_FOUND,
        "INVALID_PARAMS": mcp_types.INVALID_PARAMS,
        "INTERNAL_ERROR": mcp_types.INTERNAL_ERROR,
        "MISSING_CAPABILITY": mcp_types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        "UNSUPPORTED_VERSION": mcp_types.UNSUPPORTED_PROTOCOL_VERSION,
        "VERSION_KEY": mcp_types.PROTOCOL_VERSION_META_KEY,
        "CAPABILITIES_KEY": mcp_types.CLIENT_CAPABILITIES_META_KEY,
        "SERVER_INFO_KEY": mcp_types.SERVER_INFO_META_KEY,
        "LOG_LEVEL_KEY": mcp_types.LOG_LEVEL_META_KEY,
    }
    assert {name: getattr(protocol, name) for name in theirs} == theirs
    assert protocol.SUBSCRIPTION_KEY == "io.modelcontextprotocol/subscriptionId"
