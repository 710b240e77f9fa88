"""What an attached process is called."""

from tui.addons.up.peer import Peer


def test_screens_name_for_whom_it_asks_and_the_record_names_the_command():
    agent = Peer(7, "mcptui agent", "mcptui agent for claude-code")
    assert agent.words == "mcptui agent for claude-code (pid 7)" and agent.by == "command mcptui agent, pid 7"
    assert Peer(8, "mcptui call").words == "mcptui call (pid 8)" and Peer(9).words == "unknown (pid 9)"
