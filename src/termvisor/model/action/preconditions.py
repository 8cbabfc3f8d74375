"""Terms are what a caller wants to be true before anything is done, and how they want it done."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.undo import UndoPrecondition


class Preconditions(Struct, frozen=True, kw_only=True):
    """``key`` makes a repeated call harmless. Everything that does not hold refuses the action and is named."""

    key: str = ""
    into: Literal["prompt", "program"] = "prompt"
    """Text goes to a shell at its prompt; or, said explicitly, to whatever program reads there."""
    owner: str = ""
    """Under whose reservation this is done."""
    runtime: int | None = None
    """The process in the pane must be this one."""
    state: str | None = None
    updated_within: float | None = None
    """Seconds since the pane last printed, at most."""
    screen: str | None = None
    """A text, or a pattern between slashes, that the screen must show."""
    at_prompt: bool = False
    is_ready: bool = False
    """A `ready` user variable must have been set since the last command began."""
    is_input_empty: bool = False
    """Nobody may have written something in the agent's composer, also where its own server would take the text."""
    tail: str | None = None
    """A pattern that the last lines must fit."""
    tail_lines: int = 5
    stable_for: float = 0.0
    """Seconds for which the last lines must not have changed."""
    force_stale: bool = False
    """Do it though a pane's facts are old; judged and recorded all the same."""
    correlation: str = ""
    """The story that this belongs to; empty for one of its own."""
    undoes: UndoPrecondition | None = None
    """The action that this one takes back."""
    asks: bool = False
    """A person is asked also where the policy alone would allow it."""
    wait_for_answer: float = 0.0
    """Seconds to wait for a person where one must be asked."""
