"""What the built-in agents declare of their sources, and the measure that follows: for tests that weigh evidence."""

from termvisor import agents
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.evidence_source import STRANGERS, Source

SOURCES: dict[str, tuple[Source, ...]] = {one.name: one.sources for one in agents.load(disabled=["generic"])}
DEFAULT = Measure(sources={"": STRANGERS, **SOURCES})
