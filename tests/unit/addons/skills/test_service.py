"""The skills of a run: the servers' and the user's part together."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.addons.skills.site import FORMS, Site, raw_entry
from tui.addons.skills.approvals import Approval
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime


@pytest.fixture
async def runtime(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    made = Runtime(Options(command="skill").with_server(site.spec(), {}), {})
    await made.ready(start=False, model=False, taps=False, session=False)
    await made.host.start("docs")
    yield made
    await made.shutdown()


async def test_an_entry_with_other_files_revokes_the_approval_without_being_asked(
    runtime: Runtime, site: Site
):
    skills, spec = runtime.skills, runtime.host.status("docs").spec
    assert skills is not None
    entry = (await skills.servers.listing("docs")).entries[0]
    skills.approvals.approve(spec, entry)
    site.pages[0][0] = raw_entry(FORMS, {FORMS: "other"})
    site.save()
    await skills.servers.listing("docs")
    assert skills.approvals.state(spec, entry).approval is Approval.CHANGED


async def test_a_removed_server_leaves_no_approval(runtime: Runtime):
    skills, spec = runtime.skills, runtime.host.status("docs").spec
    assert skills is not None
    entry = (await skills.servers.listing("docs")).entries[0]
    skills.approvals.approve(spec, entry)
    runtime._forget("docs")
    assert skills.approvals.state(spec, entry).approval is Approval.NEW


async def test_the_timeout_is_that_of_calls(runtime: Runtime):
    assert runtime.skills is not None
    assert runtime.skills.servers.timeout() == runtime.turn_context.limits.call_timeout
