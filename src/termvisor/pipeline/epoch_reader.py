"""One epoch on its way from raw bytes to rows: read, made into text and marks, redacted, cut into blocks.

Invariant: what `take` gives out and the offset in it belong together; stored in one transaction, they let a killed
daemon go on from exactly there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from termvisor.capture.sampling_schedule import Stir
from termvisor.model.event import Event
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import NOTHING_BEGUN, Begun, Block, Delta, Epoch, Gap
from termvisor.model.terminal.pane import Activity
from termvisor.pipeline.json_lines import Printed, Printout
from termvisor.pipeline.line_scanner import LineWatch, Spotted
from termvisor.pipeline.repaint_detector import Repaint
from termvisor.pipeline.rule_match import Spot
from termvisor.pipeline.rule_matcher import Spotter
from termvisor.pipeline.shell_commands import Remembered, ShellStory
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Memory, Redactor, redact
from termvisor.redaction.painted_secrets import Painted
from termvisor.store import Progress
from termvisor.store.tables.pipeline_commit import Found
from termvisor.terminal import user_variables as user_vars
from termvisor.terminal.activity import Following, belief, follow
from termvisor.terminal.blocks import blocks
from termvisor.terminal.text_decoder import Derived, TextStage, carry_for
from termvisor.terminal.user_variables import PREFIX, Pace

_RECENT = 1 << 16
"""So many of the last bytes are looked through for secrets that may still stand on the screen."""
_SPOKEN = frozenset({"agent", "title", "notification", "progress", "bell"})
"""Marks by which a program tells how it is doing."""
_SAID = 64
_NOT_STORED = frozenset({"title", "bell", "sync_on", "sync_off", "paste_on", "paste_off", "progress"})


class Carry(msgspec.Struct, frozen=True, array_like=True):
    """What must be known to go on at the committed offset. Its only texts of the pane are redacted."""

    text: bytes = b""
    redaction: bytes = b""
    following: Following = Following()
    end_mark: int = -1
    """Where the program last said that this is the end."""
    width: int = 0
    """Columns of the pane when it was last looked at."""
    begun: Begun = Begun()
    """Holds until the first line ends."""
    shells: Remembered = Remembered()
    pace: Pace = Pace()
    """Of user variables."""
    spotted: Spotted = Spotted()


def first_carry(*, is_alternate: bool, at: int = 0, width: int = 0, begun: Begun = NOTHING_BEGUN) -> bytes:
    """How an epoch begins whose pane is so wide and shows the alternate screen, or does not; never empty."""
    known = Following()
    if is_alternate:
        known = follow(known, Mark(kind="alt_screen_on", offset=0), at, None)
    return msgspec.msgpack.encode(
        Carry(carry_for(is_alternate=is_alternate), following=known, width=width, begun=begun)
    )


class EpochText:
    """One epoch on its way from raw bytes to rows."""

    def __init__(self, epoch: Epoch, folder: str, nonce: str | None, spotter: Spotter | None = None):
        carry = msgspec.msgpack.decode(epoch.carry, type=Carry) if epoch.carry else Carry()
        self.epoch, self.reader = epoch, SegmentReader(folder)
        self.read_to = self.stored_to = epoch.committed
        self.final_size: int | None = epoch.size
        self.lines_read = 0
        """Of the last step."""
        self.told_size = 0
        """How long the log is, as far as we were told; reading up to there needs no look at the folder."""
        self.last_at = epoch.opened_at
        self.following = carry.following
        self.last_command_at = 0
        """When the shell last said, with proof, that a command starts; as far as this daemon heard."""
        self._holes: list[Gap] = []
        self._end_mark = carry.end_mark
        self._nonce = nonce
        self._stage = TextStage(epoch.committed, carry.text)
        self._stage.width = carry.width
        self._begun = carry.begun
        if epoch.committed == 0 and carry.begun.text:
            self._stage.preset(carry.begun.text, carry.begun.column)
        self._secrets = Memory()
        self._painted, self._painted_to, self._leaps = Painted(self._secrets), 0, 0
        self._redactor = Redactor(state=carry.redaction, memory=self._secrets)
        self._blocks: list[Block] = []
        self._marks: list[tuple[int, Mark]] = []
        self._story = ShellStory(carry.shells)
        self._pace = carry.pace
        self._told: list[Event | Found] = []
        self._spotter = spotter or Spotter()
        self._watch = LineWatch(self._spotter, epoch.pane, epoch.id, carry.spotted)
        self._heard: list[tuple[int, Mark]] = []
        """Marks that rules are to look at."""
        self._said: list[tuple[int, Mark]] = []
        self._printout = Printout()
        self._repaint = Repaint(epoch.pane, epoch.id)
        self._is_changed = False
        if epoch.committed:
            self.look_back()

    @property
    def pending(self) -> str:
        return Redactor(memory=self._secrets).lines([self._stage.pending])[0]

    def look_back(self) -> Memory:
        """The secrets that were seen whole of late, also those that were painted, as the raw log has them now."""
        if self.final_size is not None:
            return self._secrets
        size = self.reader.size()
        self._painted_to = max(self._painted_to, size - _RECENT)
        while self._painted_to < size:  # not past the end, where the reader would look for another segment
            pieces = list(self.reader.pieces(self._painted_to, size - self._painted_to))
            if not pieces:
                break
            self._painted.feed(b"".join(data for _, data, _ in pieces))
            self._painted_to = pieces[-1][0] + len(pieces[-1][1])
        return self._secrets

    @property
    def is_read(self) -> bool:
        """Whether the epoch is closed and every byte of it was read."""
        return self.final_size is not None and self.read_to >= self.final_size

    @property
    def has_ended_well(self) -> bool:
        """Whether the program's sign of its end is the last that came."""
        return self._end_mark == self.read_to

    def step(self, limit: int, is_over: Callable[[], bool] = lambda: False) -> int:
        """Read on until the limit, or until the turn is over; how many bytes there were."""
        began, self.lines_read = self.read_to, 0
        if self.told_size > began:
            limit = min(limit, self.told_size - began)
        for offset, data, at in self.reader.pieces(self.read_to, limit):
            if offset != self.read_to:
                self._leap(offset, at)
            self._keep(self._stage.feed(Delta(self.epoch.id, offset, data, at)), at)
            self.read_to, self.last_at = offset + len(data), at
            if is_over():
                break
        return self.read_to - began

    def resize(self, width: int) -> None:
        self._stage.width = width

    def stir(self) -> Stir | None:
        """Whether what was read since the last time was painted on a screen, and whether the picture is whole."""
        if self.final_size is not None:
            return self._repaint.over()
        return self._repaint.stir(self.following.activity, self._stage.leaps)

    def finish(self) -> None:
        if self.final_size is not None and self.read_to < self.final_size:
            self._miss(self.final_size, self.last_at)
        if self._begun.is_stored and self._stage.checkpoint()[0] == 0 and self._stage.pending == self._begun.text:
            self._stage.preset("", 0)
        self._story.finish(self.read_to)
        self._keep(self._stage.finish(self.last_at), self.last_at)
        self.reader.close()

    def take(self) -> Progress | None:
        """What is to be stored since the last time."""
        if not self._is_changed:
            return None
        committed, text = self._stage.checkpoint()
        found = self._watch.look(self._blocks, self._heard)
        carry = msgspec.msgpack.encode(
            Carry(
                text=text,
                redaction=self._redactor.state,
                following=self.following,
                end_mark=self._end_mark,
                width=self._stage.width,
                begun=self._begun if committed == 0 else Begun(),
                shells=self._story.remembered,
                pace=self._pace,
                spotted=self._watch.spotted,
            )
        )
        commands, edges = self._story.take()
        progress = Progress(
            pane=self.epoch.pane,
            epoch=self.epoch.id,
            committed=committed,
            carry=carry,
            blocks=tuple(self._blocks),
            marks=tuple(self._marks),
            commands=commands,
            edges=edges,
            told=(*self._told, *found),
        )
        self._blocks, self._marks, self._told, self._heard, self._is_changed = [], [], [], [], False
        self.stored_to = committed
        return progress

    def reconsider(self, spots: Iterable[Spot] = ()) -> bool:
        """Somebody new is in the pane, or something was seen there: whether anything waits to be stored for that."""
        self._watch.hold(spots)
        self._is_changed = self._is_changed or self._watch.is_waiting
        return self._watch.is_waiting

    def take_said(self) -> list[tuple[int, Mark]]:
        """The last marks by which the program told how it is doing, and when, since somebody asked."""
        said, self._said = self._said, []
        return said[-_SAID:]

    def take_printed(self) -> list[Printed]:
        """The last lines that were meant for programs, since somebody asked."""
        return self._printout.told()

    def take_holes(self) -> list[Gap]:
        holes, self._holes = self._holes, []
        return holes

    def _leap(self, offset: int, at: int) -> None:
        """Segments were deleted or cut: the text goes on behind the hole, and the hole is a gap."""
        self._keep(self._stage.finish(self.last_at), self.last_at)
        width = self._stage.width
        self._stage = TextStage(offset, carry_for(is_alternate=self._stage.is_alternate))
        self._stage.width = width
        self._miss(offset, at)

    def _miss(self, offset: int, at: int) -> None:
        epoch, detail = self.epoch.id, f"bytes {self.read_to} to {offset} are no longer in the raw log"
        gap = Gap(pane=self.epoch.pane, cause="log_truncated", start_at=self.last_at, end_at=at, detail=detail)
        self._holes.append(replace(gap, after=epoch, before=epoch))

    def _keep(self, derived: Derived, at: int) -> None:
        self._is_changed = True
        self.lines_read += len(derived.lines)
        if derived.lines or derived.covered:
            texts = self._redacted(derived)
            self._blocks.extend(blocks(self.epoch.id, derived.lines, texts))
            self._printout.take(derived.lines, texts)
        for raw in derived.marks:
            if raw.kind == "user_var" and raw.params["name"].startswith(PREFIX):
                self._heed(raw, at)
            else:
                self._hear(_clean(raw), at)
        self._repaint.hear(derived.marks)
        self._story.settle(derived.lines, self._stage.row)

    def _redacted(self, derived: Derived) -> list[str]:
        """The texts of the lines; what a line was before it was written over is judged just before it."""
        texts: list[str] = []
        for covered in derived.covered:
            here = bisect_left(derived.lines, covered.start, key=lambda line: line.start)
            texts += self._redactor.lines([line.text for line in derived.lines[len(texts) : here]])
            self._redactor.glimpse(covered.text)
        texts += self._redactor.lines([line.text for line in derived.lines[len(texts) :]])
        if self._secrets:
            self._secrets.rest(len(texts), is_repainting=self._stage.leaps != self._leaps)
        self._leaps = self._stage.leaps
        return texts

    def _hear(self, mark: Mark, at: int) -> None:
        if mark.kind == "end_of_program":
            self._end_mark = mark.offset
        is_proven = belief(self.following, mark, self._nonce)
        self._story.hear(mark, at, is_proven)
        if mark.kind == "command_start" and is_proven:
            self.last_command_at = at
        self.following = follow(self.following, mark, at, self._nonce)
        if mark.kind in _SPOKEN:
            self._said.append((at, mark))
        if self._spotter.hears_marks:
            self._heard.append((at, _without_nonce(mark)))
        if mark.kind not in _NOT_STORED:
            self._marks.append((at, _without_nonce(mark)))

    def _heed(self, mark: Mark, at: int) -> None:
        """A user variable for us is an event, no mark: its value may hold the nonce, which is stored nowhere."""
        variable = user_vars.read(mark.params["name"], mark.text, self._nonce)
        if variable is None:
            return
        before, (self._pace, is_kept) = self._pace, user_vars.admit(self._pace, at)
        if is_kept:
            event = user_vars.event(self.epoch.pane, at, variable, before.dropped, "stream")
            detection = user_vars.detection(self.epoch.pane, at, variable)
            self._told.append(event if detection is None else Found(detection, event=event))


def _clean(mark: Mark) -> Mark:
    if not mark.text and not mark.params:
        return mark
    params = {redact(key): redact(value) for key, value in mark.params.items() if key != "nonce"}
    nonce = {"nonce": mark.params["nonce"]} if "nonce" in mark.params else {}
    return replace(mark, text=redact(mark.text), params=params | nonce)


def _without_nonce(mark: Mark) -> Mark:
    """The nonce is no less a secret for having been printed: it stands nowhere but in its file."""
    if "nonce" not in mark.params:
        return mark
    return replace(mark, params={key: value for key, value in mark.params.items() if key != "nonce"})


def activity_of(text: EpochText | None) -> Activity:
    return Activity(kind="gap") if text is None else text.following.activity
