"""Analyzers of known programs, one module per topic, each with a table ANALYZERS from program to analyzer."""

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

# This order determines the order of findings for programs in several modules, such as rsync.
PROGRAM_MODULES = (wrapper, interpreter, files, git, system, network, database, container, terminal, secret)


def collect_analyzers() -> dict[str, tuple[EffectAnalyzer, ...]]:
    """Return all analyzers of each program."""
    analyzers: dict[str, tuple[EffectAnalyzer, ...]] = {}
    for module in PROGRAM_MODULES:
        for name, analyzer in module.ANALYZERS.items():
            analyzers[name] = (*analyzers.get(name, ()), analyzer)
    return analyzers
