"""Run one function in a worker process, for work that may crash, use much memory or load a library.

In: the function as ``package.module:function`` on the command line, its arguments as a msgpack array on stdin. Out: a
frame on stdout for the result, or for each value if the function is a generator; a `VisorError` is the last frame.
Anything else, such as a crash of the regex engine, shows in the exit status and on stderr. The function is named,
not passed, so that the parent never imports what only the worker needs.
"""

import os
import resource
import struct
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from importlib import import_module
from io import BytesIO
from typing import IO, Any, Generic, TypeVar, get_type_hints

import msgspec
from msgspec import Struct

from termvisor.errors import InternalError, VisorError, find_error_class
from termvisor.system.subprocesses import run_and_capture, run_isolated, start_tied

T = TypeVar("T")
TIMED_OUT = 124
"""Exit status of a worker that was killed at its timeout."""
_MAX_RESULT_BYTES = 1 << 26
# Frame header: whether the frame is an error, and the number of bytes that follow.
_FRAME_HEADER = struct.Struct(">?I")


class WorkerResult(Struct, Generic[T], frozen=True):
    """How a worker ended: its exit status (negative for a signal), what it returned or yielded, and its error."""

    status: int
    values: list[T] = []
    error: VisorError | None = None
    stderr: str = ""

    @property
    def last_error_line(self) -> str:
        return self.stderr.rpartition("\n")[2]


def run_worker(function: str, args: Sequence[object], *, returns: type[T], timeout_s: float) -> WorkerResult[T]:
    """Run a function in a worker process and wait for it; ``returns`` is the type of each value."""
    status, out, errors = run_and_capture(_build_command(function), stdin=_encode(args), timeout_s=timeout_s)
    return _parse_result(status, out, errors, returns)


async def call_worker(
    function: str,
    args: Sequence[object],
    *,
    returns: type[T],
    timeout_s: float,
    name: str,
    failure: type[VisorError] = InternalError,
) -> T:
    """Run a function in a worker process and return its result. Raises its error, or ``failure`` if it crashes."""
    import asyncio  # imported late: the command line client loads this module without it

    result = await asyncio.to_thread(run_worker, function, args, returns=returns, timeout_s=timeout_s)
    if result.error is not None:
        raise result.error
    if result.status or not result.values:
        raise failure(f"the {name} worker failed: {result.last_error_line}")
    return result.values[0]


async def run_isolated_worker(
    function: str,
    args: Sequence[object],
    *,
    returns: type[T],
    timeout_s: float,
    python_options: Sequence[str] = ("-P",),
) -> WorkerResult[T]:
    """Run a function in a worker that has its own session and is killed when the caller is cancelled."""
    command = _build_command(function, python_options)
    # All of it, because the first frame is at the beginning of the output.
    status, out, errors = await run_isolated(
        command, stdin=_encode(args), timeout_s=timeout_s, max_kept_bytes=_MAX_RESULT_BYTES
    )
    return _parse_result(status, out, errors, returns)


async def stream_worker(function: str, args: Sequence[object], *, returns: type[T]) -> AsyncGenerator[T, None]:
    """Yield the values of a generator that runs in a worker, which is killed with this process or with the stream.

    A worker that exits early ends the stream.
    """
    import asyncio

    stdin, request_pipe = os.pipe()
    answer_pipe, stdout = os.pipe()
    child = start_tied(_build_command(function), stdin=stdin, stdout=stdout)
    os.close(stdin)
    os.close(stdout)
    with os.fdopen(answer_pipe, "rb") as answers:
        try:
            # In threads, because a pipe holds only 64 KB and the worker may be slow to read and to answer.
            await asyncio.to_thread(_write_request, request_pipe, _encode(args))
            while frame := await asyncio.to_thread(_read_frame, answers):
                yield msgspec.msgpack.decode(frame[1], type=returns)
        finally:
            child.kill()
            child.wait()


def _build_command(function: str, python_options: Sequence[str] = ("-P",)) -> list[str]:
    # -P, because a module in the current folder must not shadow one of ours.
    return [sys.executable, *python_options, "-m", "termvisor.system.worker", function]


def _encode(args: Sequence[object]) -> bytes:
    return msgspec.msgpack.encode(args)


def _write_request(pipe: int, request: bytes) -> None:
    try:
        with os.fdopen(pipe, "wb") as file:
            file.write(request)
    except BrokenPipeError:
        # The worker exited early, which the caller notices by the missing values.
        return


def _parse_result(status: int, out: bytes, errors: bytes, returns: type[T]) -> WorkerResult[T]:
    values: list[T] = []
    error: VisorError | None = None
    stream = BytesIO(out)
    while frame := _read_frame(stream):
        is_error, data = frame
        if is_error:
            code, message, hint = msgspec.msgpack.decode(data, type=tuple[str, str, str])
            error = find_error_class(code)(message, hint=hint)
        else:
            values.append(msgspec.msgpack.decode(data, type=returns))
    return WorkerResult(status, values, error, errors.decode("utf-8", "replace").strip())


def _read_frame(stream: IO[bytes]) -> tuple[bool, bytes] | None:
    """Read the next frame; None at the end or if the worker died while writing."""
    header = stream.read(_FRAME_HEADER.size)
    if len(header) < _FRAME_HEADER.size:
        return None
    is_error, size = _FRAME_HEADER.unpack(header)
    data = stream.read(size)
    return (is_error, data) if len(data) == size else None


def main() -> None:
    """Run the function named on the command line; entry point of the worker process."""
    # No core dumps: a crash is an expected result here, and must not leave the process's memory on disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Output printed by the function or a plug-in must not get between the frames.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        try:
            for value in _call_function(sys.argv[1], sys.stdin.buffer.read()):
                _write_frame(output, value)
        except VisorError as error:
            _write_frame(output, (error.code, error.message, error.hint), is_error=True)
            sys.exit(error.exit_status)


def _call_function(name: str, arguments: bytes) -> Iterator[Any]:
    module, _, attribute = name.partition(":")
    function = getattr(import_module(module), attribute)
    types = get_type_hints(function)
    types.pop("return", None)
    result = function(*msgspec.msgpack.decode(arguments, type=tuple[tuple(types.values())]))  # type: ignore[misc]
    if isinstance(result, Iterator):
        yield from result
    else:
        yield result


def _write_frame(output: IO[bytes], value: object, *, is_error: bool = False) -> None:
    data = msgspec.msgpack.encode(value)
    output.write(_FRAME_HEADER.pack(is_error, len(data)) + data)
    output.flush()  # flush at once, because the next step may crash the process


if __name__ == "__main__":
    main()
