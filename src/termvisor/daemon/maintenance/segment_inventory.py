"""The raw log and what the database knows of it, seen together."""

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from termvisor.capture.raw_log import EpochProgress, StoredSegment, is_over, is_ripe, survey
from termvisor.model.ids import EpochId
from termvisor.store import Store


class Survey(Struct, frozen=True):
    segments: list[StoredSegment]
    known: Mapping[EpochId, EpochProgress]

    def over(self) -> list[StoredSegment]:
        """Segments that nobody needs any more to make text of."""
        return [segment for segment in self.segments if is_over(segment, self.known)]

    def ripe(self) -> list[StoredSegment]:
        """Segments that may be sealed."""
        return [segment for segment in self.segments if is_ripe(segment, self.known)]


async def surveyed(store: Store, raw_dir: str) -> Survey:
    segments = await asyncio.to_thread(survey, raw_dir)
    return Survey(segments, await progress(store))


async def progress(store: Store) -> dict[EpochId, EpochProgress]:
    """Ask after looking at the files: what is on disk and not known here then will never be."""
    epochs = await store.keeping.epochs()
    return {epoch: EpochProgress(*reached) for epoch, reached in epochs.items()}
