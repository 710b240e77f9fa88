"""Records decisions about the requests of one server, which may send any number of them."""

from collections.abc import Mapping
from typing import Any

from tui.core.ports import BY_KEY, BY_LIMIT, DecisionKind, DecisionLog, DecisionRecord, digest_of
from tui.core.questions import AddressAnswer, FormAnswer, SamplingAnswer

MAX_RECORDED = 200
"""Maximum decisions recorded per server and run, so that one server cannot displace those of others."""

MAX_SUBJECT = 200


class ServerDecisions:
    """Records decisions about the requests of one server."""

    def __init__(self, server: str, log: DecisionLog) -> None:
        self._server = server
        self._log = log
        self._recorded = 0

    def answered(
        self,
        kind: DecisionKind,
        subject: str,
        params: Mapping[str, Any],
        answer: FormAnswer | AddressAnswer | SamplingAnswer,
    ) -> None:
        """Record how a question was answered. The digest is that of the question, not of the answer."""
        self.add(
            kind,
            subject,
            allowed=answer.action == "accept",
            by=answer.by,
            asked=answer.by == BY_KEY,
            params=params,
        )

    def add(
        self,
        kind: DecisionKind,
        subject: str,
        *,
        allowed: bool,
        by: str,
        asked: bool = False,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._recorded += 1
        if self._recorded > MAX_RECORDED + 1:
            return
        if self._recorded > MAX_RECORDED:
            subject, allowed, by, params = "further requests are not recorded", False, BY_LIMIT, None
        digest = digest_of(params) if params else ""
        asked_by = f"server {self._server}"
        self._log.add(
            DecisionRecord(
                kind, self._server, subject[:MAX_SUBJECT], allowed, by, asked_by, asked=asked, digest=digest
            )
        )
