"""Injects faults into the messages of one connection, and marks each one in the traffic."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakSet

from tui.addons.faults import broken_messages as broken
from tui.addons.faults.breakpoints import about_message
from tui.addons.faults.injection import Decided, Hit, Injection
from tui.addons.faults.rules import FAULTS, Rule, parse_rules
from tui.core.traffic import Direction
from tui.host.frames.stage import PassOn, Stage

NEXT_SECONDS = 0.25
"""How long a message waits for the next one, which it is to follow."""

TICK = 1e-6
UNAUTHORIZED = {"www-authenticate": 'Bearer error="invalid_token", error_description="The token expired"'}

_SHOWN = frozenset({"vanish", "cut", "garbage", "invalid-result"})
"""Faults whose event has what was sent instead of the message."""

_SECOND = 1_000_000_000

Send = Callable[[], None]


class _Way:
    """One direction: when its messages are passed on. `waiting`: those that are not yet."""

    def __init__(self) -> None:
        self.waiting: dict[Send, asyncio.TimerHandle] = {}
        self._follower: Send | None = None  # waits for the next message
        self._slow: Send | None = None  # the last message that takes its time, or waits behind one
        self._busy_until = 0.0

    def put(self, send: Send, delay: float, takes: float, *, follows: bool) -> None:
        """Pass on after a delay; if it `follows`, after the next message, if that comes soon.

        What `takes` its time waits for what does so before it, and what comes after it waits for it.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        due = now + delay
        if takes or self._slow in self.waiting:
            # Two timers of the same moment have no order.
            self._busy_until = max(self._busy_until + TICK, now) + takes
            self._slow, due = send, self._busy_until + delay
        if follows and self._follower is None:
            self._follower = send
            due += NEXT_SECONDS
        if due > now:
            self.waiting[send] = loop.call_at(due, self._pass, send)
        else:
            self._pass(send)

    def release(self) -> None:
        """Pass on everything that waits, in order of time."""
        self._busy_until = 0.0
        for send in sorted(self.waiting, key=lambda one: self.waiting[one].when()):
            if send in self.waiting:
                self._pass(send)

    def _pass(self, send: Send) -> None:
        if (timer := self.waiting.pop(send, None)) is not None:
            timer.cancel()
        follower, self._follower = self._follower, None
        send()
        if follower is not None and follower is not send:
            self._pass(follower)


def stages(rules: Sequence[str], *, transport: str) -> Sequence[Stage]:
    """Return the stages of a connection with rules as they are configured. Raises ValueError."""
    return [FaultStage(parse_rules(rules, transport=transport))]


class LiveFaults:
    """The faults of all servers of a run, which can be changed; `text` is "" for none, or rules with `;`."""

    def __init__(self) -> None:
        self.text = ""
        self._stages = WeakSet[FaultStage]()

    def set(self, text: str) -> None:
        """Replace the rules. Raises ValueError as `parse_rules` does."""
        rules = parse_live(text)
        self.text = text.strip()
        for stage in self._stages:
            stage.use(rules)

    def stage(self) -> "FaultStage":
        """Return the stage of one connection."""
        stage = FaultStage(parse_live(self.text))
        self._stages.add(stage)
        return stage


def parse_live(text: str) -> list[Rule]:
    """Return the rules of a text, in which `;` is between them; none for an empty one. Raises ValueError."""
    return parse_rules(text.split(";")) if text.strip() else []


class FaultStage:
    """The faults of one connection: a `Stage`. `injected` counts them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.injected = 0
        self._is_lost = False  # the connection, over stdio
        self.use(rules)
        self._ways = {Direction.OUT: _Way(), Direction.IN: _Way()}

    def use(self, rules: Sequence[Rule]) -> None:
        """Replace the rules, and count matches from 1."""
        self.rules = rules
        self._injection = Injection(rules)

    @property
    def is_idle(self) -> bool:
        out, back = self._ways.values()
        return not (self.rules or out.waiting or back.waiting)

    def begin(self) -> None:
        """Nothing to do."""

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        decided = self._injection.decide(pass_on.source, direction, raw, pass_on.exchange)
        if self._is_lost:
            if direction is Direction.OUT:
                pass_on(direction, raw)
            else:
                pass_on.event("undelivered", **about_message(decided.reading, direction))
            return
        delay = takes = 0.0
        several, follows = [raw], False
        for hit in decided.hits:
            rule, about = hit.rule, dict[str, Any]()
            if FAULTS[rule.fault].is_http and not pass_on.exchange:
                continue
            match rule.fault:
                case "delay":
                    delay += (more := rule.delay_ns(hit.match) / _SECOND)
                    about = {"seconds": round(more, 6)}
                case "slow":
                    takes += (more := len(several[-1]) / rule.amount)
                    about = {"seconds": round(more, 6)}
                case "lose" | "error" | "status" | "expire":
                    self._mark(hit, decided, direction, pass_on, was=broken.shown(raw))
                    self._end(rule, direction, raw, pass_on)
                    return
                case "reorder":
                    follows = True
                case _:
                    made = _changed(several, hit, decided)
                    if made == several:  # too short to be cut, or not a result
                        continue
                    several, about = made, {"gone": sorted(hit.gone)} if hit.gone else {}
                    if rule.fault in _SHOWN:
                        about["sent"] = broken.shown(made[-1])
            self._mark(hit, decided, direction, pass_on, **about)
        send = partial(_send, direction, several, pass_on)
        self._ways[direction].put(send, delay, takes, follows=follows)

    def release(self, direction: Direction) -> None:
        self._ways[direction].release()

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
                if not pass_on.exchange:
                    for way in self._ways.values():
                        way.release()
                    self._is_lost = True
                pass_on.lose()

    def _mark(self, hit: Hit, decided: Decided, direction: Direction, pass_on: PassOn, **about: Any) -> None:
        about |= {"rule": hit.rule.text, "match": hit.match}
        known = about_message(decided.reading, direction, **about)
        pass_on.event("fault", fault=hit.rule.said, **known)
        self.injected += 1


def _changed(several: Sequence[bytes], hit: Hit, decided: Decided) -> list[bytes]:
    """Return what a fault makes of a message, and of what goes with it."""
    *before, raw = several
    match hit.rule.fault:
        case "repeat":
            return [*several, raw]
        case "stray-output":
            return [*before, broken.stray_output(hit.rule, hit.match), raw]
        case "vanish":
            return [*before, broken.without(raw, decided.reading.method, hit.gone)]
        case _:
            return [*before, broken.changed(raw, hit.rule, hit.match, decided.schema)]


def _send(direction: Direction, several: Sequence[bytes], pass_on: PassOn) -> None:
    if pass_on.exchange and direction is Direction.OUT:
        *before, raw = several
        several = [raw, *before]  # each is a request, and the response to the first is that of the client's
    for raw in several:
        pass_on(direction, raw)
