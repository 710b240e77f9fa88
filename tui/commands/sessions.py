"""`mcptui sessions`: list, search, show and change saved conversations without a screen."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.commands.progress import progress
from tui.commands.streams import on_terminal, width
from tui.commands.table import TEXT_CELLS, Columns, json_line, table
from tui.core.conversation.sessions import EXPORT_ENDINGS, LIST_STEP, ExportKind, SessionInfo, named
from tui.core.errors import UsageError
from tui.core.matching import has_words
from tui.core.secrets.redact import Redactor
from tui.core.text import clean, clean_line, truncated
from tui.core.units import count, day_and_time, local_rfc3339

if TYPE_CHECKING:
    from tui.storage.sessions.store import SessionStore

MAX_SYSTEM = 20_000
"""Maximum characters of a system prompt to show."""

ALL = 1_000_000
"""More sessions than any user has, so in effect no limit."""

_FOUND, _ID_CELLS = ("id", "message", "title and text"), 23
_DOING = {"list": "reading", "search": "searching", "export": "exporting", "import": "importing"}
_HEAD = ("id", "changed", "turns", "tokens", "model", "title")


def sessions(args: argparse.Namespace) -> int:
    """Run `mcptui sessions` and return the exit code."""
    action = args.action or "list"
    with progress(_DOING.get(action, ""), quiet=args.json):
        asyncio.run(_ACTIONS[action](args))
    return 0


def _store(redactor: Redactor | None = None) -> "SessionStore":
    from tui.settings.locations import data_dir
    from tui.storage.sessions.store import SessionStore

    known = redactor or Redactor()
    return SessionStore(data_dir() / "sessions", lambda: known)


def _redactor(args: argparse.Namespace) -> Redactor:
    """Return a redactor of the configured secrets, empty if the configuration is unreadable."""
    from tui.settings.load import load
    from tui.settings.locations import config_path

    path, named_one = config_path(vars(args).get("config"), os.environ)
    return Redactor(load(path, os.environ, required=named_one).secrets)


def _path(text: str) -> Path:
    return Path(os.path.expanduser(text))


async def _named(store: "SessionStore", name: str) -> SessionInfo:
    return _one_of(await store.list(limit=ALL), name)


def _one_of(found: Sequence[SessionInfo], name: str, step: str = LIST_STEP) -> SessionInfo:
    if (chosen := named(found, name)) is None:
        raise UsageError("session not found", where=name, next_step=step)
    return chosen


async def _list(args: argparse.Namespace) -> None:
    given = vars(args)
    store = _store()
    wanted = given.get("text", "")
    if given.get("deleted"):
        found: Sequence[SessionInfo] = [one for one in await store.deleted() if has_words(one.title, wanted)]
    else:
        found = await store.list(wanted, limit=given.get("limit", 200))
    if args.json:
        for info in found:
            print(json_line(_object(info)))
    elif found:
        print(table([*map(_row, found)], {0, 1, 4, 5}, width(), head=_HEAD))
    else:
        print("no matching title" if wanted else "no sessions yet")


async def _search(args: argparse.Namespace) -> None:
    number, widths = 0, (_ID_CELLS, len(_FOUND[1]), TEXT_CELLS)
    places_found = Columns(widths, {0, 2}, width(), head=_FOUND, words=widths)
    async with aclosing(_store().search(args.text)) as places:
        async for found in places:
            ident, title, place = found.session.id, found.session.title, found.index
            title, excerpt = clean_line(title, 200), clean_line(found.excerpt, 300)
            row = (ident, str(place), f"{title}: {excerpt}")
            if not (number or args.json) and on_terminal():
                print("\n".join(places_found.heading()))
            line = "\n".join(places_found.lines(row))
            _say(args, line, id=ident, title=title, message=place, excerpt=excerpt)
            number += 1
            if number == args.limit:
                break
    if not number and not args.json:
        print("no matches")


async def _show(args: argparse.Namespace) -> None:
    store = _store()
    info = await _named(store, args.session)
    sys.stdout.write(await store.exported(info.id, "json" if args.json else "markdown"))


async def _rename(args: argparse.Namespace) -> None:
    redactor = _redactor(args)
    store = _store(redactor)
    info = await _named(store, args.session)
    title = clean_line(redactor.redact_spoken(args.title), 200)
    if not title:
        raise UsageError("the title is empty")
    await store.rename(info.id, title)
    _say(args, f"renamed {info.id} to {title}", id=info.id, title=title)


async def _delete(args: argparse.Namespace) -> None:
    store = _store()
    infos = [await _named(store, name) for name in args.sessions]
    for info in {info.id: info for info in infos}.values():
        await store.delete(info.id)
        again = f"Restore it with: mcptui sessions restore {info.id}"
        _say(args, f"deleted {_called(info)}. {again}", id=info.id, deleted=True)


async def _restore(args: argparse.Namespace) -> None:
    store = _store()
    step = "List deleted sessions with `mcptui sessions list --deleted`."
    info = _one_of(await store.deleted(), args.session, step)
    await store.restore(info.id)
    _say(args, f"restored {_called(info)}", id=info.id, deleted=False)


async def _export(args: argparse.Namespace) -> None:
    from tui.commands.share import choice_of, say_review
    from tui.runtime.shared_traffic import SharedTraffic

    store = _store(_redactor(args))
    info = await _named(store, args.session)
    kind: ExportKind = args.kind or EXPORT_ENDINGS.get(Path(args.output or "").suffix.lower(), "markdown")
    choice = choice_of(args, is_document=kind != "json")
    if args.output in (None, "-"):
        if args.json and kind != "json":
            raise UsageError("--json requires --output", next_step="To print the session as JSON: --as json.")
        sys.stdout.write(await store.exported(info.id, kind, choice, SharedTraffic))
    else:
        target = _path(args.output)
        contents = await store.export(info.id, kind, target, wait=True, choice=choice, traffic=SharedTraffic)
        where = clean_line(str(target), 4096)
        _say(args, f"wrote {where}: {contents}", id=info.id, path=str(target), kind=kind)
    if kind == "html":
        say_review(choice)


async def _import(args: argparse.Namespace) -> None:
    store = _store(_redactor(args))
    found = await store.import_json(_path(args.file), keep_system=args.keep_system)
    _say(args, f"imported {_called(found.info)}", **_object(found.info))
    notes = [
        "Its content could come from anybody. If you continue it, more calls need your approval. Its "
        "model is not selected."
    ]
    if found.system:
        text = clean(truncated(found.system, MAX_SYSTEM))
        notes.append(f"Its system prompt{'' if args.keep_system else ' is not used'}:\n{text}")
        if not args.keep_system:
            notes.append("To use it, import the file again with --keep-system.")
    print("\n".join(notes), file=sys.stderr)


_ACTIONS = {
    "list": _list,
    "search": _search,
    "show": _show,
    "rename": _rename,
    "delete": _delete,
    "restore": _restore,
    "export": _export,
    "import": _import,
}


def _say(args: argparse.Namespace, sentence: str, **values: Any) -> None:
    if args.json:
        print(json_line(values))
    else:
        print(sentence)


def _called(info: SessionInfo) -> str:
    return f"{info.id} ({clean_line(info.title, 60) or 'untitled'})"


def _row(info: SessionInfo) -> tuple[str, ...]:
    title = clean_line(info.title or info.problem, 200)
    return (
        info.id,
        day_and_time(info.changed),
        str(info.turns),
        f"{'~' if info.estimated else ''}{count(info.tokens)}" if info.tokens else "",
        clean_line(info.model, 80),
        f"{title} (open)" if info.in_use else title,
    )


_FIELDS = (
    "id", "title", "created", "changed", "messages", "turns", "model", "tokens", "estimated", "cost",
    "parent", "branched_at", "in_use", "problem",
)  # fmt: skip
_TEXTS = {"title": 200, "model": 80, "problem": 400}
"""Maximum characters of the texts from a file."""


def _object(info: SessionInfo) -> dict[str, Any]:
    found = {name: getattr(info, name) for name in _FIELDS}
    found |= {name: clean_line(found[name], most) for name, most in _TEXTS.items()}
    return found | {name: local_rfc3339(found[name]) for name in ("created", "changed")}
