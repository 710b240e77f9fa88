"""What a person can choose to talk to, and what talking has used up: values that the screens show."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be asked.

    Attributes:
        name: the profile's name, by which it is asked for.
        model: the endpoint's id of the model.
        where: its address, or "offline".
        source: who named it: "configuration", "environment", "found on this machine", "built in".
        window: tokens that fit into one request, or None if nobody knows.
        facts: what is known of it, a few words each ("text protocol xml", "refuses temperature").
        current: it is the one that is asked now.
        problem: why it cannot be asked, or "".
    """

    name: str
    model: str
    where: str
    source: str
    window: int | None = None
    facts: tuple[str, ...] = ()
    current: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Meters:
    """What the conversation has used up.

    Attributes:
        context: tokens that the last request took.
        window: tokens that fit into one, or None.
        estimated: `context` and `tokens` are estimates, shown with "~".
        tokens: of all requests of this session.
        cost: of all requests, or None without prices.
        currency: of `cost`.
    """

    context: int = 0
    window: int | None = None
    estimated: bool = False
    tokens: int = 0
    cost: float | None = None
    currency: str = "USD"
