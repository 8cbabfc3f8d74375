"""Load the screen rules of one agent, without their examples, which are only for tests.

They are loaded when the agent's first screen is seen.
"""

from msgspec.structs import replace

from termvisor.detection.packs import locations
from termvisor.detection.packs.pack import RulePacks, RuleProblem
from termvisor.detection.packs.rule_file import read_rule
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule

log = get_logger("packs")


def load_builtin_screen_rules(agent: str) -> tuple[Rule, ...]:
    """Return the built-in rules in the order in which they are tried; invalid files are logged and skipped."""
    pack = locations.find_builtin_pack(agent)
    if pack is None:
        return ()
    results = [read_rule(path, pack.name) for path in locations.list_rule_files(pack)]
    for result in results:
        if isinstance(result, RuleProblem):
            log.error("a rule cannot be used: %s", result)
    rules = [rule for rule in results if isinstance(rule, Rule) and rule.scope == "screen" and rule.agent == agent]
    return tuple(strip_examples(rule) for rule in sorted(rules, key=lambda rule: (rule.order, rule.id)))


def list_screen_rules(packs: RulePacks, agent: str) -> tuple[Rule, ...]:
    """Return the rules of all loaded packs."""
    return tuple(map(strip_examples, packs.list_agent_rules(agent, "screen")))


def strip_examples(rule: Rule) -> Rule:
    return replace(rule, hits=(), misses=())
