"""Variables that change what a program does."""

import pytest

from tui.core.permission.launch import is_loader


@pytest.mark.parametrize("name", ["LD_PRELOAD", "ld_preload", "DYLD_X", "NODE_OPTIONS", "GIT_SSH", "PATH"])
def test_variables_that_make_a_program_load_other_code_are_recognized(name: str):
    assert is_loader(name)


@pytest.mark.parametrize("name", ["TOKEN", "LANG", "HTTP_PROXY", "NPM_CONFIG_REGISTRY", ""])
def test_other_variables_are_not_loaders(name: str):
    assert not is_loader(name)
