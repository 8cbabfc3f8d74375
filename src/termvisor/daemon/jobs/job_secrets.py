"""Keep the secrets of jobs out of everything that is stored: those that callers type and those that programs print.

A typed secret is masked from before it is typed; a pattern from before the command begins. Soon after, and again when
the job has ended, the raw log of its terminal is overwritten. What an extractor calls secret is first written to a
private file beside the job's folder, which `job extract` hands out once.
"""

import asyncio
import os
from contextlib import ExitStack, suppress

from msgspec import Struct

from termvisor.daemon.components import Components
from termvisor.errors import BadRequest, ObjectNotFound, StorageError
from termvisor.jobs.extractors import Extractor, load_extractors
from termvisor.jobs.output import JobOutput
from termvisor.jobs.output_lines import render_plain
from termvisor.jobs.scrub import overwrite_in_folder
from termvisor.jobs.secrets import SecretVault
from termvisor.log import get_logger
from termvisor.model.ids import JobId
from termvisor.model.job import ExtractedValues, Job
from termvisor.redaction import register_secret
from termvisor.redaction.known_values import use_pattern
from termvisor.system.files import make_private_folder

_SCRUB_DELAY_S = 1.0
_READ_BYTES = 1 << 20
log = get_logger("jobs")


class HeldSecrets(Struct):
    """What one job must not show: typed values, patterns, and the masks that are in force while it runs."""

    values: list[str]
    patterns: tuple[str, ...]
    masks: ExitStack


class JobSecrets:
    def __init__(self, components: Components, output: JobOutput):
        self._store, self._clock, self._paths = components.store, components.clock, components.paths
        self._output = output
        self.vault = SecretVault()
        self._held: dict[JobId, HeldSecrets] = {}
        self._due: set[JobId] = set()
        self._extracted: set[JobId] = set()
        """Jobs whose secret values were handed out, and must not be kept once more."""
        self._wake = asyncio.Event()

    def mask_patterns(self, patterns: tuple[str, ...]) -> ExitStack:
        """Mask what the patterns match until the stack is closed."""
        masks = ExitStack()
        for pattern in patterns:
            masks.enter_context(use_pattern(pattern))
        return masks

    def add_patterns(self, job: JobId, patterns: tuple[str, ...], masks: ExitStack) -> None:
        held = self._held.setdefault(job, HeldSecrets([], (), ExitStack()))
        held.patterns, held.masks = patterns, masks

    def hold(self, job: JobId, value: str) -> str:
        """Keep a secret until it is typed and mask it from now on; return its digest."""
        self._held.setdefault(job, HeldSecrets([], (), ExitStack())).values.append(value)
        return self.vault.hold(value)

    def schedule_scrub(self, job: Job) -> None:
        """Overwrite the secrets of a job in its raw log, a moment from now."""
        if job.id in self._held or job.extractor:
            self._due.add(job.id)
            self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            # What was typed is echoed, and what was asked for is printed, a moment later.
            await self._clock.sleep(_SCRUB_DELAY_S)
            due, self._due = self._due, set()
            for job_id in due:
                try:
                    await self.overwrite_secrets(job_id)
                except (StorageError, OSError) as error:
                    # A full or failing disk: the masks stay in force, and the end of the job tries again.
                    log.error("the raw log of job %d still has its secrets: %s", job_id, error)

    async def overwrite_secrets(self, job_id: JobId) -> int:
        """Overwrite the secrets of a job in the raw log of its terminal; return how many were found."""
        job = await self._store.jobs.find(job_id)
        if job is None or job.pane is None:
            return 0
        held = self._held.get(job_id)
        values = [value.encode("utf-8", "surrogateescape") for value in (held.values if held else ())]
        patterns = held.patterns if held else ()
        if job.is_over and job.extractor and (extractor := load_extractors().get(job.extractor)):
            patterns = (*patterns, *extractor.redactors)
            if job_id not in self._extracted:
                await self._keep_extracted(job, extractor)
        found = 0
        for epoch in await self._store.output.list_epochs(job.pane):
            folder = f"{self._paths.raw_dir}/{epoch.pane}/{epoch.id}"
            found += await asyncio.to_thread(overwrite_in_folder, folder, values, patterns)
        if job.is_over and held is not None:
            del self._held[job_id]
            held.masks.close()
        return found

    async def extract(self, job: Job, name: str, secret_file: str) -> ExtractedValues:
        """Return what an extractor finds; write secret values to a new file, if one is named. Raises VisorError."""
        extractor = find_extractor(name)
        found = extractor.extract(await self._read_text(job))
        secrets = {key: value for key, value in found.items() if extractor.is_secret(key)} | self._read_kept(job.id)
        for value in secrets.values():
            register_secret(value)
        if secrets and secret_file:
            _write_private(secret_file, secrets)
            self._extracted.add(job.id)
            self._held.setdefault(job.id, HeldSecrets([], (), ExitStack())).values.extend(secrets.values())
            with suppress(FileNotFoundError):  # the job has not ended
                os.unlink(self._build_kept_path(job.id))
            await self.overwrite_secrets(job.id)
        public = {key: value for key, value in found.items() if key not in secrets and not extractor.is_secret(key)}
        return ExtractedValues(values=public, secrets=tuple(secrets), secret_file=secret_file if secrets else "")

    async def _keep_extracted(self, job: Job, extractor: Extractor) -> None:
        """Write secret values to a private file before they are overwritten."""
        found = extractor.extract(await self._read_text(job))
        secrets = {key: value for key, value in found.items() if extractor.is_secret(key) and "***" not in value}
        if secrets and not os.path.exists(self._build_kept_path(job.id)):
            for value in secrets.values():
                register_secret(value)
            make_private_folder(self._paths.job_dir)
            _write_private(self._build_kept_path(job.id), secrets)

    async def _read_text(self, job: Job) -> str:
        lines, cursor = [b""], 0
        while True:
            page = await self._output.read(job, cursor, _READ_BYTES)
            *complete, lines[-1] = (lines[-1] + page.data).split(b"\n")
            lines[-1:-1] = complete
            if not page.has_more or page.cursor == cursor:
                return "\n".join(map(render_plain, lines))
            cursor = page.cursor

    def _read_kept(self, job: JobId) -> dict[str, str]:
        with suppress(OSError), open(self._build_kept_path(job), encoding="utf-8") as file:
            return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        return {}

    def _build_kept_path(self, job: JobId) -> str:
        return f"{self._paths.job_dir}/{job}.secrets"

    def forget(self, job: JobId) -> None:
        """Remove the private file of a job that is deleted."""
        with suppress(OSError):  # it has none
            os.unlink(self._build_kept_path(job))


def find_extractor(name: str) -> Extractor:
    """Return an extractor by name. Raises ObjectNotFound."""
    extractors = load_extractors()
    if name not in extractors:
        raise ObjectNotFound(f"there is no extractor {name!r}", hint=f"Known extractors: {', '.join(extractors)}.")
    return extractors[name]


def _write_private(path: str, values: dict[str, str]) -> None:
    """Write values to a new file that only this user can read. Raises BadRequest, StorageError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise BadRequest(f"{path} exists already", hint="Name a new file: nothing is overwritten.") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    with open(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())
        file.flush()
        # The value is about to be overwritten where it came from.
        os.fsync(file.fileno())
