"""Loads the SDK's models of the wire formats, which the linter and the judge check messages with.

`mcp_types.methods` validates messages against some 300 generated pydantic models, and building all of them
takes half of the time to load them and 5 MB (measured). A run uses a few of them. So their base class is
replaced while they are imported: a model's class statement only stores its body, and the model is built from
it on first use (seen with mcp-types 2.3, pydantic 2.14). Where this does not work, or where
`MCPTUI_WHOLE_LIBRARIES` is set, they are built at once.
"""

import importlib
import logging
import os
import sys
import threading
import types
from typing import Any

from tui.core.library_imports import SWITCH, importing

MODULES = ("mcp_types._v2025_11_25", "mcp_types._v2026_07_28")
_BASE = "mcp_types._wire_base"

_log = logging.getLogger(__name__)
_building = threading.RLock()


def load_wire_models() -> None:
    """Import the models of the wire formats, unless they are imported already. Thread-safe."""
    with importing():
        if os.environ.get(SWITCH, "") not in ("", "0") or any(name in sys.modules for name in MODULES):
            return
        try:
            base = importlib.import_module(_BASE)
            real = base.WireModel
            base.WireModel = _Unbuilt("WireModel", (), {"__module__": base.__name__}, model=real)  # type: ignore[attr-defined]
            try:
                for name in MODULES:
                    importlib.import_module(name)
            finally:
                base.WireModel = real  # type: ignore[attr-defined]
        except Exception:  # another version of the SDK: its importer builds the models
            _log.warning("the SDK's models cannot be built on first use", exc_info=True)
            for name in MODULES:
                sys.modules.pop(name, None)


class _Unbuilt(type):
    """The metaclass of placeholders for models, which are built on first access to an attribute.

    Annotations refer to placeholders too: pydantic then requests the schema of the model.
    """

    def __new__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], model: type | None = None
    ) -> "_Unbuilt":
        made = super().__new__(cls, name, bases, {"__module__": body["__module__"]})
        made._body = body
        made._model = model
        return made

    def __init__(cls, *_: Any, **__: Any) -> None:
        """Accept the arguments of `__new__`."""

    _body: dict[str, Any]
    _model: Any

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _building:  # building a schema is not safe in two threads
            model = _built(cls)
            model.model_rebuild()
        return getattr(model, name)

    def __call__(cls, *args: Any, **values: Any) -> Any:
        return _built(cls)(*args, **values)

    def __get_pydantic_core_schema__(cls, _source: object, handler: Any) -> Any:
        return handler(_built(cls))

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _built(cls))


def _built(cls: _Unbuilt) -> Any:
    """Return the model, whose own schema is built later: models may contain each other."""
    with _building:
        if cls._model is None:
            config = {**cls._body.get("model_config", {}), "defer_build": True}
            body = {**cls._body, "model_config": config}
            bases = tuple(_built(base) for base in cls.__bases__)  # type: ignore[arg-type]
            cls._model = types.new_class(cls.__name__, bases, exec_body=lambda names: names.update(body))
        return cls._model
