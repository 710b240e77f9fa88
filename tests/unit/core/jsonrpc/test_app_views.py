"""What a tool's raw definition says about an app view."""

from typing import Any

from tests.cases import each_case
from tui.core.jsonrpc.app_views import MAX_URI, app_view, is_app_only


@each_case(
    ("meta", "uri"),
    [
        ({"ui": {"resourceUri": "ui://a"}}, "ui://a"),
        ({"ui/resourceUri": "ui://old"}, "ui://old"),
        ({"ui": {"resourceUri": "ui://a"}, "ui/resourceUri": "ui://old"}, "ui://a"),
        ({"ui": {"resourceUri": 7}}, ""),
        ({"ui": {"resourceUri": "ui://" + "x" * MAX_URI}}, ""),
        ({"ui": []}, ""),
        ([], ""),
    ],
)
def test_a_view_is_named_in_the_metadata(meta: Any, uri: str):
    assert app_view({"_meta": meta}) == uri


@each_case(
    ("visibility", "only"),
    [(["app"], True), (["model", "app"], False), (None, False), ("app", False), ([], True)],
)
def test_a_tool_without_model_in_its_visibility_is_for_apps_only(visibility: Any, only: bool):
    assert is_app_only({"_meta": {"ui": {"visibility": visibility}}}) is only
