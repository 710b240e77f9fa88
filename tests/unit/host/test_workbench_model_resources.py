"""The resources of real servers that the model may read."""

from tests.unit.host.test_workbench import ODD, running
from tests.unit.host.test_workbench_redaction import MARK, SECRET, leaky
from tui.core.tools import ResourceContent
from tui.core.traffic import CAUSE, Cause, Direction


async def test_the_model_may_read_resources_only_if_the_person_allows_it():
    async with running(ODD) as (_, captured, host):
        assert list(host.model_resources.servers()) == []
        host.reconfigure("srv", offer_resources=True)
        assert list(host.model_resources.servers()) == ["srv"]
        found, _ = await host.model_resources.resources("srv")
        before = CAUSE.set(Cause(3, 1, "call-1"))
        read = await host.model_resources.read("srv", found[0].uri, 5)
        CAUSE.reset(before)
        assert read.content[0] == ResourceContent("a://1", "", "hello\x1b[31m")
        asked = [
            one.cause for one in captured if b"resources/read" in one.raw and one.direction is Direction.OUT
        ]
        assert asked == [Cause(3, 1, "call-1")]
        await host.stop("srv")
        assert list(host.model_resources.servers()) == []


async def test_resources_for_the_model_are_redacted_unless_they_are_sent_as_is():
    async with leaky(offer_resources=True) as host:
        ((listed,), _) = await host.model_resources.resources("srv")
        read = await host.model_resources.read("srv", listed.uri, 5)
        host.reconfigure("srv", send_as_is=True)
        ((raw,), _) = await host.model_resources.resources("srv")
        read_raw = await host.model_resources.read("srv", raw.uri, 5)
    assert MARK in repr(read.content) and SECRET not in repr((listed, read)) and not read.as_is
    assert raw.uri == f"leak://{SECRET}/notes"
    assert SECRET in repr(read_raw.content) and read_raw.as_is
