"""A filter over all frames of the stack that the window shows one of."""

from __future__ import annotations

from gpu_ops.engine.desk import Desk
from gpu_ops.engine.messages import FramesRequest
from gpu_ops.io import from_origin
from gpu_ops.io.origins import of_frame
from gpu_ops.measuring.all_frames import Wanted, write_frames
from gpu_ops.types import Input


def run_frames(desk: Desk, request: FramesRequest) -> None:
    """Read every frame again with the input's own steps, run the filter on it, and write the results."""
    origin = request.input.origin

    def read(frame: int) -> Input:
        return from_origin(of_frame(origin, frame))

    def report(done: int, total: int) -> None:
        desk.progress(f"computing frame {done + 1} of {total}", done, total)

    wanted = Wanted(request.filter, request.params, request.pick, request.output)
    write_frames(read, request.input.facts.frames, wanted, request.path, report, request.token)
