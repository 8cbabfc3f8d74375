"""Settings for workflows, including the built-in workflows for compactions and usage limits.

In `config.toml`, settings that start with `workflow_` may be in a table `[workflow]`.
"""

from typing import Annotated, get_args

from msgspec import Meta

from termvisor.model.settings.accounts import AccountSettings
from termvisor.model.workflow import WorkflowMode

WORKFLOW_MODES: tuple[WorkflowMode, ...] = get_args(WorkflowMode)
MAX_PROMPT_CHARS = 2000
_COMMAND_PREFIXES = ("/", "@", "!", "#")
"""Agents treat a text that starts with one of these as a command."""


class WorkflowSettings(AccountSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the account settings (a msgspec struct can have only one base)."""

    compaction_prompts: Annotated[
        tuple[str, ...],
        Meta(
            description="Prompts that `handle_compaction` sends instead of the default one: `agent :: prompt`, for"
            " example `claude_code :: Read NOTES.md again.`; `*` means all others. The prompt of a project, in"
            " `[compaction] prompt` of its `.termvisor.toml`, has precedence."
        ),
    ] = ()
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
        tuple[str, ...],
        Meta(
            description="Modes of workflows, each as `name=off`, `name=ask` or `name=on`; `*=off` is for all others."
            " With `ask` every action requires approval. Without an entry the workflow's own default applies, mostly"
            " `ask`.",
            extra={"keyed": True},
        ),
    ] = ()
    workflow_unstick_after: Annotated[
        float,
        Meta(
            description="Seconds without output, screen change or message after which a working agent counts as stuck;"
            " 0: never.",
            ge=0,
            le=86_400,
        ),
    ] = 600.0
    workflow_max_concurrent: Annotated[
        int, Meta(description="Maximum number of running workflows; waiting ones do not count.", ge=1, le=100)
    ] = 3


def resolve_workflow_mode(modes: tuple[str, ...], workflow: str, default: WorkflowMode) -> WorkflowMode:
    """Return the mode from the workflow's entry, else from the entry `*`, else the default."""
    mode_by_name = dict(entry.partition("=")[::2] for entry in modes)
    chosen = mode_by_name.get(workflow, mode_by_name.get("*", default))
    return next((mode for mode in WORKFLOW_MODES if mode == chosen), "off")


def find_mode_entry_problem(entry: str) -> str:
    """Return the problem with an entry of `workflow_modes`, or an empty string."""
    name, equals, mode = entry.partition("=")
    if not equals or not name:
        return "is not `name=mode`"
    return "" if mode in WORKFLOW_MODES else f"has no valid mode ({', '.join(WORKFLOW_MODES)})"


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


def find_compaction_line_problem(line: str) -> str:
    """Return the problem with a line of `compaction_prompts`, or an empty string."""
    agent, separator, prompt = line.partition("::")
    if not (separator and agent.strip()):
        return "is not `agent :: prompt`"
    return find_prompt_problem(prompt.strip())


def find_compaction_prompt(settings: WorkflowSettings, agent: str) -> str:
    """Return the prompt configured for an agent, else the one for all agents, else an empty string."""
    lines = (line.partition("::") for line in settings.compaction_prompts)
    prompts = {name.strip(): prompt.strip() for name, _, prompt in lines}
    return prompts.get(agent, prompts.get("*", ""))
