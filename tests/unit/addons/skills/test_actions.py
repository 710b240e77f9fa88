"""When the keys for skills work."""

from types import SimpleNamespace

from tui.addons.skills.actions import BRINGS, why_no_skills


def test_the_key_of_the_tab_says_why_there_is_no_tab() -> None:
    assert "does not declare" in why_no_skills(SimpleNamespace(tabs=SimpleNamespace(names=("tools",))))
    assert "does not declare" in why_no_skills(SimpleNamespace())


def test_the_key_of_the_tab_works_once_the_server_serves_skills() -> None:
    assert why_no_skills(SimpleNamespace(tabs=SimpleNamespace(names=("tools", "skills")))) == ""


def test_every_key_has_a_text_for_the_footer_and_one_for_the_help() -> None:
    assert all(label and help for _contexts, _keys, label, help, *_more in BRINGS["action"].values())
