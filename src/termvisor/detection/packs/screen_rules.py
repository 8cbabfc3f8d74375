"""The rules for the screens of one agent, read when its first screen is seen.

Their examples are for tests, and do not stay in memory.
"""

from msgspec.structs import replace

from termvisor.detection.packs import locations
from termvisor.detection.packs.pack import RulePacks, RuleProblem
from termvisor.detection.packs.rule_file import read_rule
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule

log = get_logger("packs")


def load_builtin_screen_rules(agent: str) -> tuple[Rule, ...]:
    """Our own, in the order in which they are tried. What is wrong with a file is told in the log; the others count."""
    pack = locations.find_builtin_pack(agent)
    if pack is None:
        return ()
    found = [read_rule(path, pack.name) for path in locations.list_rule_files(pack)]
    for wrong in found:
        if isinstance(wrong, RuleProblem):
            log.error("a rule cannot be used: %s", wrong)
    rules = [rule for rule in found if isinstance(rule, Rule) and rule.scope == "screen" and rule.agent == agent]
    return tuple(strip_examples(rule) for rule in sorted(rules, key=lambda rule: (rule.order, rule.id)))


def list_screen_rules(packs: RulePacks, agent: str) -> tuple[Rule, ...]:
    """Those of all packs together."""
    return tuple(map(strip_examples, packs.list_agent_rules(agent, "screen")))


def strip_examples(rule: Rule) -> Rule:
    return replace(rule, hits=(), misses=())
