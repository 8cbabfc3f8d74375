"""Settings of the built-in workflows for compactions and usage limits."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.settings.accounts import AccountSettings

MAX_PROMPT_CHARS = 2000
_COMMAND_PREFIXES = ("/", "@", "!", "#")
"""Agents treat a text with one of these at the start as a command."""


class LimitAndCompactionSettings(AccountSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


def find_prompt_problem(prompt: str) -> str:
    """Return why a text is not a valid prompt, or an empty string: it must be one line of plain text, no command."""
    text = prompt.strip()
    if not text:
        return "is empty"
    if len(prompt) > MAX_PROMPT_CHARS:
        return f"is longer than {MAX_PROMPT_CHARS} characters"
    if not prompt.isprintable():
        return "is not one line of plain text"
    return f"starts with {text[0]!r}, like a command" if text.startswith(_COMMAND_PREFIXES) else ""


def find_compaction_line_problem(line: str) -> str:
    """Return the problem of a line of `compaction_prompts`, or an empty string."""
    agent, separator, prompt = line.partition("::")
    if not (separator and agent.strip()):
        return "is not `agent :: prompt`"
    return find_prompt_problem(prompt.strip())


def find_compaction_prompt(settings: LimitAndCompactionSettings, agent: str) -> str:
    """Return the configured prompt of an agent, else that for all agents, else an empty string."""
    lines = (line.partition("::") for line in settings.compaction_prompts)
    prompts = {name.strip(): prompt.strip() for name, _, prompt in lines}
    return prompts.get(agent, prompts.get("*", ""))
