"""What the built-in agents declare of their sources, and the measure that follows: for tests that weigh evidence."""

from termvisor.agents.adapters import loader
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.evidence import DEFAULT_SOURCES, EvidenceSource

SOURCES_BY_AGENT: dict[str, tuple[EvidenceSource, ...]] = {
    one.name: one.sources for one in loader.load_adapters(disabled=["generic"])
}
DEFAULT_THRESHOLDS = Thresholds(sources={"": DEFAULT_SOURCES, **SOURCES_BY_AGENT})
