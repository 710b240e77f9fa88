"""What taps that restart their server have in common."""

from tui.addons.watch.restarter import why_failed


def test_a_host_is_told_which_files_have_changed():
    files = [f"/src/{name}.py" for name in "abcd"]
    assert "because a.py, b.py, c.py changed" in why_failed(files)
