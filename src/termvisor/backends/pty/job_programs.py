"""Programs of jobs in the PTY host, which is their parent and keeps how each ended in a file (`JobPrograms`)."""

from collections.abc import Callable

from termvisor.backends.job_windows import JobProgramState
from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.host_messages import HostedProgram, ProgramExit, parse_exit
from termvisor.backends.pty.pane_ids import format_mux_id, parse_mux_id
from termvisor.backends.pty.program_environment import build_program_environment
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.job import JobEnd, JobSpec
from termvisor.model.paths import Paths
from termvisor.pty_host.result_file import delete_result_file, read_result_file
from termvisor.settings import get_environment
from termvisor.system.procfs import read_boot_id, read_start_time

# Unlike that of spawned panes, the end of a job's program is kept until it is stored.
_JOB_TAG = b"job:"
_DEFAULT_ROWS, _DEFAULT_COLUMNS = 24, 80


class PtyJobPrograms:
    def __init__(self, paths: Paths, client: PtyHostClient):
        self._paths, self._client = paths, client

    async def start_job_program(self, spec: JobSpec) -> tuple[MuxPaneId, int]:
        env = build_program_environment(get_environment()) | spec.env
        try:
            program = await self._client.start_program(
                spec.argv,
                cwd=spec.cwd or env.get("HOME", "/"),
                env=env,
                rows=spec.rows or _DEFAULT_ROWS,
                columns=spec.columns or _DEFAULT_COLUMNS,
                tag=_JOB_TAG,
            )
        except (OSError, ValueError) as error:
            raise MuxError(f"the PTY host cannot start the job: {error}") from error
        return format_mux_id(program.number), program.pid

    def find_job_pane(self, mux_pane: MuxPaneId) -> PaneId | None:
        program = self._client.programs.get(parse_mux_id(mux_pane))
        pane, slash, _ = program.stream.partition("/") if program is not None else ("", "", "")
        return PaneId(int(pane)) if slash else None

    def read_job_program(self, mux_pane: MuxPaneId, pid: int, started: int) -> JobProgramState:
        program = self._find_program(mux_pane, pid, started)
        if program is not None and program.state != "exited":
            return JobProgramState(state=program.state, started_at=program.created_at)
        # A result that the host has reported is in its file as well, which also survives the host.
        row = read_result_file(f"{self._paths.pty_result_dir}/{pid}.{started}")
        if row.get("state") == "exited" and row.get("boot", "") in ("", read_boot_id()):
            return _build_end(parse_exit(row), int(row.get("created", 0)))
        if program is not None and program.exit is not None:
            return _build_end(program.exit, program.created_at)
        if read_start_time(pid) == started:
            # Its host has died; it runs on, and its output is recorded.
            return JobProgramState(state="running", started_at=int(row.get("created", 0)))
        return JobProgramState(state="unknown")

    async def has_unread_output(self, mux_pane: MuxPaneId) -> bool:
        if not self._client.is_connected:
            return False
        facts = await self._client.read_facts(parse_mux_id(mux_pane))
        return facts is not None and facts.output > 0

    async def forget_job_program(self, mux_pane: MuxPaneId, pid: int, started: int) -> None:
        if self._client.is_connected and self._find_program(mux_pane, pid, started) is not None:
            await self._client.forget_program(parse_mux_id(mux_pane))
        delete_result_file(f"{self._paths.pty_result_dir}/{pid}.{started}")

    def watch_job_programs(self, note: Callable[[int], None]) -> Callable[[], None]:
        def note_program(_number: int, program: HostedProgram | None) -> None:
            if program is not None and program.tag == _JOB_TAG:
                note(program.pid)

        return self._client.subscribe(note_program, lambda: None)

    def _find_program(self, mux_pane: MuxPaneId, pid: int, started: int) -> HostedProgram | None:
        program = self._client.programs.get(parse_mux_id(mux_pane))
        is_same = program is not None and (program.pid, program.started_ticks) == (pid, started)
        return program if is_same else None


def _build_end(end: ProgramExit, created_at: int) -> JobProgramState:
    return JobProgramState(
        state="exited",
        started_at=created_at,
        end=JobEnd(
            code=end.code,
            signal=end.signal,
            errno=end.errno,
            started_at=created_at,
            finished_at=end.ended_at,
            user_s=end.user_us / 1e6,
            system_s=end.system_us / 1e6,
            max_rss=end.rss_kb * 1024,
        ),
    )
