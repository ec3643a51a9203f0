"""Plays a signal, the input or a result, through the system's sound output."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.base.numbers import shown
from app.controllers.session import SessionController
from app.models.curves.sound import HIGHEST, LOWEST, Array, Track
from app.models.experiment.change import Change
from app.models.results.view_data import INPUT as INPUT
from app.models.results.view_data import OutputData
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.version import install

FRAME_MS = 40
"""The time between two reports of the playing position."""


def sound_library() -> Any:
    """Import sounddevice when something is played, never with the window: it is optional and starts the system's sound
    server."""
    return importlib.import_module("sounddevice")


class SoundError(Exception):
    """One sentence that says why nothing can be played."""


class Playback(QObject):
    """Plays one of `choices` (variant or INPUT to array) from start to end. Another choice continues at the same
    position, and so does a new result of the present one; a new input stops the sound.

    `changed`: the choices, the chosen one, or whether it plays. `moved(seconds)` is the position, None when nothing
    plays. `message(kind, sentence, details, subject)` says why nothing can be played, `succeeded(subject)` that
    playing works.
    """

    changed = Signal()
    moved = Signal(object)
    message = Signal(str, str, str, str)
    succeeded = Signal(str)
    _ended = Signal(object)

    def __init__(
        self,
        controller: SessionController,
        library: Callable[[], Any] = sound_library,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._library = controller.session, library
        self.choices: dict[str, Array] = {}
        self._results: dict[tuple[str, str], Array] = {}
        self.chosen = INPUT
        self._rate: float | None = None
        self._track: Track | None = None
        self._stream: Any = None
        self._clock = QTimer(self, interval=FRAME_MS)
        self._clock.timeout.connect(self._report_position)
        self._ended.connect(self._on_end, Qt.ConnectionType.QueuedConnection)  # comes from the device's thread
        controller.input_array_changed.connect(self._take_input)
        controller.stepped_array_changed.connect(self._take_stepped)
        controller.outputs_changed.connect(self._take_output)
        controller.session.changed.connect(self._changed)

    @property
    def playing(self) -> bool:
        return self._track is not None

    # User actions

    def toggle(self) -> None:
        """Play the chosen signal, or stop."""
        if self.playing:
            self.stop()
        else:
            self._play()

    def choose(self, key: str) -> None:
        """Play this one of `choices`: from the present position while something plays, else from the start."""
        self.chosen = key
        if self._track is not None and self._track.samples.shape == self.choices[key].shape:
            self._track.samples = self.choices[key]
            self.changed.emit()
        else:
            self.stop()
            self._play()

    def stop(self) -> None:
        """Stop the sound at once."""
        stream, self._stream, self._track = self._stream, None, None
        self._clock.stop()
        if stream is not None:
            with suppress(self._library().PortAudioError):  # an unplugged device cannot be stopped
                stream.abort()
                stream.close()
        self.moved.emit(None)
        self.changed.emit()

    # Changes of the session

    @Slot(object, object)
    def _take_input(self, array: Array, shared: Any) -> None:
        audible = OUTPUT_KINDS[INPUT_KINDS[shared.kind].view].heard
        self.choices, self.chosen, self._rate = {INPUT: array} if audible else {}, INPUT, shared.rate
        self._results = {}
        self.stop()

    @Slot(object, object)
    def _take_stepped(self, array: Array, shared: Any) -> None:
        """The input went through other steps: playback continues with it, unless its length or rate has changed."""
        heard = self.choices.get(INPUT)
        if heard is not None and shared is not None and (heard.shape, self._rate) != (array.shape, shared.rate):
            self._take_input(array, shared)
        elif INPUT in self.choices:
            self.choices[INPUT] = array
            if self._track is not None and self.chosen == INPUT:
                self._track.samples = array
            self.changed.emit()

    @Slot(str, str, object)
    def _take_output(self, variant: str, name: str, shown: OutputData) -> None:
        if INPUT not in self.choices or not OUTPUT_KINDS[shown.result.kind].heard:
            return
        self._results[variant, name] = shown.array
        if name == self._session.output.id:
            self._offer(variant, shown.array)

    def _offer(self, variant: str, array: Array) -> None:
        """Offer a result of the present output, if it is as long as the input."""
        if array.shape != self.choices[INPUT].shape:  # a result of a part, or not a signal
            self._keep([key for key in self.choices if key != variant])
            return
        self.choices[variant] = array
        if self._track is not None and variant == self.chosen:
            self._track.samples = array
        self.changed.emit()

    @Slot(object, str)
    def _changed(self, change: Change) -> None:
        """Drop the results of another filter and of variants that are no longer picked."""
        if change.experiment and not change.opened:
            picks = () if change.filter else self._session.shown.ids
            self._results = {key: array for key, array in self._results.items() if key[0] in picks}
            self._keep(picks)
        if change.output:
            self._follow_output()

    def _follow_output(self) -> None:
        """Offer the results of the output that the window now shows, if it can be played."""
        arrays = {v: array for (v, name), array in self._results.items() if name == self._session.output.id}
        self._keep(tuple(arrays))
        for variant, array in arrays.items():
            self._offer(variant, array)

    def _keep(self, keys: Sequence[str]) -> None:
        """Offer only the input and these results."""
        if all(key == INPUT or key in keys for key in self.choices):
            return
        self.choices = {key: array for key, array in self.choices.items() if key == INPUT or key in keys}
        if self.chosen not in self.choices:
            self.chosen = INPUT
            self.stop()
        self.changed.emit()

    # The sound device

    def _play(self) -> None:
        try:
            self._track = Track(self.choices[self.chosen])
            self._stream = self._open(self._track)
            self._clock.start()
            self.succeeded.emit("sound")
        except SoundError as reason:
            self._track = None
            self.message.emit("warning", str(reason), "", "sound")
        self.changed.emit()

    def _open(self, track: Track) -> Any:
        """A stream that plays the track. Raises SoundError."""
        rate = self._checked_rate()
        library = self._load_library()
        device = self._output(library, track.channels, rate)

        def fill(out: Array, _frames: int, _time: Any, _status: Any) -> None:
            if not track.fill(out):
                raise library.CallbackStop

        def finished() -> None:  # a lambda would return the result of emit, which the library rejects
            self._ended.emit(track)

        try:
            stream = library.OutputStream(
                samplerate=rate,
                channels=track.channels,
                dtype="float32",
                callback=fill,
                finished_callback=finished,
            )
            stream.start()
        except library.PortAudioError as error:
            text = self.tr(
                "The sound output {device} cannot be opened ({reason}); close other programs that use it and try again."
            )
            raise SoundError(text.format(device=device, reason=error)) from None
        return stream

    def _checked_rate(self) -> float:
        low, high = (shown(int(rate)) for rate in (LOWEST, HIGHEST))
        if not self._rate:
            text = self.tr("A signal without a sample rate cannot be played; open one with {low} to {high} Hz.")
            raise SoundError(text.format(low=low, high=high))
        if not LOWEST <= self._rate <= HIGHEST:
            text = self.tr("A signal with {rate} Hz cannot be played; open one with {low} to {high} Hz.")
            raise SoundError(text.format(rate=shown(self._rate, "g", 9), low=low, high=high))
        return self._rate

    def _load_library(self) -> Any:
        try:
            return self._library()
        except ImportError:
            text = self.tr("Playing sound needs the library sounddevice; install it with: {command}")
            raise SoundError(text.format(command=install("audio"))) from None
        except OSError:
            text = self.tr(
                "Playing sound needs the system library PortAudio; install it (on Debian and Ubuntu: {command})"
            )
            raise SoundError(text.format(command="sudo apt install libportaudio2")) from None

    def _output(self, library: Any, channels: int, rate: float) -> str:
        """The name of the system's sound output. Raises SoundError unless it takes these channels and this rate."""
        try:
            device = library.query_devices(kind="output")
        except (library.PortAudioError, ValueError):
            raise SoundError(self.tr("No sound output was found; connect or enable one and try again.")) from None
        name, most = str(device["name"]), int(device["max_output_channels"])
        if channels > most:
            text = self.tr(
                "The sound output {device} has {most} channels but the signal has {channels}; "
                "choose another output in the system settings."
            )
            raise SoundError(text.format(device=name, most=most, channels=channels))
        try:
            library.check_output_settings(channels=channels, dtype="float32", samplerate=rate)
        except library.PortAudioError:
            text = self.tr(
                "The sound output {device} takes {own} Hz and not {rate} Hz; "
                "choose another output in the system settings."
            )
            rates = (shown(float(r), "g", 9) for r in (rate, device["default_samplerate"]))
            raise SoundError(text.format(device=name, **dict(zip(("rate", "own"), rates, strict=True)))) from None
        return name

    @Slot(object)
    def _on_end(self, track: object) -> None:
        if track is self._track:
            self.stop()

    def _report_position(self) -> None:
        """Report the position: samples are audible after the device's latency."""
        if self._track is not None and self._rate:
            self.moved.emit(max(0.0, self._track.next / self._rate - float(self._stream.latency)))
