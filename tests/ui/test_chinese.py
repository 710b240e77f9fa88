"""Texts that once were English on a screen in Chinese, or had English punctuation."""

from collections.abc import Iterator

import pytest

from tests.ui.app_stage import opened, shows
from tests.ui.fakes import FakeRuntime
from tests.unit.catalogue import LOCALE
from tests.unit.core.permission.test_consent import question
from tui.addons.doctor.causes import cause_of
from tui.commands.headless import step_in_shell
from tui.core.forms.form import Form
from tui.core.forms.spec import type_words
from tui.core.hidden_text.scan import HiddenText, Sign, signs_of
from tui.core.language import translate
from tui.core.language.translate import localized, message, sentences
from tui.core.servers import ServerSpec, ServerStatus, StopReason
from tui.locale.build_hook import build
from tui.locale.catalogs import use_language
from tui.storage.exports.shapes import named_servers
from tui.ui.keys.command_spec import parse_command
from tui.ui.keys.slash_commands import OWN
from tui.ui.traffic.edit_request import parsed


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    build(LOCALE)
    assert use_language("zh_CN") == ""
    yield
    translate.use(None)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 7}, "整数 1…7"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 9}, "数字 > 0，≤ 9"),
        ({"type": "string", "minLength": 2}, "文本，至少 2 个字符"),
    ],
)
def test_the_type_of_a_field_is_translated(schema, words):
    form = Form({"type": "object", "properties": {"a": schema}})
    assert type_words(form.field(("a",))) == words


def test_servers_are_listed_with_chinese_commas():
    assert localized(named_servers(["a", "b", "c"])) == "来自服务器“a”、“b”和“c”"


def test_between_sentences_is_no_space():
    assert parse_command("/nothing-like-it", OWN) == (
        "未知命令 /nothing-like-it。参见 /help。要作为消息发送，请在前面加一个空格。"
    )


def test_the_reason_why_edited_json_is_invalid_is_translated():
    assert parsed("{} x") == "不是 JSON：值结束后有多余文本（第 1 行第 4 列）"


async def test_the_palette_says_in_chinese_that_nothing_matches_and_why_an_action_is_unavailable():
    async with opened(FakeRuntime()) as (app, pilot):
        assert "不可用：没有等待审批的工具调用" in {command.help for command in app.commands()}
        await pilot.press("ctrl+p", *"zzz")
        await shows(app, "无匹配项")


def test_the_cause_that_a_log_names_and_what_to_do_are_translated():
    cause, _, fix = cause_of(["ModuleNotFoundError: No module named 'mcp'"], {}, {})
    assert localized(cause) == "运行它的 Python 没有模块 mcp"
    assert localized(fix) == "请在该 Python 中安装 mcp，或在 `command` 中使用服务器环境的 Python"
    _, _, fix = cause_of(["KeyError: 'API_TOKEN'"], {}, {"API_TOKEN": "x"})
    assert localized(fix) == '服务器不会继承它：请设置 `env = { API_TOKEN = "${API_TOKEN}" }`'


def test_a_question_for_consent_in_plain_mode_is_translated():
    lines = [localized(line) for line in question(ServerSpec("weather", command="npx")).lines()]
    assert lines[0].startswith("服务器“weather”来自")
    assert any("命令" in line for line in lines)


def test_what_to_do_about_a_failed_server_is_translated_without_the_keys_of_the_app():
    step = sentences(message("Check the URL, and that the server is running."), message("Press r to retry."))
    spec = ServerSpec("weather", url="https://localhost/mcp")
    status = ServerStatus("weather", spec, reason=StopReason.FAILED_TO_START, next_step=step)
    assert localized(step_in_shell(status, "")) == "请检查 URL，并确认服务器在运行。"


def test_signs_of_hidden_text_are_translated():
    found = [HiddenText(Sign.TAGS, "description", "abc"), HiddenText(Sign.SECRECY, "description", "")]
    assert signs_of(found).startswith("description (hidden tag characters [tag: abc], ")
    assert localized(signs_of(found)).startswith("description（隐藏的标签字符 [tag: abc]、")
