"""The rules for the screens of one agent, read when its first screen is seen.

Their examples are for tests, and do not stay in memory.
"""

from msgspec.structs import replace

from termvisor.detection.packs import locations as place
from termvisor.detection.packs.pack import Packs, Trouble
from termvisor.detection.packs.rule_file import read_rule
from termvisor.log import logger
from termvisor.model.detection.rule import Rule

log = logger("packs")


def screen_rules(agent: str) -> tuple[Rule, ...]:
    """Our own, in the order in which they are tried. What is wrong with a file is told in the log; the others count."""
    pack = place.builtin(agent)
    if pack is None:
        return ()
    found = [read_rule(path, pack.name) for path in place.files(pack)]
    for wrong in found:
        if isinstance(wrong, Trouble):
            log.error("a rule cannot be used: %s", wrong)
    rules = [rule for rule in found if isinstance(rule, Rule) and rule.scope == "screen" and rule.agent == agent]
    return tuple(bare(rule) for rule in sorted(rules, key=lambda rule: (rule.order, rule.id)))


def in_force(packs: Packs, agent: str) -> tuple[Rule, ...]:
    """Those of all packs together."""
    return tuple(map(bare, packs.of_agent(agent, "screen")))


def bare(rule: Rule) -> Rule:
    return replace(rule, hits=(), misses=())
