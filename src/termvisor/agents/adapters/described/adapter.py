"""Build the adapter of a described agent: process, title, sessions, and screens by structure and by its own rules."""

import re
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import EVENT_DRIVEN_CAPABILITIES, Capability, ProcessInfo
from termvisor.agents.adapters.agent_description import AgentDescription, ScreenDescription
from termvisor.agents.adapters.command_line import ProgramMatcher, SessionResume
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.screen_classifier import (
    ScreenClassifier,
    ScreenRuleProvider,
    split_shared_regions,
    trim_rows,
)
from termvisor.agents.adapters.screen_composer import find_ruled_span
from termvisor.agents.adapters.screen_rows import remove_scroll_bars
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.detection.packs.loader import load_builtin_screen_rules
from termvisor.model.agent.evidence import HEURISTIC_SOURCES
from termvisor.model.detection.rule import Rule
from termvisor.model.terminal.screen import Screen

# Below the structures that all agents share, so that a described screen alone identifies no remote agent.
_RULE_CONFIDENCE = 0.5
_MAX_FOOT_ROWS = 12
_MAX_ROWS_BELOW_CURSOR = 2
_PROMPT_ORDER, _SCREEN_ORDER, _COMPOSER_ORDER = 10, 20, 90
_CAPABILITIES: frozenset[Capability] = frozenset(
    {*EVENT_DRIVEN_CAPABILITIES, "recognise", "look", "polling_required"}
) - {"event_driven"}


class DescribedAdapter(ComposedAdapter, kw_only=True):
    """An adapter with the description from which it was built."""

    description: AgentDescription

    def with_rules(self, rule_provider: ScreenRuleProvider) -> "DescribedAdapter":
        """Return a copy with other screen rules besides those of the description."""
        provider = partial(_list_rules, rule_provider, build_screen_rules(self.name, self.description))
        return replace(self, screen_classifier=self.screen_classifier.with_rules(provider))


def build_described_adapter(name: str, description: AgentDescription) -> DescribedAdapter:
    process, session = description.process, description.session
    matcher = ProgramMatcher(
        program_names=frozenset(process.programs),
        script_pattern="|".join(f"(?:{one})" for one in process.scripts) or "(?!)",
        non_agent_commands=frozenset(process.excluded),
    )
    resume = SessionResume((), "(?!)") if session is None else SessionResume(session.resume, session.pattern)
    title = re.compile(description.title or "(?!)")
    adapter = DescribedAdapter(
        name=name,
        description=description,
        capabilities=_CAPABILITIES | ({"resume"} if session is not None else frozenset()),
        sources=HEURISTIC_SOURCES,
        process_finder=partial(_find_process, matcher, frozenset(process.required)),
        title_matcher=lambda text: title.search(text) is not None,
        readers={},
        screen_classifier=ScreenClassifier(name, partial(split_described_regions, is_ruled=description.composer.ruled)),
        session_resume=resume,
        resumed_session_finder=matcher.build_session_finder(resume, *(session.options if session else ())),
        package=__name__.rpartition(".")[0],
        package_names=description.packages,
    )
    return adapter.with_rules(load_builtin_screen_rules)


def build_screen_rules(name: str, description: AgentDescription) -> tuple[Rule, ...]:
    """Return the screen rules of a description, in the order in which they are tried."""
    prompts = [
        ScreenDescription(name=f"prompt_{number}", part=one.part, pattern=one.question, state="waiting_approval")
        for number, one in enumerate(description.prompt, 1)
    ]
    pattern = description.composer.prompt
    rest = [ScreenDescription(name="at_prompt", part="cursor", pattern=pattern, state="idle")] if pattern else []
    groups = ((_PROMPT_ORDER, prompts), (_SCREEN_ORDER, description.screen), (_COMPOSER_ORDER, rest))
    return tuple(_build_rule(name, one, order) for order, group in groups for one in group)


def split_described_regions(screen: Screen, *, is_ruled: bool = False) -> ScreenRegions:
    """Return the regions of the structure, the last non-blank rows, and the row of the cursor up to it.

    The structure knows no composer without a prompt sign; ``is_ruled`` gives its screens the region ``last``, too.
    """
    rows = trim_rows(remove_scroll_bars(screen.rows))
    below = [row for row in rows[screen.cursor_y + 1 :] if row]
    cursor_row = get_cursor_text(screen) if len(below) <= _MAX_ROWS_BELOW_CURSOR else ""
    shared = split_shared_regions(screen)
    if is_ruled and not shared.get("last") and (span := find_ruled_span(screen)) is not None:
        shared = {**shared, "last": _find_last_paragraph(rows[: span[0] - 1])}
    return {
        **shared,
        "foot": [row for row in rows if row][-_MAX_FOOT_ROWS:],
        "cursor": [cursor_row] if cursor_row.strip() else (),
    }


def _find_last_paragraph(rows: Sequence[str]) -> Sequence[str]:
    filled = [index for index, row in enumerate(rows) if row.strip()]
    end = filled[-1] + 1 if filled else 0
    blank = max((index for index, row in enumerate(rows[:end]) if not row.strip()), default=-1)
    return rows[blank + 1 : end]


def get_cursor_text(screen: Screen) -> str:
    """Return the text before the cursor in its row, with the blanks that the rows of a screen do not have."""
    row = screen.rows[screen.cursor_y] if 0 <= screen.cursor_y < len(screen.rows) else ""
    return row[: screen.cursor_x].ljust(min(screen.cursor_x, screen.width))


def _build_rule(agent: str, one: ScreenDescription, order: int) -> Rule:
    return Rule(
        id=f"{agent}.screen.{one.name}",
        since="",
        agent=agent,
        versions=one.versions,
        scope="screen",
        part=one.part,
        pattern=one.pattern,
        also=one.also,
        unless=one.unless,
        state=one.state,
        flag=one.flag,
        confidence=_RULE_CONFIDENCE,
        order=order,
        why=f"described in {agent}.toml",
        hits=(),
        misses=(),
    )


def _list_rules(others: ScreenRuleProvider, own: tuple[Rule, ...], agent: str) -> Sequence[Rule]:
    """Return the rules of packs, then those of the description; the rules for all agents have no others."""
    is_own = bool(own) and own[0].agent == agent
    return (*others(agent), *own) if is_own else others(agent)


def _find_process(
    matcher: ProgramMatcher, required: frozenset[str], processes: Sequence[ProcessInfo]
) -> ProcessInfo | None:
    """Return the agent among the processes. Without arguments, a program that needs one is another tool."""
    found = matcher.find_agent(processes)
    if found is None or not required:
        return found
    return found if next(iter(matcher.get_arguments(found) or ()), "") in required else None
