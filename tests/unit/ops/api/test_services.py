"""Every implementation of the service protocols has the same methods with the same parameters."""

import inspect

import pytest

from termvisor.daemon.services.history import DaemonHistory, DaemonRecording
from termvisor.daemon.services.maintenance import DaemonMaintenance
from termvisor.daemon.services.panes import DaemonPanes
from termvisor.daemon.services.updates import DaemonUpdates
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


def _list_properties(cls: type) -> set[str]:
    return {name for name, member in vars(cls).items() if isinstance(member, property)}


def _get_signatures(cls: type) -> dict[str, tuple[bool, tuple[str, ...]]]:
    return {
        name: (inspect.iscoroutinefunction(member), tuple(inspect.signature(member).parameters))
        for name, member in vars(cls).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "implementation"),
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
def test_implementations_match_the_protocol(protocol: type, implementation: type) -> None:
    expected, actual = _get_signatures(protocol), _get_signatures(implementation)
    assert expected
    assert {name: actual.get(name) for name in expected} == expected


@pytest.mark.parametrize("world", [FakeServices(), LocalServices()])
def test_implementations_have_every_service(world: object) -> None:
    assert _list_properties(Services) <= {name for name in dir(world) if not name.startswith("_")}
