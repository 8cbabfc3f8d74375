"""Suppress notifications that repeat, exceed the rate, or wait for a busy channel; each channel by itself.

Invariant: every suppressed notification is counted, and the next one by the same channel reports the count.
"""

from collections import Counter

from termvisor.actions.audit_entry import hash_action
from termvisor.clock import NS, Clock
from termvisor.model.action.action import NotificationWay, Notify
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.policy.token_bucket import FULL_BUCKET, TokenBucket, take_token

_MAX_IN_FLIGHT = 8
"""Notifications being sent at once per channel: a receiver that hangs must not pile up child processes."""
_MAX_REMEMBERED = 1000
"""Sent notifications remembered for deduplication; beyond this the oldest are dropped early."""


class NotificationThrottle:
    def __init__(self, clock: Clock):
        self._clock = clock
        self._sent_at: dict[str, int] = {}
        self._buckets: dict[NotificationWay, TokenBucket] = {}
        self._suppressed_counts: Counter[NotificationWay] = Counter()
        self._in_flight: Counter[NotificationWay] = Counter()

    def check_and_reserve(self, action: Notify, settings: NotificationSettings) -> str:
        """Return the code why the notification is suppressed; empty if not: then the caller must call ``finish``."""
        now, key = int(self._clock.monotonic() * NS), hash_action(action, None)
        self._drop_old(now - int(settings.notify_window * NS))
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
        """Return how many were suppressed since the last one, and reset the count."""
        return self._suppressed_counts.pop(way, 0)

    def finish(self, action: Notify, *, is_sent: bool, count: int) -> None:
        """Free the slot; if it was not sent, allow a repetition and restore the count."""
        self._in_flight[action.way] -= 1
        if not is_sent:
            self._sent_at.pop(hash_action(action, None), None)
            self._suppressed_counts[action.way] += count

    def _count_suppressed(self, way: NotificationWay, why: str) -> str:
        self._suppressed_counts[way] += 1
        return why

    def _drop_old(self, before: int) -> None:
        while self._sent_at and (len(self._sent_at) > _MAX_REMEMBERED or next(iter(self._sent_at.values())) <= before):
            del self._sent_at[next(iter(self._sent_at))]
