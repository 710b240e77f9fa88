import pytest

from tui.storage.exports.export import Format, exported


@pytest.mark.parametrize("form", Format)
def test_every_format_can_export_an_empty_selection(form: Format):
    assert "".join(exported(form, [], lambda seq: None, "title"))
