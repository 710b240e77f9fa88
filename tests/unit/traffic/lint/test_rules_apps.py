"""App views: `_meta.ui` of tools, the resources they name, results without text."""

from typing import Any

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import ECHO, Script
from tui.core.jsonrpc.app_views import APP_MIME

URI = "ui://weather/map"
HTML = "<!doctype html><title>Map</title>"


def tool_codes(meta: Any) -> list[str]:
    return Script().legacy().listed({**ECHO, "_meta": meta}).codes()


@each_case(
    ("meta", "codes"),
    [
        ({"ui": {"resourceUri": URI}}, []),
        ({"ui": {"resourceUri": URI, "visibility": ["app"]}}, []),
        ({"ui": {"visibility": ["model", "app"]}}, []),
        ({"ui/resourceUri": URI}, ["deprecated"]),
        ({"ui": {"resourceUri": "https://x/y"}}, ["app-meta"]),
        ({"ui": {"resourceUri": 7}}, ["app-meta"]),
        ({"ui": {"visibility": ["user"]}}, ["app-meta"]),
        ({"ui": {"visibility": []}}, ["app-meta"]),
        ({"ui": {"visibility": "app"}}, ["app-meta"]),
        ({"ui": []}, ["app-meta"]),
    ],
)
def test_the_metadata_of_a_tool(meta: Any, codes: list[str]):
    assert tool_codes(meta) == codes


def read_codes(*contents: Any, uri: str = URI) -> list[str]:
    script = Script().legacy(server={"resources": {}})
    script.result(script.out("resources/read", {"uri": uri}), {"contents": list(contents)})
    return script.codes()


def content(**more: Any) -> dict[str, Any]:
    return {"uri": URI, "mimeType": APP_MIME, "text": HTML, **more}


def csp(**domains: Any) -> dict[str, Any]:
    return content(_meta={"ui": {"csp": domains}})


@each_case(
    ("contents", "codes"),
    [
        ([content()], []),
        ([content(text="\n<!-- built --><HTML lang=en></HTML>")], []),
        ([content(text="{}")], ["app-content"]),
        ([content(mimeType="text/html")], ["app-content"]),
        ([content(blob="PGh0bWw+")], ["app-content"]),
        ([{"uri": URI, "mimeType": APP_MIME}], ["app-content"]),
        ([], ["app-content"]),
        ([csp(connectDomains=["https://api.example.com", "wss://x.example.com"])], []),
        ([csp(resourceDomains=["https://*.example.com"])], ["app-csp"]),
        ([csp(frameDomains=["*"])], ["app-csp"]),
        ([csp(frameDomains=["https://*"])], ["app-csp"]),
        ([csp(connectDomains=["http://example.com"])], ["app-csp"]),
        ([csp(baseUriDomains="https://example.com")], ["app-csp"]),
        ([csp(connectDomains=["https://x.example.com; script-src *"])], ["app-csp"]),
        ([content(_meta={"ui": {"permissions": {"camera": {}, "usb": {}}}})], ["app-meta"]),
    ],
)
def test_the_contents_of_a_view(contents: list[Any], codes: list[str]):
    assert read_codes(*contents) == codes


@pytest.mark.timeout(20)
def test_many_comments_before_a_view_take_no_time():
    assert read_codes(content(text="<!---->" * 500)) == ["app-content"]


def test_other_resources_are_not_views():
    assert read_codes({"uri": "file:///a", "text": "x"}, uri="file:///a") == []


def test_a_listed_view_has_the_type_of_a_view():
    script = Script().legacy(server={"resources": {}})
    script.result(script.out("resources/list"), {"resources": [{"uri": URI, "name": "map"}]})
    assert script.codes() == ["app-content"]


@each_case(
    ("result", "codes"),
    [
        ({"content": [{"type": "text", "text": "Sunny."}]}, []),
        ({"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}, []),
        ({"content": [], "structuredContent": {"sun": True}}, ["app-fallback"]),
        ({"content": [{"type": "text", "text": " "}]}, ["app-fallback"]),
        ({"content": [], "isError": True}, []),
    ],
)
def test_a_tool_with_a_view_also_returns_text(result: Any, codes: list[str]):
    script = Script().legacy().listed({**ECHO, "_meta": {"ui": {"resourceUri": URI}}})
    script.result(script.out("tools/call", {"name": "echo", "arguments": {}}), result)
    assert script.codes() == codes
