"""What the rules ops share: the packs of this instance, read in the caller's own process, and how a rule is shown.

An op itself knows values only; what it needs of `termvisor.packs` passes through here.
"""

import asyncio
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs import Packs, Trouble, load
from termvisor.detection.packs.crash_test import condemned
from termvisor.detection.packs.lint import Linted, lint
from termvisor.detection.packs.locations import CARD, user_folder
from termvisor.detection.packs.rule_tester import Trial, tried
from termvisor.detection.packs.template import pack_file, rule_file
from termvisor.errors import BadRequest, NotFound
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import nearest
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where

__all__ = [
    "Packs",
    "RuleItem",
    "Trial",
    "Trouble",
    "blanks",
    "check_known",
    "item",
    "linted",
    "one",
    "packs_of",
    "tried",
]


class RuleItem(Struct, frozen=True, kw_only=True):
    """``agent`` is empty for a rule that holds in every pane; ``is_disabled``: the settings switched it off."""

    id: str
    pack: str
    agent: str
    scope: str
    severity: str
    event: str
    remedy: str
    why: str
    is_disabled: bool


async def packs_of(world: World) -> tuple[Packs, frozenset[str]]:
    """All rules, also those that are switched off, and the ids of these."""
    places, settings = world.configuration
    folders = (user_folder(places.config_dir),)
    order, guilty = settings.patterns_order, condemned(places.cache_dir)
    packs = await asyncio.to_thread(load, folders, order, settings.patterns_disabled, guilty)
    if not packs.disabled:
        return packs, frozenset()
    whole = await asyncio.to_thread(load, folders, order, (), guilty)
    return replace(whole, troubles=packs.troubles, disabled=packs.disabled), frozenset(packs.disabled)


def item(rule: Rule, off: frozenset[str]) -> RuleItem:
    return RuleItem(
        id=rule.id,
        pack=rule.pack,
        agent=rule.agent,
        scope=rule.scope,
        severity=rule.severity,
        event=rule.event,
        remedy=rule.remedy,
        why=rule.why,
        is_disabled=rule.id in off,
    )


def one(packs: Packs, name: str) -> Rule:
    rule = packs.rule(name)
    if rule is not None:
        return rule
    near = nearest(name, [rule.id for rule in packs.rules])
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor rules list` shows all."
    raise NotFound(f"there is no rule {name!r}", hint=hint, details={"nearest": near})


def check_known(what: str, name: str | None, known: Iterable[str]) -> None:
    """`BadRequest` for a name that nobody has and that is like another."""
    names = sorted(set(known))
    if name is not None and name not in names and (near := nearest(name, names)):
        raise BadRequest(
            f"no rule is of the {what} {name!r}", hint=f"Did you mean {near[0]}?", details={"nearest": near}
        )


async def linted(world: World, path: str | None) -> Linted:
    """What is wrong there; without a path, with all packs of this instance and with the settings about them."""
    places = where(world)
    found = await asyncio.to_thread(lint, path, (user_folder(places.config_dir),), cache=places.cache_dir)
    if path is not None:
        return found
    packs, _ = await packs_of(world)
    more = tuple(trouble for trouble in packs.troubles if trouble not in found.troubles)
    return replace(found, troubles=found.troubles + more)


def blanks(world: World, pack: str, name: str, agent: str) -> list[tuple[str, str]]:
    """The files to start a pack and a rule from, each as path and text; the rule's is the last."""
    folder = f"{user_folder(where(world).config_dir)}/{pack}"
    return [(f"{folder}/{CARD}", pack_file(pack)), (f"{folder}/{name}.toml", rule_file(name, agent))]
