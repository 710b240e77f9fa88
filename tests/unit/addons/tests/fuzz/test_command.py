"""What `mcptui test --fuzz` refuses."""

from argparse import Namespace

import pytest

from tui.addons.tests.fuzz import command
from tui.core.errors import UsageError


def test_without_hypothesis_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs Hypothesis") as error:
        command.fuzz(Namespace(words=[]))
    assert error.value.next_step == "Install mcptui with its extra: pip install 'mcptui-host[fuzz]'"
