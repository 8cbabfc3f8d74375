"""The evidence sources of the built-in adapters and the thresholds from them, for tests of state resolution."""

from termvisor.agents.adapters import loader
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.evidence import DEFAULT_SOURCES, EvidenceSource

SOURCES_BY_AGENT: dict[str, tuple[EvidenceSource, ...]] = {
    one.name: one.sources for one in loader.load_adapters(disabled=["generic"])
}
DEFAULT_THRESHOLDS = Thresholds(sources={"": DEFAULT_SOURCES, **SOURCES_BY_AGENT})
