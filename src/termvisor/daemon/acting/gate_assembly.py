"""Build the gate: the only place where actions get access to panes, policy, approvals and notifications."""

from termvisor.accounts.launcher import build_command_prefix
from termvisor.actions.agent_commands import AgentCommander
from termvisor.actions.approvals import ApprovalQueue
from termvisor.actions.executor import ActionExecutor
from termvisor.actions.gate import Gate
from termvisor.actions.notifications.notifier import Notifier, build_channels
from termvisor.actions.permission_requests import PermissionBroker
from termvisor.actions.policy_check import PolicyChecker, PolicyFile
from termvisor.actions.unclaimed_requests import AGENT_GONE
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.daemon.acting.pane_access import FindPane, LivePaneAccess
from termvisor.daemon.components import Components
from termvisor.daemon.services.gate import GateComponents
from termvisor.errors import ObjectNotFound
from termvisor.model.action.approval import ApprovalOutcome
from termvisor.model.agent.account import find_account
from termvisor.model.ids import PaneId
from termvisor.policy.path_rules import PathScope
from termvisor.settings import get_home_folder


def build_gate(components: Components, find_pane: FindPane) -> GateComponents:
    store, clock, paths = components.store, components.clock, components.paths
    panes = LivePaneAccess(components, find_pane)
    own_paths = (paths.config_dir, paths.data_dir, paths.runtime_dir)
    scope = PathScope(home=get_home_folder(), own_paths=own_paths)
    policy_checker = PolicyChecker(PolicyFile(paths.policy_file), scope, clock)
    tracker = components.agent_tracking.tracker
    approvals = ApprovalQueue(store, clock, components.approval_bus, lambda pane: find_request_ending(tracker, pane))
    notifier = Notifier(panes, build_channels(panes, clock), lambda: components.settings, clock)

    def build_launch_prefix(ref: str) -> tuple[str, ...]:
        """Return the command that starts a program under an account. That command reads the credentials itself."""
        account = find_account(components.settings.accounts, ref)
        if account is None:
            raise ObjectNotFound(f"account {ref!r} not found", hint="`visor accounts list` shows all accounts.")
        return build_command_prefix(paths.config_dir, account.ref)

    executor = ActionExecutor(panes, clock, notifier, build_launch_prefix)
    gate = Gate(
        store=store,
        panes=panes,
        policy=policy_checker,
        approvals=approvals,
        executor=executor,
        clock=clock,
        hash_key=(components.pipeline.nonce or "").encode(),
    )
    broker = PermissionBroker(
        gate=gate, approvals=approvals, pending=panes.permission_requests, commander=AgentCommander(panes, clock)
    )
    return GateComponents(
        gate=gate,
        policy_checker=policy_checker,
        approvals=approvals,
        store=store,
        clock=clock,
        panes=panes,
        permission_broker=broker,
        find_server=panes.find_server,
    )


def find_request_ending(tracker: AgentTracker, pane: PaneId) -> ApprovalOutcome | None:
    """Return how the permission request of the pane's agent ended; None while the agent may still wait."""
    agent_process = tracker.find_agent_in_pane(pane)
    if agent_process is None:
        return ApprovalOutcome(status="elsewhere", why=AGENT_GONE, text="the agent has exited")
    projection = tracker.get_projection(agent_process.id)
    if projection is None or projection.state.value in ("waiting_approval", "unknown"):
        return None
    text = f"no longer asked: the agent is {projection.state.value.replace('_', ' ')}"
    return ApprovalOutcome(status="elsewhere", why="no_longer_waits", text=text)
