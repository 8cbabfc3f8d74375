"""Rule packs: what texts mean, as data.

In: folders with a TOML file per rule. Out: the rules in force, and what could not be used and why.
"""

from termvisor.packs.base import Pack, Packs, Trouble
from termvisor.packs.find import Found, compiled, find
from termvisor.packs.load import load

__all__ = ["Found", "Pack", "Packs", "Trouble", "compiled", "find", "load"]
