"""What a server writes in place of newline-delimited JSON-RPC."""

from tui.core.jsonrpc.noise import is_hello


def test_a_hello_of_the_line_dialect_is_recognized_among_json_rpc():
    assert is_hello(b'{"type":"hello","version":"v1","tools":[]}')
    assert not is_hello(b'{"type":"hello"}')
    assert not is_hello(b'{"jsonrpc":"2.0","method":"hello"}')
