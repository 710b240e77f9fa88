"""The sampling of a server is allowed or denied while it runs (2026-07-28)."""

import pytest

from tests.protocol.test_questions import ASKING, Model, call, sampling, text_of
from tui.core.servers import SamplingRule
from tui.host.sdk.direct_calls import BY_SDK


@pytest.mark.parametrize("by_sdk", ["0", "1"], ids=["direct", "by the SDK"])
async def test_sampling_that_is_allowed_or_denied_later_is_declared_with_the_next_call(by_sdk, monkeypatch):
    monkeypatch.setenv(BY_SDK, by_sdk)
    sent: list[bytes] = []

    def declared() -> bool:
        return b'"sampling":{"tools":{}}' in next(raw for raw in reversed(sent) if b'"tools/call"' in raw)

    host = await sampling(
        ASKING, SamplingRule.NEVER, Model(), sink=lambda captured: sent.append(captured.raw)
    )
    host.reconfigure("srv", sampling=SamplingRule.ALLOW)
    assert "Hello" in text_of(await call(host, "sample")) and declared()
    host.reconfigure("srv", sampling=SamplingRule.NEVER)
    assert "Set its sampling" in text_of(await call(host, "sample")) and not declared()
    await host.shutdown()
