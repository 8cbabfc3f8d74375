"""The configuration of agent tracking, built from the settings and the adapters."""

from msgspec import Struct

from termvisor.agents.state.thresholds import Thresholds
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.sessions import ResumeCommandBuilder
from termvisor.agents.tracking.state_detections import RuleLookup
from termvisor.clock import NS
from termvisor.settings import Settings


class TrackingConfig(Struct, frozen=True, kw_only=True):
    thresholds: Thresholds
    build_resume_command: ResumeCommandBuilder = lambda agent, session: ()
    find_rule: RuleLookup = lambda name: None


def build_tracking_config(registry: AdapterRegistry, settings: Settings) -> TrackingConfig:
    thresholds = Thresholds(
        sources=registry.sources,
        completed_for=int(settings.agent_completed_for * NS),
        contradicted_after=int(settings.agent_contradicted_after * NS),
        idle_after=int(settings.agent_idle_after * NS),
    )
    return TrackingConfig(thresholds=thresholds, build_resume_command=registry.build_resume_command)
