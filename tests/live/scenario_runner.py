"""Run scenarios in many panes at once, undisturbed or with a daemon that is killed at every write of every run."""

import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from sqlite3 import OperationalError
from typing import NamedTuple

from tests.live.fake_agent_host import FakeAgentHost, FakeAgentPane
from tests.live.workflow_scenarios import ScenarioCue, WorkflowScenario

SCENARIO_TIMEOUT_S = 120.0


class ScenarioResult(NamedTuple):
    """The result of a run, without anything that depends on times, ids or crashes."""

    status: str
    steps: list[tuple[str, str, str]]
    typed: str
    started: int
    events: list[tuple[str, str]]
    """Detections in the pane and their handlers, without session starts: their banner may be overwritten early."""


class RunningScenario:
    """A scenario in one pane."""

    def __init__(self, scenario: WorkflowScenario, agent_pane: FakeAgentPane):
        self.scenario, self.agent_pane = scenario, agent_pane
        self._cues_left = list(scenario.next_cues)

    def send_due_cue(self, host: FakeAgentHost) -> None:
        """Send the next cue once the run waits for it."""
        if self._cues_left and _is_cue_due(host, self.scenario.workflow, self.agent_pane.pane, self._cues_left[0]):
            self.agent_pane.send_cue(self._cues_left.pop(0).cue)

    def list_runs(self, host: FakeAgentHost) -> list[tuple[int, str, int | None, str]]:
        return host.query_database(
            "SELECT run.id, run.status, run.ended_at, detection.type FROM run"
            " LEFT JOIN detection ON detection.event = run.event WHERE run.pane = ? AND run.workflow = ?",
            self.agent_pane.pane,
            self.scenario.workflow,
        )

    def list_matching_runs(self, host: FakeAgentHost) -> list[tuple[int, str, int | None, str]]:
        return [one for one in self.list_runs(host) if self.scenario.event in ("", one[3])]

    def collect_result(self, host: FakeAgentHost) -> ScenarioResult:
        runs = self.list_matching_runs(host)
        assert len(runs) == 1, f"{self.scenario.workflow}: {runs}"
        # Without looks for the trigger's text (`still`): they are taken if the run begins before the agent's own flag.
        steps = host.query_database(
            "SELECT kind, name, status FROM run_step WHERE run = ? AND kind != 'still' ORDER BY number", runs[0][0]
        )
        events = host.query_database(
            "SELECT type, handled_by FROM detection WHERE pane = ? AND type != 'session.start' ORDER BY type",
            self.agent_pane.pane,
        )
        return ScenarioResult(
            runs[0][1], steps, self.agent_pane.read_input(), len(self.agent_pane.list_starts()), events
        )


class ScenarioRunner:
    """Runs scenarios; ``crash_count`` counts the daemons that died."""

    def __init__(self, host: FakeAgentHost, scenarios: Sequence[WorkflowScenario]):
        self._host, self._scenarios = host, scenarios
        self.crash_count = 0

    def open_scenarios(self, names: Collection[str] = ()) -> list[RunningScenario]:
        """Open a pane per scenario; with ``names`` only for these workflows."""
        wanted = [scenario for scenario in self._scenarios if not names or scenario.workflow in names]
        return [RunningScenario(scenario, self._host.open_pane(scenario.workflow)) for scenario in wanted]

    def start_agents(self, parts: Sequence[RunningScenario]) -> None:
        """Start the agents and wait until each is identified."""
        with self._host.run_daemon():
            self._host.start_agents()
        self._host.failure_states = {
            str(part.agent_pane.pane): part.scenario.failure_state for part in parts if part.scenario.failure_state
        }

    def send_first_cues(self, parts: Sequence[RunningScenario]) -> None:
        for part in parts:
            part.agent_pane.send_cue(part.scenario.cue)

    def run_undisturbed(self, parts: Sequence[RunningScenario]) -> None:
        with self._host.run_daemon() as process:
            self.send_first_cues(parts)
            assert not self._run_daemon(process, parts)

    def run_disturbed(
        self, parts: Sequence[RunningScenario], crash_plans: Sequence[dict], max_crashes: int = 200
    ) -> None:
        """Run a daemon per crash plan, repeating the last plan; after ``max_crashes``, run an undisturbed daemon."""
        has_begun = False
        while self.crash_count < max_crashes:
            plan = crash_plans[min(self.crash_count, len(crash_plans) - 1)]
            with self._host.run_daemon(**plan) as process:
                if not has_begun:
                    self.send_first_cues(parts)
                    has_begun = True
                if not self._run_daemon(process, parts):
                    return
            self.crash_count += 1
        with self._host.run_daemon() as process:
            assert not self._run_daemon(process, parts)

    def _run_daemon(self, process: "subprocess.Popen[bytes]", parts: Sequence[RunningScenario]) -> bool:
        """Wait until the daemon dies or all runs end; return True if it died."""
        deadline = time.monotonic() + SCENARIO_TIMEOUT_S
        while process.poll() is None:
            with suppress(OperationalError):
                if self._is_finished(parts):
                    return False
                self._host.approve_requests({part.agent_pane.pane for part in parts if part.scenario.has_no_answers})
                self._host.resume_paused_runs({part.agent_pane.pane for part in parts if part.scenario.is_resumed})
                for part in parts:
                    part.send_due_cue(self._host)
            assert time.monotonic() < deadline, f"{self._host.list_open_runs()} take too long"
            time.sleep(0.05)
        return True

    def _is_finished(self, parts: Sequence[RunningScenario]) -> bool:
        runs = [part.list_runs(self._host) for part in parts]
        is_begun = all(part.list_matching_runs(self._host) for part in parts)
        return is_begun and all(ended is not None for found in runs for _, _, ended, _ in found)


def _is_cue_due(host: FakeAgentHost, workflow: str, pane: int, cue: ScenarioCue) -> bool:
    steps = host.query_database(
        "SELECT run_step.status FROM run_step JOIN run ON run.id = run_step.run"
        " WHERE workflow = ? AND pane = ? AND kind = ? ORDER BY number",
        workflow,
        pane,
        cue.kind,
    )
    return len(steps) >= cue.nth and (not cue.is_over or steps[cue.nth - 1][0] == "completed")
