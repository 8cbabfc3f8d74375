"""Rule packs: what texts mean, as data.

In: folders with a TOML file per rule. Out: the rules in force, and what could not be used and why.
"""

from termvisor.detection.packs.loader import load
from termvisor.detection.packs.pack import Pack, Packs, Trouble
from termvisor.detection.packs.pattern_match import Found, compiled, find

__all__ = ["Found", "Pack", "Packs", "Trouble", "compiled", "find", "load"]
