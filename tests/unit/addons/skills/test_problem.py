"""Why a skill is not used."""

from tests.cases import each_case
from tui.addons.skills.problem import SkillProblem, Why


@each_case("why", Why)
def test_reading_the_entry_again_may_help_only_if_something_changed(why: Why):
    assert SkillProblem(why, "x").is_stale is (why in (Why.MISMATCH, Why.UNLISTED))
