"""Jobs: one command each, run and harvested in a terminal of its own."""

from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.ids import JobId, PaneId

JobPlace = Literal["pty", "tmux", "session"]
"""Where the terminal of a job is: an own PTY, a private tmux server, or a window in a named session."""

JobState = Literal["starting", "running", "waiting_for_input", "finished", "lost"]
JOB_STATES: tuple[JobState, ...] = get_args(JobState)
ENDED_STATES: tuple[JobState, ...] = ("finished", "lost")

WaitEvidence = Literal["reads_terminal", "detector", "secret_prompt", "quiet"]
"""Why a job counts as waiting for input: it reads its terminal (proven by the kernel), its last line matches a detector
while it polls its terminal, a secret is asked for (it sleeps, and its terminal takes a line without echo), or it is
merely quiet (heuristic, only on request)."""

StopCause = Literal["", "stopped", "timeout"]


class JobSpec(Struct, frozen=True, kw_only=True):
    """What to run and how. ``argv`` and ``env`` are exact: bytes that are not UTF-8 are surrogates."""

    argv: tuple[str, ...]
    cwd: str = ""
    env: dict[str, str] = {}
    place: JobPlace = "pty"
    session: str = ""
    server: str = ""
    """The multiplexer server of a named session; empty for the only one."""
    name: str = ""
    is_interactive: bool = False
    """A shell stays in the terminal after the command."""
    timeout: float = 0.0
    """Seconds after which the job is stopped; 0: never."""
    retries: int = 0
    detectors: tuple[str, ...] = ()
    """Patterns of prompts, matched with the unfinished last line."""
    redactors: tuple[str, ...] = ()
    """Patterns of secrets in its output, besides the usual ones."""
    extractor: str = ""
    quiet_after: float = 0.0
    """Report as waiting after this many seconds without output or CPU use; 0: never."""
    columns: int = 0
    rows: int = 0


class JobWait(Struct, frozen=True, kw_only=True):
    """The input that a job waits for: the unfinished last line (redacted), and the evidence that it waits."""

    evidence: WaitEvidence
    prompt: str = ""


class JobEnd(Struct, frozen=True, kw_only=True):
    """How a job ended. ``code`` is -1 if a signal ended it; times are in ns, CPU times in seconds, memory in bytes."""

    code: int
    signal: int = 0
    errno: int = 0
    """Why the command could not be executed; 0 if it was."""
    started_at: int = 0
    finished_at: int = 0
    user_s: float = 0.0
    system_s: float = 0.0
    max_rss: int = 0


class Job(Struct, frozen=True, kw_only=True):
    """A stored job. ``command`` is for people: redacted and shortened; the exact one is never stored."""

    id: JobId
    name: str
    command: str
    place: JobPlace
    state: JobState = "starting"
    evidence: str = ""
    prompt: str = ""
    session: str = ""
    server: str = ""
    mux_pane: str = ""
    pane: PaneId | None = None
    pid: int = 0
    """The wrapper, the first process of the terminal; with its start time it is unique on this boot."""
    pid_started: int = 0
    boot: str = ""
    created_at: int = 0
    started_at: int | None = None
    finished_at: int | None = None
    code: int | None = None
    signal: int | None = None
    errno: int = 0
    user_s: float = 0.0
    system_s: float = 0.0
    max_rss: int = 0
    why: str = ""
    """Why a job is lost or was stopped: a stable code."""
    end_offset: int | None = None
    """Bytes of output; None until its end is seen in the log."""
    cursor: int = 0
    """The end of the last harvest."""
    timeout: float = 0.0
    attempt: int = 1
    retry_of: JobId | None = None
    is_interactive: bool = False
    is_detached: bool = False
    extractor: str = ""
    prompts: str = ""
    """The prompts that it waited at, one a line, for the summary."""
    correlation: str = ""

    @property
    def has_wrapper(self) -> bool:
        """Return True if a process of ours runs the command; an own PTY needs one only for the shell afterwards."""
        return self.place != "pty" or self.is_interactive

    @property
    def is_over(self) -> bool:
        return self.state in ENDED_STATES


class JobFilter(Struct, frozen=True, kw_only=True):
    """Which jobs to list; None and empty fields match all."""

    states: tuple[str, ...] = ()
    name: str | None = None
    since: int | None = None


class JobSummary(Struct, frozen=True, kw_only=True):
    """Figures about the jobs of one name; durations in seconds."""

    name: str
    jobs: int
    running: int
    succeeded: int
    failed: int
    lost: int
    median_s: float | None
    longest_s: float | None
    prompts: tuple[str, ...]
    """The most common prompts, the most frequent first."""


class JobPruneResult(Struct, frozen=True, kw_only=True):
    """What was deleted, or would be: ended jobs, bytes of their output, and what was left of dead ones."""

    jobs: int
    freed_bytes: int = 0
    orphans: int = 0


class ExtractedValues(Struct, frozen=True, kw_only=True):
    """Values found in the output of a job; those of ``secrets`` are only in ``secret_file``, if it was written."""

    values: dict[str, str]
    secrets: tuple[str, ...] = ()
    secret_file: str = ""
