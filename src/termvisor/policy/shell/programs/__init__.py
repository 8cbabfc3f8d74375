"""What is known of programs. A topic is a module with a table LOOKS: a program, and how its words are read."""

from termvisor.policy.shell.effect import Look
from termvisor.policy.shell.programs import (
    container,
    database,
    files,
    git,
    network,
    runner,
    secret,
    system,
    terminal,
    wrapper,
)

BUILTIN = (wrapper, runner, files, git, system, network, database, container, terminal, secret)


def looks() -> dict[str, tuple[Look, ...]]:
    """All ways of looking at a program, by its name."""
    found: dict[str, tuple[Look, ...]] = {}
    for topic in BUILTIN:
        for name, look in topic.LOOKS.items():
            found[name] = (*found.get(name, ()), look)
    return found
