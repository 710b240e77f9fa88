"""What a host and its server have agreed on, and a new server has to hear again."""

from collections.abc import Mapping
from typing import Any

from tui.addons.watch.agreed import Agreed
from tui.core.jsonrpc.messages import Request


async def test_a_new_server_hears_the_log_level_and_the_subscriptions():
    agreed, heard = Agreed(), list[tuple[str, Mapping[str, Any]]]()
    for method, params in (
        ("logging/setLevel", {"level": "debug"}),
        ("resources/subscribe", {"uri": "a://b"}),
        ("resources/subscribe", {"uri": "a://c"}),
        ("resources/unsubscribe", {"uri": "a://b"}),
    ):
        agreed.asked(Request(1, method, params))

    async def hear(method: str, params: Mapping[str, Any]) -> None:
        heard.append((method, params))

    await agreed.repeat(hear)
    assert heard == [("logging/setLevel", {"level": "debug"}), ("resources/subscribe", {"uri": "a://c"})]


async def test_a_list_that_a_new_server_does_not_return_has_not_changed():
    agreed = Agreed()
    agreed.answered(Request(1, "tools/list"), {"tools": [{"name": "a"}]})

    async def refuse(method: str, params: Mapping[str, Any]) -> None:
        return None

    assert await agreed.changed(refuse) == []
    assert agreed.lists == {"tools/list": [{"name": "a"}]}


async def test_a_list_of_several_pages_is_compared_as_a_whole():
    agreed = Agreed()
    agreed.answered(Request(1, "tools/list"), {"tools": [{"name": "a"}, {"name": "b"}]})

    async def answer(method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if "cursor" in params:
            return {"tools": [{"name": "b"}]}
        return {"tools": [{"name": "a"}], "nextCursor": "2"}

    assert await agreed.changed(answer) == []
