"""Load, lint and test the rule packs of this instance for the rules operations.

This is the only module under `ops` that imports `termvisor.detection.packs`; operations use what it re-exports.
"""

import asyncio
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs import RulePacks, RuleProblem, load_packs
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.detection.packs.lint import LintResult, lint_rules
from termvisor.detection.packs.loader import PACK_FILE, get_user_folder
from termvisor.detection.packs.rule_file import render_pack_file, render_rule_file
from termvisor.detection.packs.rule_tester import RuleTestResult, try_rule
from termvisor.errors import BadRequest, ObjectNotFound
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import copy_fields

__all__ = [
    "RuleItem",
    "RulePacks",
    "RuleProblem",
    "RuleTestResult",
    "build_rule_item",
    "build_template_files",
    "check_known_name",
    "find_rule",
    "lint_packs",
    "load_all_packs",
    "try_rule",
]


class RuleItem(Struct, frozen=True, kw_only=True):
    """``agent`` is empty for a rule that applies to every pane; ``is_disabled``: disabled in the settings."""

    id: str
    pack: str
    agent: str
    scope: str
    severity: str
    event: str
    remedy: str
    why: str
    is_disabled: bool


async def load_all_packs(services: Services) -> tuple[RulePacks, frozenset[str]]:
    """Return all rules, including disabled ones, and the ids of the disabled ones."""
    paths, settings = services.configuration
    folders = (get_user_folder(paths.config_dir),)
    # Rules that crashed the pattern engine before are left out.
    order, crashing = settings.patterns_order, load_crashing_rules(paths.cache_dir)
    # Reading all rule files takes too long for the event loop.
    packs = await asyncio.to_thread(load_packs, folders, order, settings.patterns_disabled, crashing)
    # Disabled rules are not loaded, so all are loaded once more to list them too.
    if not packs.disabled:
        return packs, frozenset()
    all_packs = await asyncio.to_thread(load_packs, folders, order, (), crashing)
    return replace(all_packs, troubles=packs.troubles, disabled=packs.disabled), frozenset(packs.disabled)


def build_rule_item(rule: Rule, disabled_ids: frozenset[str]) -> RuleItem:
    return copy_fields(RuleItem, rule, is_disabled=rule.id in disabled_ids)


def find_rule(packs: RulePacks, name: str) -> Rule:
    rule = packs.find_rule(name)
    if rule is not None:
        return rule
    near = find_close_matches(name, [rule.id for rule in packs.rules])
    hint = f"Did you mean {' or '.join(near)}?" if near else "`visor rules list` shows all."
    raise ObjectNotFound(f"rule {name!r} not found", hint=hint, details={"nearest": near})


def check_known_name(field: str, name: str | None, known_names: Iterable[str]) -> None:
    """Raise BadRequest for an unknown name, with the closest known ones."""
    names = sorted({*known_names} - {""})
    if name is not None and name not in names:
        near = find_close_matches(name, names)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(names)}."
        raise BadRequest(f"no rule has the {field} {name!r}", hint=hint, details={"nearest": near})


async def lint_packs(services: Services, path: str | None) -> LintResult:
    """Lint the rules at this path; without a path, all packs of this instance and the settings for them."""
    paths = services.paths
    result = await asyncio.to_thread(lint_rules, path, (get_user_folder(paths.config_dir),), cache=paths.cache_dir)
    if path is not None:
        return result
    packs, _ = await load_all_packs(services)
    more = tuple(problem for problem in packs.troubles if problem not in result.problems)
    return replace(result, problems=result.problems + more)


def build_template_files(services: Services, pack: str, name: str, agent: str) -> list[tuple[str, str]]:
    """Return path and text of a new pack file and of a new rule file, in this order."""
    folder = f"{get_user_folder(services.paths.config_dir)}/{pack}"
    return [(f"{folder}/{PACK_FILE}", render_pack_file(pack)), (f"{folder}/{name}.toml", render_rule_file(name, agent))]
