"""The models that an endpoint offers, over HTTP."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.conftest import until
from tests.endpoint import Answer, Endpoint
from tui.core.errors import ModelError
from tui.core.secrets.redact import Secret
from tui.model.endpoints import listing as inquiry
from tui.model.endpoints.listing import Ability, OfferedModel, models_in, offered_by
from tui.model.endpoints.profile import ModelProfile


def listing(*entries: Any) -> Answer:
    return Answer(body={"object": "list", "data": list(entries)})


async def offered(answer: Answer, path: str = "/v1/models", base: str = "/v1") -> list[OfferedModel]:
    async with Endpoint(pages={path: answer}) as endpoint:
        return await offered_by(ModelProfile("test", endpoint.origin + base, "m"))


async def test_models_keep_the_order_of_the_endpoint() -> None:
    assert [one.id for one in await offered(listing({"id": "b"}, {"id": "a"}))] == ["b", "a"]


async def test_window_and_abilities_are_read_from_openrouter() -> None:
    entry = {
        "id": "x/y",
        "context_length": 200_000,
        "architecture": {"input_modalities": ["text", "image"]},
        "supported_parameters": ["tools", "stop"],
    }
    (found,) = await offered(listing(entry))
    assert found == OfferedModel("x/y", True, Ability(200_000, True, True))


async def test_abilities_are_read_from_mistral() -> None:
    can = {"completion_chat": False, "function_calling": True, "vision": False}
    (found,) = await offered(listing({"id": "m", "max_context_length": 32_768, "capabilities": can}))
    assert found == OfferedModel("m", False, Ability(32_768, True, False))


@pytest.mark.parametrize(
    "body",
    [
        [{"id": "a"}],
        ["a"],
        {"models": [{"name": "a"}]},
        {"data": [{"id": "a"}, {"id": "a"}]},
        {"data": [3, None, {"id": 7}, {"id": "\x1b[31mred"}, {"id": "x" * 300}, {"id": "a"}]},
    ],
)
async def test_lists_in_other_formats_and_with_malformed_entries_are_read(body: Any) -> None:
    assert [one.id for one in await offered(Answer(body=body))] == ["a"]


async def test_an_address_without_a_version_is_completed() -> None:
    assert [one.id for one in await offered(listing({"id": "a"}), base="")] == ["a"]


@pytest.mark.parametrize("name", ["user-agent", "AUTHORIZATION", "authorization", "Accept"])
async def test_a_header_of_the_profile_is_sent_once_in_any_spelling(name: str) -> None:
    async with Endpoint(models=["a"]) as endpoint:
        profile = ModelProfile("t", endpoint.base_url, "m", api_key=Secret("sk-x"), headers={name: "own"})
        await offered_by(profile)
        assert endpoint.others[0].headers[name.lower()] == "own"


async def test_the_key_and_the_headers_of_the_profile_are_sent() -> None:
    async with Endpoint(models=["a"]) as endpoint:
        profile = ModelProfile("t", endpoint.base_url, "m", api_key=Secret("sk-x"), headers={"X-Title": "t"})
        await offered_by(profile)
        sent = endpoint.others[0].headers
    assert sent["authorization"] == "Bearer sk-x" and sent["x-title"] == "t"


async def test_without_a_configured_key_none_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    async with Endpoint(models=["a"]) as endpoint:
        await offered_by(ModelProfile("t", endpoint.base_url, "m"))
        assert "authorization" not in endpoint.others[0].headers


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(status=401, body={"error": {"message": "Invalid key"}}), "returned HTTP 401: Invalid key"),
        (Answer(body={"data": []}), "does not list its models"),
        (Answer(body={"hello": 1}), "does not list its models"),
        (Answer(body="<html><title>Wiki</title></html>"), "not JSON (application/json): Wiki"),
        (Answer(raw=b"[" * 200_000), "not JSON"),
        (Answer(status=307, body="", headers={"Location": "http://elsewhere.example/"}), "returned HTTP 307"),
    ],
)
async def test_an_endpoint_without_a_list_fails_with_a_next_step(answer: Answer, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        await offered(answer)
    assert says in str(caught.value) and caught.value.next_step and "127.0.0.1" in caught.value.where


async def test_an_endless_response_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inquiry, "MAX_BODY", 1000)
    with pytest.raises(ModelError, match="exceeds 1000 bytes"):
        await offered(Answer(raw=b" " * 5000, hang=True))


async def test_an_endpoint_that_does_not_respond_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inquiry, "SECONDS", 0.1)
    with pytest.raises(ModelError, match="sent nothing"):
        await offered(Answer(mute=True))


async def test_cancelling_closes_the_connection() -> None:
    async with Endpoint(pages={"/v1/models": Answer(mute=True)}) as endpoint:
        task = asyncio.create_task(offered_by(ModelProfile("t", endpoint.base_url, "m")))
        await until(lambda: endpoint.others)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: endpoint.open == 0)


@each_case("name", ["nomic-embed-text", "bge-m3", "whisper-1", "dall-e-3", "jina-reranker"])
def test_models_that_cannot_chat_are_recognized_by_name(name: str) -> None:
    assert [one.chat for one in models_in([name, "gpt-5.1"])] == [False, True]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "data", "models", "pricing", "prompt", "capabilities", "architecture", "meta", "n_ctx"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["data", "models"]), JSON) | st.lists(JSON))
def test_any_json_can_be_read_as_a_list_of_models(body: Any) -> None:
    assert all(one.id.isprintable() for one in models_in(body))
