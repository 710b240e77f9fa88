"""Why a skill is not used."""

import pytest

from tui.addons.skills.problem import SkillProblem, Why


@pytest.mark.parametrize("why", Why)
def test_reading_the_entry_again_may_help_only_if_something_changed(why: Why):
    assert SkillProblem(why, "x").is_stale is (why in (Why.MISMATCH, Why.UNLISTED))
