"""Analyzers of known programs, one module for each topic with a table ANALYZERS from program to analyzer."""

from termvisor.policy.shell.call import EffectAnalyzer
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

# The order is that of the findings of a program that several modules know, such as rsync.
PROGRAM_MODULES = (wrapper, interpreter, files, git, system, network, database, container, terminal, secret)


def collect_analyzers() -> dict[str, tuple[EffectAnalyzer, ...]]:
    """Return all analyzers of each program."""
    analyzers: dict[str, tuple[EffectAnalyzer, ...]] = {}
    for module in PROGRAM_MODULES:
        for name, analyzer in module.ANALYZERS.items():
            analyzers[name] = (*analyzers.get(name, ()), analyzer)
    return analyzers
