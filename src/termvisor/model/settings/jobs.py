"""Settings for jobs. In `config.toml` they are in `[jobs]`, and each class of commands is a table `[[job_class]]`."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.job import JobPlace
from termvisor.model.settings.accounts import AccountSettings
from termvisor.model.settings.units import BYTES, DAYS, SECONDS


class JobClass(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits for the commands that match a pattern. ``timeout`` is in seconds, 0 is none."""

    match: str
    timeout: float = 0.0
    retries: int = 0

    def __post_init__(self) -> None:
        if not self.match:
            raise ValueError("`match` is empty: it is a pattern for the command line")
        if not 0 <= self.timeout <= 31_536_000 or not 0 <= self.retries <= 100:
            raise ValueError("`timeout` is 0 to 31536000 seconds, `retries` 0 to 100")


class JobSettings(AccountSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the account settings (a msgspec struct can have only one base)."""

    jobs_place: Annotated[
        JobPlace,
        Meta(
            description="Where `visor run` opens a terminal: an own PTY, a private tmux server, or a window of a named"
            " tmux session."
        ),
    ] = "pty"
    jobs_session: Annotated[
        str, Meta(description="Name of the tmux session for jobs in the place `session`.", min_length=1, max_length=100)
    ] = "jobs"
    jobs_linger: Annotated[
        float,
        Meta(
            description="Seconds for which the terminal of an ended job stays open until its last byte is recorded.",
            ge=0.1,
            le=60,
            extra={**SECONDS, "restart": "visor daemon restart"},
        ),
    ] = 2.0
    jobs_retention: Annotated[
        float,
        Meta(description="Days to keep ended jobs. 0: no limit.", ge=0, le=36_500, extra=DAYS),
    ] = 30.0
    jobs_keep: Annotated[
        int, Meta(description="Maximum number of ended jobs to keep, newest first. 0: no limit.", ge=0)
    ] = 10_000
    jobs_bytes: Annotated[
        int,
        Meta(
            description="Maximum raw bytes of the output of ended jobs; the oldest is deleted first. 0: no limit.",
            ge=0,
            extra={**BYTES, "least": 1 << 20},
        ),
    ] = 5 << 30
    job_class: Annotated[
        tuple[JobClass, ...],
        Meta(
            description="Classes of commands, each a table `[[job_class]]` with `match` (a pattern for the command"
            " line), `timeout` in seconds and `retries`; the first that matches counts."
        ),
    ] = ()
