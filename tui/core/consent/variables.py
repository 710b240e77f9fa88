"""Environment variables that change what a program runs, downloads or connects to. Pure."""

_LOADERS = frozenset(
    "SHELLOPTS BASHOPTS PS4 HOME LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT"
    " NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP"
    " PYTHONUSERBASE PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT BASH_ENV ENV ZDOTDIR PROMPT_COMMAND"
    " SSH_ASKPASS CLASSPATH"
    " JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS DOTNET_STARTUP_HOOKS LUA_INIT PHPRC PHP_INI_SCAN_DIR"
    " R_PROFILE GCONV_PATH PATH".split()
)
_LOADER_STARTS = ("DYLD_", "GIT_", "CORECLR_", "COR_PROFILER")
SOURCE_STARTS = ("NPM_CONFIG_", "PIP_", "UV_", "BUN_CONFIG_")
PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"))
ENGINES = frozenset(("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "KUBECONFIG"))


def is_loader(name: str) -> bool:
    """Return whether a variable can make a program load other code."""
    upper = name.upper()
    return upper in _LOADERS or upper.startswith(_LOADER_STARTS)
