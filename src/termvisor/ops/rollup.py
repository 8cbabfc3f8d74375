"""What listings of windows and sessions share: which panes they gather, and what is summed up of them."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from termvisor.model.pane import PaneView
from termvisor.ops.listing import (
    Filters,
    PaneFilter,
    SessionFilter,
    TargetFilter,
    age_of,
    chosen,
    counts,
    filters,
    instant,
    latest,
)
from termvisor.ops.look import Column, age
from termvisor.ops.world import World

Place = tuple[str | int, ...]


class Places(Struct, frozen=True, kw_only=True):
    """Which panes count."""

    session: SessionFilter = None
    target: TargetFilter = None
    pane: PaneFilter = None


async def gathered(
    world: World, wanted: Places, place: Callable[[PaneView], Place]
) -> tuple[Filters, list[list[PaneView]]]:
    """The filters that were given, and the living panes that pass them, those of one place together."""
    given = filters(session=wanted.session, target=wanted.target, pane=wanted.pane)
    panes = sorted((pane for pane in await chosen(world, given) if pane.gone_at is None), key=place)
    return given, [list(group) for _, group in groupby(panes, key=place)]


def summed(panes: Sequence[PaneView], now: int) -> dict[str, Any]:
    """What is said of some panes together, by field name."""
    newest = latest(panes)
    return {
        "server": panes[0].instance.server.socket,
        "panes": tuple(pane.id for pane in panes),
        "by_activity": counts(pane.activity.kind for pane in panes),
        "last_output_at": instant(newest),
        "last_output_age": age_of(newest, now),
        "gaps": sum(pane.gaps for pane in panes),
    }


def told(by_activity: dict[str, int]) -> str:
    """`2 command, 1 prompt`."""
    return ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in by_activity.items())


COLUMNS = (
    Column("ACTIVITY", lambda item: told(item.by_activity), may_shrink=True),
    Column("OUTPUT", lambda item: age(item.last_output_age), is_right=True),
    Column("GAPS", lambda item: str(item.gaps or "-"), is_right=True, style="yellow"),
)
