"""Every World there is keeps the protocol: the same methods, awaited or not, with the same parameters."""

import inspect

import pytest

from termvisor.daemon.services.history import DaemonRecording
from termvisor.daemon.services.maintenance import DaemonMaintenance
from termvisor.daemon.services.services import DaemonHistory, DaemonPanes, DaemonUpdates
from termvisor.ops.api.local_services import LocalServices
from termvisor.ops.api.services import (
    HistoryService,
    LiveUpdates,
    MaintenanceService,
    PaneService,
    RecordingService,
    Services,
)
from termvisor.testing.fake_maintenance import FakeMaintenance
from termvisor.testing.fake_services import FakeHistory, FakePanes, FakeRecording, FakeServices, FakeUpdates


def _parts(cls: type) -> set[str]:
    return {name for name, member in vars(cls).items() if isinstance(member, property)}


def _shape(cls: type) -> dict[str, tuple[bool, tuple[str, ...]]]:
    return {
        name: (inspect.iscoroutinefunction(member), tuple(inspect.signature(member).parameters))
        for name, member in vars(cls).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "made"),
    [
        (PaneService, FakePanes),
        (PaneService, DaemonPanes),
        (HistoryService, FakeHistory),
        (HistoryService, DaemonHistory),
        (LiveUpdates, FakeUpdates),
        (LiveUpdates, DaemonUpdates),
        (MaintenanceService, FakeMaintenance),
        (MaintenanceService, DaemonMaintenance),
        (RecordingService, FakeRecording),
        (RecordingService, DaemonRecording),
    ],
)
def test_a_world_keeps_the_protocol(protocol: type, made: type) -> None:
    promised, kept = _shape(protocol), _shape(made)
    assert promised
    assert {name: kept.get(name) for name in promised} == promised


@pytest.mark.parametrize("world", [FakeServices(), LocalServices()])
def test_a_world_has_every_part(world: object) -> None:
    assert _parts(Services) <= {name for name in dir(world) if not name.startswith("_")}
