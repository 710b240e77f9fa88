"""Task support as the SDK advertises it to servers."""

import json

import pytest

from tests.unit.host.test_connection import running
from tui.core.tasks import EXTENSION


@pytest.mark.parametrize(("era", "said"), [("legacy", False), ("modern", True)])
async def test_task_support_is_advertised_only_in_revisions_that_have_tasks(era, said):
    async with running(era) as (_, params):
        requests = [*params("initialize"), *params("server/discover")]
        assert requests and (EXTENSION in json.dumps(params("tools/list"))) is said
        assert EXTENSION not in json.dumps(params("initialize"))
