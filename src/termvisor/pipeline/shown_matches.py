"""Follow which rule matches a screen shows from one capture to the next: which appeared, and which came back. Pure.

A match is identified by its rule and by what it captured. It is *away* once it has been missing for `_MIN_AWAY_NS`: a
program that repaints erases rows for a moment. A text that stays is reported once, however often it is captured.
"""

from collections.abc import Iterable, Mapping
from zlib import crc32

from msgspec import Struct

_MIN_AWAY_NS = 2_000_000_000
# More than one screen shows. The longest unseen are forgotten first, and count as new if they appear again.
_MAX_MATCHES = 64


class ShownMatch(Struct, frozen=True, array_like=True):
    """A match and how often it is shown; ``count`` is 0 for one that was shown before.

    While fewer are visible, ``visible`` is their number, and ``fewer_since`` is when that was noticed.
    """

    identity: str
    count: int
    visible: int
    fewer_since: int = 0


ShownMatches = tuple[ShownMatch, ...]


def build_identity(rule_id: str, text: str) -> str:
    """Return what identifies a match of this rule; ``text`` is what it matched or captured."""
    return f"{rule_id} {crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def follow_matches(before: Iterable[ShownMatch], visible: Mapping[str, int], at: int) -> tuple[ShownMatches, set[str]]:
    """Return the matches after a capture with these visible ones, and the identities of those that appeared.

    An identity that appeared is one that ``before`` does not contain or that was away, or that is shown more often.
    """
    after: dict[str, ShownMatch] = {}
    appeared: set[str] = set()
    for shown in before:
        number = visible.get(shown.identity, 0)
        is_away = shown.fewer_since and at - shown.fewer_since >= _MIN_AWAY_NS
        count = shown.visible if is_away else shown.count
        if number > count:
            appeared.add(shown.identity)
        fewer_since = 0 if number >= count else at if is_away else shown.fewer_since or at
        after[shown.identity] = ShownMatch(shown.identity, max(count, number), number, fewer_since)
    for identity, number in visible.items():
        if identity not in after:
            appeared.add(identity)
            after[identity] = ShownMatch(identity, number, number)
    # The hidden ones first, which are forgotten first; the visible ones stay even if there are too many.
    ordered = sorted(after.values(), key=lambda one: one.visible > 0)
    hidden = sum(not one.visible for one in ordered)
    return tuple(ordered[max(0, min(hidden, len(ordered) - _MAX_MATCHES)) :]), appeared
