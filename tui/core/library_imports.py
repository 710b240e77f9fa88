"""Faster imports: one at a time, and of libraries only what mcptui uses. All changes to modules are here.

Importing threads take turns with the one that handles keys: with three of them, painting took 120 ms instead
of 16 (measured). Python's garbage collector is paused meanwhile: imports create no garbage, and searching for
it repeatedly took a tenth of their time (measured).

`import_without` replaces the modules of unused parts by empty ones during an import, and forgets them
afterwards, so that a later import of such a part gets the real one. A library that fails this way is loaded
completely. The `load_*` functions say what is left out of which library. `compile_methods_late` is for Python
3.11 and 3.12, which compile up to six methods of a dataclass one by one; most are never called.

With `MCPTUI_WHOLE_LIBRARIES` in the environment, libraries are loaded as they are. Each trick saves at least
50 ms or 5 MB; docs/performance.md has the numbers.
"""

import dataclasses
import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Self

_lock = threading.Lock()
_pauses = 0
_enable_afterwards = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector; leaving the last of these contexts, in any thread, restores its earlier state."""
    global _pauses, _enable_afterwards
    with _lock:
        if not _pauses:
            _enable_afterwards = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _enable_afterwards:
                gc.enable()


def enable_collector() -> None:
    """Enable the collector, at the end of the last pause if there is one."""
    global _enable_afterwards
    with _lock:
        _enable_afterwards = True
        if not _pauses:
            gc.enable()


_turn = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Wait until no other thread imports. For threads, never on the event loop."""
    with _turn, collector_paused():
        yield


SWITCH = "MCPTUI_WHOLE_LIBRARIES"

_log = logging.getLogger(__name__)


def _is_off() -> bool:
    return os.environ.get(SWITCH, "") not in ("", "0")


def import_without(module: str, left_out: Sequence[str]) -> ModuleType:
    """Import a module without the packages `left_out`, unless it is imported already; return it.

    Thread-safe: all callers share one load.
    """
    with importing():
        before = sys.modules.copy()
        if module not in before and not _is_off():
            try:
                with replaced(left_out):
                    importlib.import_module(module)
            except Exception:  # another version of the library may do anything with empty classes
                _log.warning("cannot load %s partially, loading all of it", module, exc_info=True)
                library = module.partition(".")[0]
                new = [name for name in sys.modules.copy() if name not in before]
                _forget(name for name in new if name.partition(".")[0] == library)
            gc.freeze()  # imported objects are never garbage: a collection would look at each of 100,000
        return importlib.import_module(module)


@contextmanager
def replaced(names: Sequence[str]) -> Iterator[None]:
    """Replace every module of some packages with an empty one.

    Other threads may be importing, which iterates over `sys.meta_path`. Removing a finder from that list
    shifts those after it, and such an import skips one of them (ModuleNotFoundError, measured). So the list
    is replaced, never shortened.
    """
    finder = _EmptyModuleFinder(names)
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]
        _forget(name for name, module in sys.modules.copy().items() if type(module) is _EmptyModule)


def _forget(names: Iterable[str]) -> None:
    """Forget modules. Never raises, whatever other threads import."""
    for name in names:
        sys.modules.pop(name, None)
        parent, _, child = name.rpartition(".")
        if (holder := sys.modules.get(parent)) is not None:
            vars(holder).pop(child, None)


class _EmptyModuleFinder:
    """A finder and loader. Its base classes in `importlib.abc` would load tempfile and random."""

    def __init__(self, names: Sequence[str]) -> None:
        self._left_out = tuple(f"{name}." for name in names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if f"{fullname}.".startswith(self._left_out):
            return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


class _EmptyModule(ModuleType):
    """Returns an empty class for every capitalized name, and a submodule for any other."""

    def __getattr__(self, name: str) -> type:
        if not name[0].isupper():
            raise AttributeError(name)  # `from module import name` then imports a submodule
        made = type(name, (_Nothing,), {})
        setattr(self, name, made)  # the libraries look some up at each request
        return made


class _Nothing:
    """Never instantiated."""

    def __class_getitem__(cls, _: object) -> type[Self]:
        return cls


def load_openai() -> ModuleType:
    """Import openai with its modules for chat requests, without its types (seen with openai 3.57).

    These are 500 modules of models and typed dictionaries, the types of arguments and results that mcptui
    neither passes nor decodes.
    """
    import_without("openai.resources.chat.completions.completions", ("openai.types",))
    return importlib.import_module("openai")


def load_sign_in() -> ModuleType:
    """Import the OAuth client of the MCP SDK, without the SDK's server half (seen with mcp 2.3).

    That half loads starlette, uvicorn, cryptography and the models of server messages. The client imports a
    few of its names, only to recognize a server object in the same process.
    """
    with importing():
        load_wire_models()
        return import_without("mcp.client.auth", ("mcp.server",))


def load_credentials(*, with_jwt: bool) -> Any:
    """Import the SDK's client credentials; without PyJWT, which only a private key needs."""
    with importing():
        module: Any = import_without("mcp.client.auth.extensions.client_credentials", ("jwt",))
        if with_jwt:
            module.jwt = importlib.import_module("jwt")
        return module


_WITHOUT_HTTP = (
    *(
        "mcp.client",
        "mcp.server.auth",
        "mcp.server.mcpserver",
        "mcp.server.sse",
        "mcp.server.streamable_http",
    ),
    *("mcp.server.streamable_http_manager", "mcp.server.transport_security"),
    *("httpx2", "sse_starlette", "starlette", "uvicorn"),
)


def load_stdio_server() -> tuple[Any, Any, Any]:
    """Import the SDK's low-level server, its stdio streams and its types, without clients and HTTP.

    These take 0.6 s and 35 MB (seen with mcp 2.3).
    """
    with importing():
        load_wire_models()
        server = import_without("mcp.server.lowlevel", _WITHOUT_HTTP)
        return server, importlib.import_module("mcp.server.stdio"), importlib.import_module("mcp_types")


def load_wire_models() -> ModuleType:
    """Import `mcp_types.methods`, the SDK's models of messages, with which the linter checks them.

    There are some 300 of them, and a run uses a few, so pydantic builds each on its first use.
    """
    with importing():
        if (loaded := sys.modules.get("mcp_types.methods")) is not None:
            return loaded
        if not _is_off():
            with suppress(ImportError, AttributeError):  # private: in another version, they are built at once
                base: Any = importlib.import_module("mcp_types._wire_base")
                base.WireModel.model_config["defer_build"] = True  # inherited by models defined later
        methods = importlib.import_module("mcp_types.methods")
        gc.freeze()  # imported objects are never garbage
        return methods


_LATE = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Methods that are compiled on first use. Not `__init__`, whose signature is inspected."""

_compiled = getattr(dataclasses, "_create_fn", None)  # until Python 3.12; later versions need none of this


def compile_methods_late() -> None:
    """Compile the methods of dataclasses defined from now on at first use."""
    if _compiled is not None and not _is_off():
        dataclasses._create_fn = _created  # type: ignore[attr-defined]


def _created(name: str, *source: Any, **more: Any) -> Callable[..., Any]:
    assert _compiled is not None
    if name not in _LATE:
        return _compiled(name, *source, **more)  # type: ignore[no-any-return]
    method: Any = None

    def first_call(self: object, *args: object) -> object:
        nonlocal method
        if method is None:
            method = _compiled(name, *source, **more)
            method.__qualname__ = first_call.__qualname__
            for owner in type(self).__mro__:
                if vars(owner).get(name) is first_call:
                    setattr(owner, name, method)
        return method(self, *args)

    first_call.__name__ = name
    return first_call
