"""Variables that change what a program does."""

import pytest

from tui.core.consent.variables import is_loader


@pytest.mark.parametrize("name", ["LD_PRELOAD", "ld_preload", "DYLD_X", "NODE_OPTIONS", "GIT_SSH", "PATH"])
def test_what_makes_a_program_load_other_code_is_known(name: str):
    assert is_loader(name)


@pytest.mark.parametrize("name", ["TOKEN", "LANG", "HTTP_PROXY", "NPM_CONFIG_REGISTRY", ""])
def test_other_variables_load_nothing(name: str):
    assert not is_loader(name)
