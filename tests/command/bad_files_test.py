"""Model files that are damaged or do not fit, and outputs that cannot be written."""

import os
import resource
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import (BAD_DATA, COMMAND, IO, NO_INPUT, USAGE, read_safetensors, refused, small_machine, snapshot,
                      succeed, unfinished)

DATA = ("--data", "bars-and-stripes:3")
TRAIN = ("train", *DATA, "--hidden", 4, "--epochs", 2)
USES = {
    "evaluate": ("evaluate", "m.safetensors", *DATA),
    "sample": ("sample", "m.safetensors", "--sweeps", 1, "--out", "old.png"),
    "reconstruct": ("reconstruct", "m.safetensors", *DATA, "--out", "old.npy"),
    "inspect": ("inspect", "m.safetensors", "--filters", "old.png"),
}


@pytest.fixture(autouse=True)
def old_files(own_folder):
    """What the folder holds before each test."""
    for name in ("old.png", "old.npy", "old.html", "old.log"):
        Path(name).write_text("what was here before\n")
    return small_machine("m.safetensors").read_bytes()


# ---- Model files ----


def test_a_missing_model():
    for args in USES.values():
        refused(NO_INPUT, *(("nowhere.st" if a == "m.safetensors" else a) for a in args), says="nowhere.st")


def test_a_folder_is_no_model():
    Path("folder").mkdir()
    refused(NO_INPUT, "inspect", "folder", says="folder")


def test_every_shortened_model_is_refused(old_files):
    for length in [0, 1, 7, 8, 9, 15, *range(20, len(old_files), 37), len(old_files) - 4, len(old_files) - 1]:
        Path("m.safetensors").write_bytes(old_files[:length])
        refused(BAD_DATA, *USES["evaluate"], says="m.safetensors")


def test_a_longer_model_is_refused(old_files):
    Path("m.safetensors").write_bytes(old_files + b"\0")
    refused(BAD_DATA, *USES["evaluate"], says="m.safetensors")


def test_every_flipped_bit_is_found(old_files):
    for bit in np.random.default_rng(3).choice(8 * len(old_files), 200, replace=False):
        damaged = bytearray(old_files)
        damaged[bit // 8] ^= 1 << bit % 8
        Path("m.safetensors").write_bytes(damaged)
        refused(BAD_DATA, *USES["evaluate"], says="m.safetensors")


@pytest.mark.parametrize("command", USES)
def test_every_command_refuses_a_damaged_model(command, old_files):
    Path("m.safetensors").write_bytes(old_files[:-1] + bytes([old_files[-1] ^ 1]))
    refused(BAD_DATA, *USES[command], says=("m.safetensors", "digest"))


def test_a_checkpoint_is_no_model():
    unfinished("train", "--data", "bars-and-stripes:4", "--hidden", "12", "--steps", "200", "--epochs", "60", "--out",
               "other")
    refused(BAD_DATA, "inspect", "other.checkpoint", says=("ergodic-model", "ergodic-checkpoint"))


@pytest.mark.parametrize("command", ["evaluate", "reconstruct"])
def test_model_and_data_of_different_size(command):
    args = ["bars-and-stripes:4" if a == "bars-and-stripes:3" else a for a in USES[command]]
    refused(BAD_DATA, *args, says=("9", "16"))


# ---- Outputs ----

OUTPUTS = [
    (*TRAIN, "--out"),
    (*TRAIN, "--out", "m.safetensors", "--log"),
    (*TRAIN, "--out", "m.safetensors", "--report"),
    ("sample", "m.safetensors", "--sweeps", 1, "--out"),
    ("reconstruct", "m.safetensors", *DATA, "--out"),
    ("inspect", "m.safetensors", "--filters"),
    ("data", "show", *DATA, "--out"),
]


def label(args):
    return f"{args[0]} {args[-1]}"


@pytest.mark.parametrize("args", OUTPUTS, ids=label)
def test_output_into_a_missing_folder(args):
    refused(IO, *args, "nowhere/x.png", says="nowhere")


@pytest.mark.parametrize("args", OUTPUTS, ids=label)
def test_output_below_a_file(args):
    refused(IO, *args, "old.png/x.png", says="old.png")


@pytest.mark.parametrize("args", OUTPUTS, ids=label)
def test_output_that_is_a_folder(args):
    Path("x.png").mkdir()
    refused(IO, *args, "x.png", says="x.png")


@pytest.mark.parametrize("args", OUTPUTS, ids=label)
def test_output_where_the_system_keeps_no_files(args):
    name = "/proc/x.html" if args[-1] == "--report" else "/proc/x.png"
    refused(IO, *args, name, says=name)


@pytest.mark.parametrize("args", OUTPUTS, ids=label)
def test_output_under_a_name_too_long(args):
    refused(IO, *args, "x" * 300 + ".png", says="xxx")


@pytest.mark.parametrize("args", OUTPUTS[:1] + OUTPUTS[3:5], ids=label)
def test_a_required_output_without_a_name(args):
    refused(USAGE, *args, "", says="--out")


def test_a_checkpoint_name_too_long():
    refused(IO, *TRAIN, "--out", "x" * 250, says="xxx")


@pytest.mark.parametrize("command", ["sample", "reconstruct"])
def test_outputs_are_pictures_or_arrays(command):
    refused(USAGE, *USES[command][:-1], "x.jpg", says=("--out", ".png", ".npy", "x.jpg"))


def test_a_device_is_not_replaced():
    before = os.stat("/dev/null")
    refused(IO, *TRAIN, "--out", "/dev/null", says="/dev/null")
    assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_two_outputs_may_not_be_one_file():
    for option in ("--log", "--report"):
        refused(USAGE, *TRAIN, "--out", "new", option, "new", says=(option, "--out"))


def test_the_data_is_not_overwritten_by_the_machine():
    np.save("data.npy", np.eye(5))
    refused(USAGE, "train", "--data", "data.npy", "--hidden", 2, "--epochs", 1, "--out", "data.npy", says="data.npy")


def test_a_link_stays_a_link():
    Path("there").mkdir()
    shutil.copy("m.safetensors", "there/real")
    Path("link").symlink_to("there/real")
    succeed(*TRAIN, "--seed", 5, "--out", "link")
    assert Path("link").is_symlink() and sorted(os.listdir("there")) == ["real"]
    assert read_safetensors("there/real")[1]["updates"] == "2"
    assert Path("there/real").read_bytes() != Path("m.safetensors").read_bytes()


# ---- A full disk ----

LARGE = ("train", "--data", "bars-and-stripes:4", "--hidden", "256", "--steps", "20", "--epochs", "40")


def on_a_small_disk(args, files):
    """Runs the command in a folder of 64 KiB with copies of these files. Where mounting is not permitted, files may
    instead grow to no more than 16 KiB. Returns exit code, message, and what is in the folder then."""
    for folder in ("disk", "after"):
        Path(folder).mkdir()
    script = """mount -t tmpfs -o size=64k none disk || exit 99
        cp "$@" disk && cd disk && eval "$COMMAND_LINE"; code=$?; cp -a . ../after; exit $code"""
    line = shlex.join([COMMAND, *map(str, args)])
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *files], capture_output=True, text=True,
                          env={**os.environ, "COMMAND_LINE": line})
    if done.returncode in (1, 99):
        return with_small_files(args, files)
    return done.returncode, done.stderr, {k.removeprefix("after/"): v for k, v in snapshot("after").items()}


