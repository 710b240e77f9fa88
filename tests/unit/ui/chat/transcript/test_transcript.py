"""The transcript is cheap to import: the first frame needs it."""

import subprocess
import sys

HEAVY = ["markdown_it", "pygments.lexers", "pydantic", "mcp", "openai"]


def test_importing_the_transcript_does_not_import_what_only_a_reply_needs():
    script = f"import sys, tui.ui.chat.transcript.transcript; print([n for n in {HEAVY} if n in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30
    )

    assert found.stdout.strip() == "[]"
