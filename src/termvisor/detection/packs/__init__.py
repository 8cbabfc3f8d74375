"""Rule packs: what texts mean, as data.

In: folders with a TOML file per rule. Out: the rules in force, and what could not be used and why.
"""

from termvisor.detection.packs.loader import load_packs
from termvisor.detection.packs.pack import RulePack, RulePacks, RuleProblem
from termvisor.detection.packs.pattern_match import PatternSpan, compile_pattern, find_match

__all__ = ["PatternSpan", "RulePack", "RulePacks", "RuleProblem", "compile_pattern", "find_match", "load_packs"]