def with_small_files(args, files):
    """The same with a limit on the size of files, in a folder of its own."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    Path("limited").mkdir()
    for file in files:
        shutil.copy(file, "limited")
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, cwd="limited", preexec_fn=limit)
    return done.returncode, done.stderr, {k.removeprefix("limited/"): v for k, v in snapshot("limited").items()}


FULL = pytest.mark.parametrize("full", [on_a_small_disk, with_small_files])


@FULL
def test_no_room_for_the_model(full, old_files):
    args = ("train", "--data", "digits:10", "--hidden", "32", "--epochs", "1", "--out", "m.safetensors")
    code, message, after = full(args, ["m.safetensors"])
    assert code == IO and "m.safetensors" in message, message
    assert after == {"m.safetensors": old_files}


@FULL
def test_no_room_for_a_first_checkpoint(full, old_files):
    args = ("train", "--data", "digits:10", "--hidden", "32", "--epochs", "2", "--checkpoint-every", "0", "--out",
            "m.safetensors")
    code, message, after = full(args, ["m.safetensors"])
    assert code == IO and "m.safetensors.checkpoint" in message, message
    assert after == {"m.safetensors": old_files}


@FULL
def test_no_room_for_a_second_checkpoint(full, old_files):
    """One of about 40 KiB fits, not two: the old one stays, and the run goes on from it where there is room."""
    saved = unfinished(*LARGE, "--out", "m.safetensors")
    assert 32768 < len(saved) < 65536 - len(old_files) - 4096
    code, message, after = full((*LARGE, "--out", "m.safetensors", "--resume", "--checkpoint-every", "0"),
                                ["m.safetensors", "m.safetensors.checkpoint"])
    assert code == IO and "m.safetensors.checkpoint" in message, message
    assert after == {"m.safetensors": old_files, "m.safetensors.checkpoint": saved}
    succeed(*LARGE, "--out", "m.safetensors", "--resume", "--quiet")


@pytest.mark.parametrize("args", [("sample", "../m.safetensors", "--count", 20000, "--sweeps", 1, "--out", "old.npy"),
                                  ("reconstruct", "../m.safetensors", "--data", "../many.npy", "--count", 20000,
                                   "--out", "old.npy"),
                                  ("data", "show", "--data", "digits:500", "--out", "old.png", "--count", 500),
                                  ("train", "--data", "digits:50", "--hidden", 2, "--epochs", 1, "--out", "new",
                                   "--report", "old.html")],
                         ids=lambda args: args[0])
def test_no_room_for_other_outputs(args):
    np.save("many.npy", np.zeros((20000, 9), np.uint8))
    name = args[args.index("--report") + 1] if "--report" in args else args[args.index("--out") + 1]
    code, message, after = with_small_files(args, [name])
    assert code == IO and name in message, message
    assert after[name] == b"what was here before\n"
    assert not [left for left in after if left.endswith(".tmp")]


def test_a_log_that_cannot_be_written_ends_the_run(old_files):
    refused(IO, *TRAIN, "--out", "m.safetensors", "--log", "/dev/full", says="/dev/full")


def test_output_that_nobody_takes_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "inspect", "m.safetensors"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == IO and "standard output" in done.stderr
