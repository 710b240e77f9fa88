"""A server on the SDK with an app view, and lists that it calls fresh for a minute."""

from mcp.server import MCPServer
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.caching import CacheHint

apps = Apps()


@apps.tool(resource_uri="ui://clock/app.html", description="Show the time.")
def show_time() -> str:
    return "Noon."


@apps.tool(resource_uri="ui://clock/app.html", visibility=["app"], description="For the app.")
def tick() -> str:
    return "tick"


apps.add_html_resource(
    "ui://clock/app.html",
    "<!doctype html><title>Clock</title><h1>Noon</h1>",
    csp=ResourceCsp(connect_domains=["https://time.example"]),
)
MCPServer("clock", extensions=[apps], cache_hints={"tools/list": CacheHint(ttl_ms=60_000)}).run("stdio")
