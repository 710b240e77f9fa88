"""Injects faults into the messages of one connection, and marks each one in the traffic."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tui.addons.faults import broken_messages as broken
from tui.addons.faults.injection import Decided, Hit, Injection
from tui.addons.faults.rules import Rule, parse_rules
from tui.core.jsonrpc.reader import json_value
from tui.core.traffic import Direction
from tui.core.units import noun
from tui.host.frames.stage import PassOn, Stage

NEXT_SECONDS = 1.0
"""How long a message waits for the next one, which it is to follow."""

UNAUTHORIZED = {"www-authenticate": 'Bearer error="invalid_token", error_description="The token expired"'}

_SECOND = 1_000_000_000

Send = Callable[[], None]


def stages(rules: Sequence[str], *, is_http: bool) -> Sequence[Stage]:
    """Return the stages of a connection with rules as they are configured. Raises ValueError."""
    return [FaultStage(parse_rules(rules, is_http=is_http))]


class FaultStage:
    """The faults of one connection: a `Stage`. `injected` counts them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.injected = 0
        self._rules = rules
        self._injection = Injection(rules)
        self._waiting: dict[Direction, dict[Send, asyncio.TimerHandle]] = {
            Direction.OUT: {},
            Direction.IN: {},
        }
        self._followers: dict[Direction, list[Send]] = {Direction.OUT: [], Direction.IN: []}
        self._busy_until = {Direction.OUT: 0.0, Direction.IN: 0.0}

    @property
    def badge(self) -> str:
        """What a status says of it."""
        count = len(self._rules)
        return f"faults: {count} {noun(count, 'rule')}, {self.injected} injected"

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        decided = self._injection.decide(pass_on.source, direction, raw, pass_on.exchange)
        seconds, several, follows = 0.0, [raw], False
        for hit in decided.hits:
            rule, about = hit.rule, dict[str, Any]()
            match rule.said.partition("=")[0]:
                case "delay":
                    more = rule.delay_ns(hit.match) / _SECOND
                    seconds, about = seconds + more, {"seconds": round(more, 6)}
                case "lose" | "error" | "status" | "expire":
                    self._mark(hit, decided, direction, pass_on, was=broken.shown(raw))
                    self._end(rule, direction, raw, pass_on)
                    return
                case "repeat":
                    several = several * 2
                case "reorder":
                    follows = True
                case "stray-output":
                    several = [broken.stray_output(rule, hit.match), *several]
                case "vanish":
                    several = [broken.without(one, decided.reading.method, hit.gone) for one in several]
                    about = {"gone": sorted(hit.gone)}
                case "slow":
                    more = len(several[-1]) / rule.amount
                    self._busy_until[direction] = max(self._now(), self._busy_until[direction]) + more
                    about = {"seconds": round(more, 6)}
                case _:
                    whole = several[-1]
                    several[-1] = broken.changed(whole, rule, hit.match, decided.schema)
                    if several[-1] == whole:  # too short to be cut, or not a result
                        continue
                    about = {"bytes": len(several[-1])}
            self._mark(hit, decided, direction, pass_on, **about)
        seconds = max(seconds, self._busy_until[direction] - self._now())
        send = partial(self._send, direction, several, pass_on)
        if follows and not self._followers[direction]:
            self._followers[direction].append(send)
            seconds += NEXT_SECONDS
        if seconds > 0:
            timer = asyncio.get_running_loop().call_later(seconds, self._due, direction, send)
            self._waiting[direction][send] = timer
        else:
            send()

    def release(self, direction: Direction) -> None:
        self._busy_until[direction] = 0.0
        for send, timer in sorted(self._waiting[direction].items(), key=lambda one: one[1].when()):
            timer.cancel()
            self._due(direction, send)

    def _end(self, rule: Rule, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        """Do what is done instead of passing a message on."""
        back = Direction.IN if direction is Direction.OUT else Direction.OUT
        match rule.fault:
            case "error":
                pass_on(back, broken.error_reply(raw, rule.amount))
            case "status":
                pass_on.refuse(rule.amount, {"retry-after": "1"} if rule.amount in (429, 503) else {})
            case "expire":
                pass_on.refuse(401, UNAUTHORIZED)
            case _ if rule.said == "lose=connection":
                pass_on.lose()

    def _due(self, direction: Direction, send: Send) -> None:
        if self._waiting[direction].pop(send, None) is not None:
            if send in self._followers[direction]:
                self._followers[direction].remove(send)
            send()

    def _send(self, direction: Direction, several: Sequence[bytes], pass_on: PassOn) -> None:
        for raw in several:
            pass_on(direction, raw)
        for follower in list(self._followers[direction]):
            self._waiting[direction][follower].cancel()
            self._due(direction, follower)

    def _mark(self, hit: Hit, decided: Decided, direction: Direction, pass_on: PassOn, **about: Any) -> None:
        reading = decided.reading
        known = {
            "id": json_value(reading.ident) if reading.ident else None,
            "method": reading.method,
            "tool": reading.tool,
            "dir": direction.name.lower(),
            "rule": hit.rule.text,
            "match": hit.match,
            **about,
        }
        known = {name: value for name, value in known.items() if value not in ("", None)}
        pass_on.event("fault", fault=hit.rule.said, **known)
        self.injected += 1

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
