"""What is known of programs. A topic is a module with a table LOOKS: a program, and how its words are read."""

from termvisor.policy.shell.effect import EffectAnalyzer
from termvisor.policy.shell.programs import (
    container,
    database,
    files,
    git,
    interpreter,
    network,
    secret,
    system,
    terminal,
    wrapper,
)

PROGRAM_MODULES = (wrapper, interpreter, files, git, system, network, database, container, terminal, secret)


def collect_analyzers() -> dict[str, tuple[EffectAnalyzer, ...]]:
    """All ways of looking at a program, by its name."""
    found: dict[str, tuple[EffectAnalyzer, ...]] = {}
    for topic in PROGRAM_MODULES:
        for name, look in topic.ANALYZERS.items():
            found[name] = (*found.get(name, ()), look)
    return found
