"""What a person at a terminal sees, what a file or a pipe gets, and what happens when nobody listens."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import COMMAND, IO, TIMEOUT, on_a_terminal, run, started, succeed

TRAIN = ("train", "--data", "bars-and-stripes:3", "--hidden", "4", "--epochs", "5", "--out", "m.safetensors")


def test_a_terminal_gets_a_live_line():
    code, out, seen = on_a_terminal(*TRAIN)
    assert code == 0 and out == ""
    assert re.search(r"\r[^\n]*\d+%[^\n]*epoch \d+/5", seen)
    assert "\x1b[K" in seen
    assert re.search(r"the machine is in \S*m.safetensors\r?\n", seen)
    shown = [re.split(r"\r(?!\n)", line)[-1].replace("\x1b[K", "").strip() for line in seen.splitlines()]
    assert sum(line.startswith("epoch") for line in shown) == 1  # a table with one head
    assert sum(re.match(r"\[ *[\d.]+ s\] +\d\.00 ", line) is not None for line in shown) == 6  # whose rows stay


def test_a_terminal_does_not_change_what_is_printed():
    code, out, _ = on_a_terminal(*TRAIN, "--json")
    assert code == 0 and json.loads(out)["updates"] == 5


def test_quiet_on_a_terminal():
    assert on_a_terminal(*TRAIN, "--quiet") == (0, "", "")


@pytest.mark.parametrize("args", [TRAIN, ("sample", "old", "--sweeps", "500", "--out", "s.png")], ids=lambda a: a[0])
def test_without_a_terminal_there_are_plain_lines(args):
    succeed(*TRAIN[:-1], "old")
    done = succeed(*args)
    assert done.stdout == ""
    assert "\r" not in done.stderr and "\x1b" not in done.stderr
    assert done.stderr.endswith("\n") and args[-1] in done.stderr


def test_messages_are_plain_on_a_terminal_too():
    code, out, seen = on_a_terminal("evaluate", "nowhere", "--data", "digits")
    assert code == 66 and out == ""
    assert seen.startswith("ergodic: ") and "\x1b" not in seen


def test_an_interrupt_leaves_the_terminal_on_a_new_line():
    long_run = ["100000" if word == "5" else word for word in TRAIN]
    code, out, seen = on_a_terminal(*long_run, "--steps", "100", interrupt_at=".")
    assert code == 130 and out == ""
    assert seen.endswith("\n") and "--resume" in seen.splitlines()[-1]
    assert Path("m.safetensors.checkpoint").exists()


def test_a_second_signal_ends_at_once():
    succeed(*TRAIN)
    with started("sample", "m.safetensors", "--count", 100000, "--sweeps", 10**9, "--out", "s.npy",
                 stderr=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
    assert process.returncode in (130, -signal.SIGINT)
    assert not Path("s.npy").exists()


# ---- Nobody listens ----


def log_is_clean():
    lines = Path("log").read_text().splitlines()
    return [json.loads(line)["update"] for line in lines] == list(range(6))


@pytest.mark.parametrize("closed, more, code", [("2>&-", (), 0), (">&-", (), 0), ("<&-", (), 0),
                                                ("<&- >&- 2>&-", (), 0), (">&-", ("--json",), IO),
                                                ("<&- >&- 2>&-", ("--json",), IO)])
def test_closed_streams_do_not_end_up_in_files(closed, more, code):
    """A closed standard output or error must not become the file that is opened next."""
    words = [COMMAND, *TRAIN, "--log", "log", *more]
    done = subprocess.run(["sh", "-c", f'"$0" "$@" {closed}', *words], capture_output=True)
    assert done.returncode == code
    assert log_is_clean()
    assert run("inspect", "m.safetensors").returncode == 0


def test_a_full_standard_error_does_not_fail_the_run():
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, *TRAIN, "--log", "log"], stderr=full, stdout=subprocess.PIPE)
    assert done.returncode == 0 and log_is_clean()


def test_a_reader_that_goes_away_does_not_end_the_run():
    """As with `2>&1 | head`: the news have no reader any more, the machine is still wanted."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([COMMAND, *TRAIN, "--log", "log"], stderr=writing, timeout=TIMEOUT)
    finally:
        os.close(writing)
    assert done.returncode == 0 and Path("m.safetensors").exists() and log_is_clean()
