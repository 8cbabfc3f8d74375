"""When it is better to say nothing: it was just said, it would be too much, or the way is busy. Each way on its own.

Invariant: whatever is held back here is counted, and the next notice by the same way says how many there were.
"""

from collections import Counter

from termvisor.actions.audit_entry import hash_action
from termvisor.clock import NS, Clock
from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.action.notification import NotificationSettings
from termvisor.policy.token_bucket import FULL_BUCKET, TokenBucket, take_token

_MAX_IN_FLIGHT = 8
"""Notices that may be on their way: a receiver that hangs must not gather processes."""
_MAX_REMEMBERED = 1000
"""Of more notices than these, the oldest are forgotten early."""


class NotificationThrottle:
    def __init__(self, clock: Clock):
        self._clock = clock
        self._sent_at: dict[str, int] = {}
        self._buckets: dict[NotificationWay, TokenBucket] = {}
        self._suppressed_counts: Counter[NotificationWay] = Counter()
        self._in_flight: Counter[NotificationWay] = Counter()

    def check_and_reserve(self, action: Notify, settings: NotificationSettings) -> str:
        """Why it is not to be said now, as a code; empty when it may be: then it counts as said until `ended`."""
        now, key = int(self._clock.monotonic() * NS), hash_action(action, None)
        self._forget_old(now - int(settings.notify_window * NS))
        if key in self._sent_at:
            return self._count_suppressed(action.way, "repeated")
        if self._in_flight[action.way] >= _MAX_IN_FLIGHT:
            return self._count_suppressed(action.way, "busy")
        taken = take_token(self._buckets.get(action.way, FULL_BUCKET), settings.notify_rate, now)
        if taken.retry_at is not None:
            return self._count_suppressed(action.way, "too_many")
        self._buckets[action.way] = taken.bucket
        self._sent_at[key] = now
        self._in_flight[action.way] += 1
        return ""

    def take_suppressed_count(self, way: NotificationWay) -> int:
        """How many were held back since the last one; from now on they count as told."""
        return self._suppressed_counts.pop(way, 0)

    def finish(self, action: Notify, *, is_sent: bool, count: int) -> None:
        """What did not get through may be said again, and its count is still to be told."""
        self._in_flight[action.way] -= 1
        if not is_sent:
            self._sent_at.pop(hash_action(action, None), None)
            self._suppressed_counts[action.way] += count

    def _count_suppressed(self, way: NotificationWay, why: str) -> str:
        self._suppressed_counts[way] += 1
        return why

    def _forget_old(self, before: int) -> None:
        while self._sent_at and (len(self._sent_at) > _MAX_REMEMBERED or next(iter(self._sent_at.values())) <= before):
            del self._sent_at[next(iter(self._sent_at))]
