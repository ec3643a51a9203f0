"""An engine on another machine: over a fake ssh and a real one it gives what a local one gives."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from remote_machines import THERE, Window, engines_of, wait_until
from scipy import ndimage

from gpu_ops.engine.messages import Failed, Loaded, LoadRequest
from gpu_ops.errors import DeviceError, InputError
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.line import Line
from gpu_ops.remote.mirrors import EXACT
from gpu_ops.remote.ssh import Refused, reach
from gpu_ops.remote.turns import turn
from gpu_ops.remote.wire import Frame

Open = Callable[[Destination], Window]


def _mean(values: np.ndarray, window: int) -> np.ndarray:  # type: ignore[type-arg]
    exact = ndimage.correlate(values.astype(np.float64), np.full((window, window), 1 / window**2), mode="reflect")
    return np.floor(exact + 0.5).astype(values.dtype)


def test_a_run_there_gives_what_a_run_here_gives(machine: Destination, open_window: Open) -> None:
    window = open_window(machine)
    names = [status.name for status in window.talk.ready().devices]
    assert names[0] == "gpu-host/cpu" and names[-1] == "gpu-host/sim"
    input = window.noise()
    updates = window.run(input, 5)
    assert updates[0].row.device == updates[0].key.device == "gpu-host/cpu"
    assert updates[0].provenance["remote"] == "gpu-host" and "gpu-host/cpu" in updates[0].provenance["devices"]
    np.testing.assert_array_equal(window.image(updates), _mean(window.talk.pool.array(input.array), 5))


def test_a_large_result_is_seen_before_its_values_come(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    input = window.noise(1500)
    updates = window.run(input, 25)
    shared = updates[0].outputs["image"].array
    mirror = window.talk.client.mirror(shared.segment)
    assert mirror is not None and mirror.step > 1
    expected = _mean(window.talk.pool.array(input.array), 25)
    seen = window.talk.pool.array(shared).astype(float)
    assert 0 < abs(seen - expected).max() < 20 and abs(seen.mean() - expected.mean()) < 1
    np.testing.assert_array_equal(window.talk.array(shared), expected)
    assert mirror.step == EXACT


def test_an_input_is_sent_once(fake: Destination, open_window: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    window, sent, send = open_window(fake), list[int](), Line.send
    input = window.noise()

    def counted(self: Line, frame: Frame, patient: bool = False) -> bool:
        sent.append(len(frame.buffer))
        return send(self, frame, patient)

    monkeypatch.setattr(Line, "send", counted)
    for size in (3, 5, 7):
        window.image(window.run(input, size))
    again = window.noise()  # the same values in another segment
    window.image(window.run(again, 3))
    assert sum(sent) == 256 * 256


def test_a_file_of_that_machine_is_read_there(machine: Destination, open_window: Open, tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(0, 200, (300, 400)).astype(np.uint16)
    np.save(tmp_path / "there.npy", values)
    window = open_window(machine)
    talk = window.talk
    answers = list(talk.ask(LoadRequest(talk.number(), str(tmp_path / "there.npy"))))
    assert isinstance(answers[0], Loaded)
    np.testing.assert_array_equal(window.image(window.run(answers[0].input, 3)), _mean(values, 3))
    with pytest.raises(InputError, match="none.npy does not exist"):
        list(talk.ask(LoadRequest(talk.number(), str(tmp_path / "none.npy"))))


def test_the_engine_there_ends_with_the_window(machine: Destination) -> None:
    window = Window(machine)
    window.talk.ready()
    session = window.talk.client._session
    assert engines_of(session)
    window.talk.__exit__()
    wait_until(lambda: not engines_of(session), 15)


def test_what_a_login_shell_prints_is_skipped(
    fake: Destination, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SSH_BANNER", "Welcome!\nKS\x01 no mail\n" * 500)
    window = open_window(fake)
    assert window.talk.ready().devices[0].available


SCRIPT = """test $1 != --version || exec echo kernelscope 0.0.1; echo "invalid choice: 'engine'" >&2; exit 2"""
OLD = f"sh -c {shlex.quote(SCRIPT)} --"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("no-such-kernelscope", "gpu-host has no 'no-such-kernelscope'; install Kernelscope there"),
        ("/none/kernelscope", "has no '/none/kernelscope', or its Python is gone; install Kernelscope there"),
        ("sh -c 'echo No module named gpu_ops >&2; exit 1' --", "its Kernelscope is incomplete"),
        (
            OLD,
            r"has Kernelscope 0\.0\.1 \(protocol none\) and this machine .* pip install kernelscope==",
        ),
        (
            f"env XDG_RUNTIME_DIR=/none {THERE}",
            r"Kernelscope there says: /none/kernelscope-\d+ cannot be used \(No such",
        ),
        ("sh -c 'echo Host key verification failed. >&2; exit 255' --", "host key is not known; connect once"),
        ("sh -c 'echo Permission denied >&2; exit 255' --", "does not let you in"),
        ("sh -c 'echo Permission denied, please try again. >&2; exit 127' --", "gpu-host cannot run"),
        ("sh -c 'echo kex_exchange: closed >&2; exit 255' --", "cannot be reached: kex_exchange: closed; try: ssh me@"),
        ("sh -c 'echo REMOTE HOST IDENTIFICATION HAS CHANGED >&2; exit 255' --", "key is another than before"),
        ("sh -c yes --", "said no hello"),
        ("true", "was reached, and 'true' there is no engine of Kernelscope"),
    ],
)
def test_a_machine_that_cannot_be_used_says_why(command: str, sentence: str, open_window: Open) -> None:
    with pytest.raises(DeviceError, match=sentence):
        open_window(Destination("me@gpu-host", command)).talk.ready()


def test_the_exit_code_of_the_command_there_is_waited_for(real: Destination, tmp_path: Path) -> None:
    """A real ssh ends a little after the command's output."""
    script = tmp_path / "kernelscope"
    script.write_text("#!/none/python\n")
    script.chmod(0o755)
    for command, sentence in (
        (f"env XDG_RUNTIME_DIR=/none {THERE}", r"Kernelscope there says: /none/kernelscope-\d+ cannot be used"),
        ("echo hello; true", "was reached, and 'echo hello; true' there is no engine"),
        ("sh -c 'no-such-python \"$@\"' sh", r"cannot run .* \(.*no-such-python: (command )?not found\); install"),
        (str(script), r"the Python of its Kernelscope is gone|has no '/.*kernelscope'"),  # as bash and dash say it
    ):
        with pytest.raises(Refused, match=sentence):
            reach(Destination(real.host, command), "0123456789abcdef", 0)


