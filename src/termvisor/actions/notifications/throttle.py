"""When it is better to say nothing: it was just said, it would be too much, or the way is busy. Each way on its own.

Invariant: whatever is held back here is counted, and the next notice by the same way says how many there were.
"""

from collections import Counter

from termvisor.actions.audit_entry import hash_of
from termvisor.clock import NS, Clock
from termvisor.model.action.action import Notify, Way
from termvisor.model.action.notification import NotifySettings
from termvisor.policy.token_bucket import FULL, Bucket, take

_AT_ONCE = 8
"""Notices that may be on their way: a receiver that hangs must not gather processes."""
_REMEMBERED = 1000
"""Of more notices than these, the oldest are forgotten early."""


class Manners:
    def __init__(self, clock: Clock):
        self._clock = clock
        self._said: dict[str, int] = {}
        self._spent: dict[Way, Bucket] = {}
        self._held: Counter[Way] = Counter()
        self._under_way: Counter[Way] = Counter()

    def holds_back(self, action: Notify, settings: NotifySettings) -> str:
        """Why it is not to be said now, as a code; empty when it may be: then it counts as said until `ended`."""
        now, key = int(self._clock.monotonic() * NS), hash_of(action, None)
        self._forget(now - int(settings.notify_window * NS))
        if key in self._said:
            return self._held_back(action.way, "repeated")
        if self._under_way[action.way] >= _AT_ONCE:
            return self._held_back(action.way, "busy")
        taken = take(self._spent.get(action.way, FULL), settings.notify_rate, now)
        if taken.retry_at is not None:
            return self._held_back(action.way, "too_many")
        self._spent[action.way] = taken.bucket
        self._said[key] = now
        self._under_way[action.way] += 1
        return ""

    def take_count(self, way: Way) -> int:
        """How many were held back since the last one; from now on they count as told."""
        return self._held.pop(way, 0)

    def ended(self, action: Notify, *, is_told: bool, count: int) -> None:
        """What did not get through may be said again, and its count is still to be told."""
        self._under_way[action.way] -= 1
        if not is_told:
            self._said.pop(hash_of(action, None), None)
            self._held[action.way] += count

    def _held_back(self, way: Way, why: str) -> str:
        self._held[way] += 1
        return why

    def _forget(self, before: int) -> None:
        while self._said and (len(self._said) > _REMEMBERED or next(iter(self._said.values())) <= before):
            del self._said[next(iter(self._said))]
