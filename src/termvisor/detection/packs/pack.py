"""Rule packs, and the result of loading them: active rules, packs, and problems."""

from typing import Literal

from msgspec import Struct

from termvisor.model.detection.rule import Rule

PackOrigin = Literal["builtin", "installed", "user"]


class RuleProblem(Struct, frozen=True, kw_only=True):
    """A problem with one file. Its rule is not active; all others are."""

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
    """All loaded packs; ``rules`` are the active rules, sorted by id."""

    rules: tuple[Rule, ...] = ()
    packs: tuple[RulePack, ...] = ()
    """In loading order. If two rules have the same id, the one from the later pack is active."""
    troubles: tuple[RuleProblem, ...] = ()
    replaced: dict[str, tuple[str, ...]] = {}
    """By rule id, the packs whose rule was replaced by that of a later pack."""
    disabled: tuple[str, ...] = ()
    """Ids of the rules that the settings disable."""

    def list_agent_rules(self, agent: str, scope: str) -> tuple[Rule, ...]:
        """Return the rules for an agent in the order in which they are tried."""
        rules = [rule for rule in self.rules if rule.agent == agent and rule.scope == scope]
        return tuple(sorted(rules, key=lambda rule: (rule.order, rule.id)))

    def find_rule(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.id == name), None)
