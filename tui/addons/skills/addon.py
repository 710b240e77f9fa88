"""What this add-on brings: `mcptui skill`, and the skills of servers. Loads the standard library only."""

BRINGS = {
    "service": {"skills": "tui.addons.skills.service:skills"},
}
