"""What is known of other hosts."""

from tests.cases import each_case
from tui.addons.doctor.habits import HABITS, Habits
from tui.settings.foreign.hosts import HOSTS


def test_a_host_of_which_nothing_is_known_may_replace_every_reference():
    assert Habits().replaces("${KEY}") and Habits().reference("KEY") == ""


@each_case("title", HABITS)
def test_what_is_known_of_a_host_does_not_contradict_itself(title: str):
    habits = HABITS[title]
    assert not set(habits.accepts) & set(habits.rejects)
    assert habits.replaces(habits.reference("KEY")) == bool(habits.example) or habits.expands is None


def test_the_hosts_are_those_whose_files_are_known():
    claude = {"Claude Desktop", "Claude Code"}
    assert HABITS.keys() <= {host.title for host in HOSTS.values()} | claude
