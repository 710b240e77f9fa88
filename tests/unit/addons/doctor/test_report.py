"""The report of checklists."""

from tui.addons.doctor.report import checklist_report
from tui.addons.doctor.steps import Checklist, Step
from tui.core.secrets.redact import Redactor


def test_a_report_has_versions_and_steps_and_no_secrets():
    redactor = Redactor()
    redactor.add({"API_KEY": "canary-77777777"})
    found = Checklist("s", "python s.py", [Step.failed("start", "bad key canary-77777777", "Change it.")])
    text = checklist_report([found], during="mcptui doctor", env={}, redactor=redactor)
    assert "canary" not in text and "bad key [redacted:API_KEY]" in text
    assert all(part in text for part in ("mcptui doctor", "python ", "s   python s.py", "Failed at start."))
