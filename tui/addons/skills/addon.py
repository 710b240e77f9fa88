"""What this add-on brings: `mcptui skill`, and the skills of servers. Loads the standard library only."""

BRINGS = {
    "service": {
        "skills": "tui.addons.skills.service:skills",
        "skill loader": "tui.addons.skills.loader:SkillLoader",
        "skills tab": "tui.addons.skills.tab:SkillsTab",
    },
}
