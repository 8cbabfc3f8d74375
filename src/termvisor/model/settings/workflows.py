"""Settings for workflows, including the built-in workflows for compactions and usage limits.

In `config.toml` they are in `[workflows]`, which also has the mode of each workflow, and in `[compaction]`.
"""

from collections.abc import Mapping
from typing import Annotated, get_args

from msgspec import Meta, field

from termvisor.model.settings.jobs import JobSettings
from termvisor.model.settings.units import SECONDS
from termvisor.model.workflow import WorkflowMode

WORKFLOW_MODES: tuple[WorkflowMode, ...] = get_args(WorkflowMode)
MAX_PROMPT_CHARS = 2000
_COMMAND_PREFIXES = ("/", "@", "!", "#")
"""Agents treat a text that starts with one of these as a command."""


class WorkflowSettings(JobSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the job settings (a msgspec struct can have only one base)."""

    compaction_prompts: Annotated[
        dict[str, str],
        Meta(
            description="Prompts that `handle_compaction` sends instead of the default one, by agent, in the table"
            ' `[compaction.prompts]`; `"*"` means all others. The prompt of a project, in `[compaction] prompt` of its'
            " `.termvisor.toml`, has precedence.",
            extra={"line": "agent :: prompt", "example": {"claude_code": "Read NOTES.md again."}},
        ),
    ] = field(default_factory=dict)
    pause_on_limit: Annotated[
        bool,
        Meta(
            description="Let `handle_usage_limits` plan the continuation when an agent reaches a usage limit. Off:"
            " nothing is planned, and existing plans are cancelled."
        ),
    ] = True
    auto_resume: Annotated[
        bool,
        Meta(
            description="Let the agent continue when a usage limit ends; in the mode `ask` this requires approval."
            " Off: it waits for `visor workflow resume`."
        ),
    ] = True
    continue_prompt: Annotated[
        str, Meta(description="Prompt for an agent whose usage limit has ended.", min_length=1, max_length=200)
    ] = "proceed."
    workflow_modes: Annotated[
        dict[str, WorkflowMode],
        Meta(
            description='Modes of workflows by name, in the table `[workflows]`: `"off"`, `"ask"` or `"on"`; `"*"` is'
            " for all others. With `ask` every action requires approval. Without an entry the workflow's own default"
            " applies, mostly `ask`.",
            extra={"line": "name=mode", "keyed": True, "example": {"unstick": "off"}},
        ),
    ] = field(default_factory=dict)
    workflow_unstick_after: Annotated[
        float,
        Meta(
            description="Seconds without output, screen change or message after which a working agent counts as stuck;"
            " 0: never.",
            ge=0,
            le=86_400,
            extra=SECONDS,
        ),
    ] = 600.0
    workflow_max_concurrent: Annotated[
        int, Meta(description="Maximum number of running workflows; waiting ones do not count.", ge=1, le=100)
    ] = 3


def resolve_workflow_mode(modes: Mapping[str, WorkflowMode], workflow: str, default: WorkflowMode) -> WorkflowMode:
    """Return the mode from the workflow's entry, else from the entry `*`, else the default."""
    return modes.get(workflow, modes.get("*", default))


def parse_mode_entry(entry: str) -> tuple[str, str]:
    """Return the workflow and the mode of an entry `name=mode`. Raises ValueError with the problem."""
    name, equals, mode = entry.partition("=")
    if not equals or not name:
        raise ValueError("is not `name=mode`")
    if mode not in WORKFLOW_MODES:
        raise ValueError(f"has no valid mode ({', '.join(WORKFLOW_MODES)})")
    return name, mode


def find_prompt_problem(prompt: str) -> str:
    """Return why a text is not a valid prompt (one line of plain text, not a command), or an empty string."""
    text = prompt.strip()
    if not text:
        return "is empty"
    if len(prompt) > MAX_PROMPT_CHARS:
        return f"is longer than {MAX_PROMPT_CHARS} characters"
    if not prompt.isprintable():
        return "is not one line of plain text"
    return f"starts with {text[0]!r}, like a command" if text.startswith(_COMMAND_PREFIXES) else ""


def parse_compaction_line(line: str) -> tuple[str, str]:
    """Return the agent and the prompt of a line `agent :: prompt`. Raises ValueError with the problem."""
    agent, separator, prompt = (part.strip() for part in line.partition("::"))
    if not (separator and agent):
        raise ValueError("is not `agent :: prompt`")
    return agent, prompt


def find_compaction_prompt(settings: WorkflowSettings, agent: str) -> str:
    """Return the prompt configured for an agent, else the one for all agents, else an empty string."""
    return settings.compaction_prompts.get(agent, settings.compaction_prompts.get("*", ""))
