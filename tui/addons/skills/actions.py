"""The keys that this add-on brings. The app reads them before its first frame, so this imports nothing."""

# fmt: off
BRINGS = {
    "action": {
        "ask.read": ("SERVER_QUESTION", "ctrl+r", "read SKILL.md",
            "Read the SKILL.md of the skill before you answer", 4, ""),
        "bench.skills": ("BENCH_LIST", "8", "skills", "Show the skills of the server", 0,
            "tui.addons.skills.tab:show_tab", "tui.addons.skills.actions:why_no_skills"),
        "skills.read": ("SKILLS", "enter", "read", "Read the SKILL.md of the selected skill", 1, "read()"),
        "skills.load": ("SKILLS", "a", "load", "Load the skill, and attach it to the next message", 2,
            "load()"),
        "skills.revoke": ("SKILLS", "ctrl+d", "revoke", "Revoke the approval of the skill", 3, "revoke()"),
        "skills.reload": ("SKILLS", "R", "list again", "List the skills of the server again", 4, "reload()"),
        "skills.back": ("SKILLS", "escape,q", "back", "Close the workbench", 5, "back()"),
    },
}
# fmt: on


def why_no_skills(owner: object) -> str:
    """Return why a workbench has no tab for skills, or "". Imports nothing of a server without skills."""
    from tui.core.language.translate import _

    tabs = getattr(getattr(owner, "tabs", None), "names", ())
    return "" if "skills" in tabs else _("This server serves no skills: it does not declare the extension.")
