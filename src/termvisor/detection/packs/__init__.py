"""Load and check rule packs.

In: folders with one TOML file per rule. Out: the active rules, and problems with the others. Read ``loader`` first.
"""

from termvisor.detection.packs.loader import load_packs
from termvisor.detection.packs.pack import RulePack, RulePacks, RuleProblem
from termvisor.detection.packs.rule_match import PatternSpan, compile_pattern, find_match

__all__ = ["PatternSpan", "RulePack", "RulePacks", "RuleProblem", "compile_pattern", "find_match", "load_packs"]
