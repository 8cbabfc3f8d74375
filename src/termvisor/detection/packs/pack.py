"""What loading rule packs gives: the rules in force, the packs they are from, and what could not be used and why."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.rule import Rule

PackOrigin = Literal["builtin", "installed", "user"]


class RuleProblem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a file. Its rule is not in force; everything else is."""

    file: str
    line: int | None = None
    key: str = ""
    rule: str = ""
    why: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(filter(None, (place, self.key, self.why)))


class RulePack(Struct, frozen=True, kw_only=True):
    name: str
    version: str = "0"
    description: str = ""
    origin: PackOrigin = "builtin"
    folder: str = ""


class RulePacks(Struct, frozen=True, kw_only=True):
    """``rules`` are those in force, sorted by id."""

    rules: tuple[Rule, ...] = ()
    packs: tuple[RulePack, ...] = ()
    """In the order in which they are loaded; of two rules with one id, the later pack's is in force."""
    troubles: tuple[RuleProblem, ...] = ()
    replaced: dict[str, tuple[str, ...]] = {}
    """By id: the packs whose rule of that id is not in force, because a later one has it too."""
    disabled: tuple[str, ...] = ()
    """Ids of the rules that the settings switched off."""

    def list_agent_rules(self, agent: str, scope: str) -> tuple[Rule, ...]:
        """In the order in which they are tried."""
        found = [rule for rule in self.rules if rule.agent == agent and rule.scope == scope]
        return tuple(sorted(found, key=lambda rule: (rule.order, rule.id)))

    def find_rule(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.id == name), None)
