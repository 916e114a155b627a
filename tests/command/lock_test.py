"""Two runs do not write one model, and what a run that was killed leaves behind is in nobody's way."""

import os
import signal
import subprocess
import time
from pathlib import Path

from conftest import IO, TIMEOUT, refused, snapshot, started, succeed

SLOW = ("train", "--data", "digits:300", "--hidden", 32, "--epochs", 1000000, "--no-likelihood", "--quiet", "--threads",
        1, "--out", "m.safetensors")
SHORT = ("train", "--data", "digits:300", "--hidden", 32, "--epochs", 3, "--no-likelihood", "--quiet", "--threads", 1,
         "--out", "m.safetensors")
LOCK = Path("m.safetensors.lock")


def wait_for(ready, process):
    ends = time.monotonic() + TIMEOUT
    while not ready():
        assert process.poll() is None and time.monotonic() < ends
        time.sleep(0.01)


def test_a_second_run_ends_at_once():
    Path("m.safetensors").write_text("an older machine")
    Path("by_another_name").symlink_to("m.safetensors")
    with started(*SLOW, stderr=subprocess.DEVNULL) as first:
        wait_for(LOCK.exists, first)
        says = "another run is writing"
        refused(IO, *SLOW, "--seed", 2, says=(says, "m.safetensors"))
        refused(IO, *SLOW, "--resume", says=says)
        refused(IO, *SLOW[:-1], "by_another_name", says=says)
        refused(IO, "train", "--model", "hopfield", "--data", "bars-and-stripes:3", "--out", "m.safetensors", says=says)
        first.send_signal(signal.SIGTERM)
        assert first.wait(TIMEOUT) == 143
    assert set(snapshot()) == {"m.safetensors", "by_another_name", "m.safetensors.checkpoint"}


def test_a_run_that_ends_leaves_no_lock():
    succeed(*SHORT)
    assert set(snapshot()) == {"m.safetensors"}


def test_a_refused_run_leaves_no_lock():
    refused(66, "train", "--data", "nowhere.npy", "--out", "m.safetensors")


def test_a_run_that_was_killed_can_be_resumed():
    succeed(*SHORT[:-1], "whole.safetensors")
    with started(*SHORT, "--checkpoint-every", 0, stderr=subprocess.DEVNULL) as first:
        wait_for(Path("m.safetensors.checkpoint").exists, first)
        first.kill()
        first.wait()
    assert LOCK.exists()
    succeed(*SHORT, "--resume")
    assert Path("m.safetensors").read_bytes() == Path("whole.safetensors").read_bytes()
    assert set(snapshot()) == {"m.safetensors", "whole.safetensors"}


def test_a_run_that_was_killed_leaves_no_temporary_files():
    """Killed while it writes, again and again: checkpoints are saved all the time, and synced, which takes long."""
    for _ in range(10):
        with started(*SLOW, "--checkpoint-every", 0, "--resume", stderr=subprocess.DEVNULL) as process:
            wait_for(Path("m.safetensors.checkpoint").exists, process)
            time.sleep(0.05)
            process.kill()
            process.wait()
    assert set(os.listdir()) == {"m.safetensors.checkpoint", "m.safetensors.lock"}


# ---- Once the machine is written ----


def test_a_report_that_cannot_be_written_does_not_hide_that_the_machine_is():
    Path("folder").mkdir()
    with started(*SLOW[:6], 100, *SLOW[7:], "--report", "folder/report.html", stderr=subprocess.PIPE) as process:
        wait_for(LOCK.exists, process)
        Path("folder").rmdir()
        said = process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == IO
    assert "the machine is trained and complete in m.safetensors" in said and "folder/report.html" in said
    succeed("inspect", "m.safetensors")
    assert set(snapshot()) == {"m.safetensors"}


def test_a_checkpoint_that_cannot_be_removed_is_named():
    """A folder that is not empty can be removed as little as a file can on a file system that fails."""
    with started(*SLOW[:6], 100, *SLOW[7:], stderr=subprocess.PIPE) as process:
        wait_for(LOCK.exists, process)
        Path("m.safetensors.checkpoint/inside").mkdir(parents=True)
        said = process.communicate(timeout=TIMEOUT)[1]
    assert process.returncode == IO
    assert "the machine is trained and complete in m.safetensors" in said
    assert "cannot remove m.safetensors.checkpoint" in said
    succeed("inspect", "m.safetensors")