def test_a_program_in_place_of_ssh_that_is_not_there_is_named(
    open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELSCOPE_SSH", "/no/such/ssh")
    with pytest.raises(DeviceError, match=r"/no/such/ssh cannot be started .* by KERNELSCOPE_SSH"):
        open_window(Destination("me@gpu-host", "kernelscope")).talk.ready()


def test_another_version_there_says_what_to_install(open_window: Open, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("import gpu_ops.version as v; v.__version__ = '0.0.9'\nfrom gpu_ops.cli import main; main()\n")
    words = THERE.replace("-m gpu_ops", str(other))
    with pytest.raises(DeviceError, match=r"has Kernelscope 0\.0\.9 .* pip install kernelscope=="):
        open_window(Destination("gpu-host", words)).talk.ready()


@pytest.mark.thorough
def test_how_much_of_an_input_has_been_sent_is_told(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    texts, window.talk._say = list[str](), lambda text: texts.append(text)
    window.image(window.run(window.noise(700)))
    sent = [int(text.split()[0]) for text in texts if text.endswith(" % of the input is sent to gpu-host")]
    assert sent == sorted(set(sent)) and len(sent) > 3 and sent[-1] == 100
    texts.clear()
    window.image(window.run(window.noise(700), 5))  # the same bytes are there
    assert not any("is sent to" in text for text in texts)


@pytest.mark.parametrize("host", ["-oProxyCommand=touch /tmp/x", "a b", "", "user@", "a;b", "$(x)"])
def test_a_host_is_a_name_and_nothing_else(host: str) -> None:
    with pytest.raises(DeviceError, match="no machine for ssh"):
        Destination(host)


def test_a_lost_connection_goes_on_where_it_was(machine: Destination, open_window: Open) -> None:
    window = open_window(machine)
    input = window.noise(1500)
    updates = window.run(input, 9)
    client = window.talk.client
    for _ in range(3):
        client._line.drop()  # kills ssh, in the middle of whatever it carries
        again = window.run(input, 5)
        np.testing.assert_array_equal(window.image(again), _mean(window.talk.pool.array(input.array), 5))
    np.testing.assert_array_equal(window.image(updates), _mean(window.talk.pool.array(input.array), 9))


def test_an_engine_that_is_gone_is_started_again(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    input = window.noise(1500)
    updates = window.run(input, 9)
    for pid in engines_of(window.talk.client._session):
        os.kill(pid, signal.SIGKILL)
    np.testing.assert_array_equal(window.image(window.run(input, 3)), _mean(window.talk.pool.array(input.array), 3))
    with pytest.raises(DeviceError, match="has lost this result; run it again"):
        window.image(updates)


def test_a_job_that_ends_every_engine_is_to_blame(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    window.talk.ready()
    client = window.talk.client
    request = window.request(window.noise())
    with turn("cpu", lambda before: None):  # it waits there for its turn
        client.submit(request)
        for _ in range(3):
            wait_until(lambda: bool(client._jobs) and client._jobs[request.job].sent)
            for pid in engines_of(client._session):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not client._jobs or not client._jobs[request.job].sent)
        while not isinstance(answer := window.talk._answers.get(timeout=60), Failed):
            pass
    assert "ended 3 times with this job" in answer.sentence


def test_a_disk_that_is_full_there_is_that_of_the_machine(
    fake: Destination, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KERNELSCOPE_TURNS", str(tmp_path / "file" / "turns"))  # as little can be made there
    window = open_window(fake)
    with pytest.raises(DeviceError, match=r"gpu-host: .*turns cannot be used for turns \(Not a directory\); KERN"):
        window.run(window.noise(16))
