from tui.core.servers import ServerSpec
from tui.host.server.server_start import start_seconds


def test_package_launchers_get_time_to_download():
    assert start_seconds(ServerSpec("a", "/usr/bin/npx")) == 180
    assert start_seconds(ServerSpec("a", "npx", start_seconds=5)) == 5
    assert start_seconds(ServerSpec("a", "python")) == 60
