"""The settings that say how the built-in workflows answer compactions and usage limits."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.settings.accounts import AccountSettings

MAX_PROMPT_CHARS = 2000
_COMMAND_PREFIXES = ("/", "@", "!", "#")
"""Signs at which agents take what follows for a command."""


class LimitAndCompactionSettings(AccountSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of accounts come before."""

    compaction_prompts: Annotated[
        tuple[str, ...],
        Meta(
            description="What `handle_compaction` says to an agent, where the usual words do not do: `agent :: words`,"
            " for example `claude_code :: Read NOTES.md again.`; `*` means all others. A project's own words, in"
            " `[compaction] prompt` of its `.termvisor.toml`, come before."
        ),
    ] = ()
    pause_on_limit: Annotated[
        bool,
        Meta(
            description="Have `handle_usage_limits` plan what follows when an agent reaches a usage limit. Off: nothing"
            " is planned, and what was planned is dropped at once."
        ),
    ] = True
    auto_resume: Annotated[
        bool,
        Meta(
            description="When a usage limit is over, have the agent go on; in the mode `ask` a person is asked first."
            " Off: it waits for `visor workflow resume`."
        ),
    ] = True
    continue_prompt: Annotated[
        str, Meta(description="What is said to an agent whose usage limit is over.", min_length=1, max_length=200)
    ] = "proceed."


def find_prompt_problem(prompt: str) -> str:
    """Why a text is nothing to say to an agent; empty where it is. One line of plain words, and no command."""
    if not prompt.strip():
        return "says nothing"
    if len(prompt) > MAX_PROMPT_CHARS:
        return f"is longer than {MAX_PROMPT_CHARS} characters"
    if not prompt.isprintable():
        return "is more than one line of plain text"
    return (
        f"begins with {prompt.lstrip()[0]!r}, as commands do" if prompt.lstrip().startswith(_COMMAND_PREFIXES) else ""
    )


def find_compaction_line_problem(line: str) -> str:
    """What is wrong with a line of `compaction_prompts`; empty where nothing is."""
    agent, sign, words = line.partition("::")
    if not (sign and agent.strip()):
        return "is not `agent :: words`"
    return find_prompt_problem(words.strip())


def find_compaction_prompt(settings: LimitAndCompactionSettings, agent: str) -> str:
    """What the person set for this agent, else for all; empty where nothing is set."""
    said = {
        agent.strip(): words.strip() for agent, _, words in (one.partition("::") for one in settings.compaction_prompts)
    }
    return said.get(agent, said.get("*", ""))
