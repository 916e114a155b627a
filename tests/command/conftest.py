"""What the front-door tests share: running the command, reading and writing its files, and brute force."""

import gzip
import itertools
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.path.abspath(os.environ.get("ERGODIC", ROOT / "build/release/apps/cli/ergodic"))
TIMEOUT = 600  # of a command that hangs; a machine that does other work too is slow, and that is no failure

# A command that was started with signals ignored, as by nohup or in the background of a script, goes on ignoring them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)

# Exit codes of the command.
OK, USAGE, BAD_DATA, NO_INPUT, IO = 0, 2, 65, 66, 74

LEVELS = {"bernoulli": (0.0, 1.0), "spin": (-1.0, 1.0)}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Every test works in a folder of its own, and with a cache of its own."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return work


# ---- Running the command ----


def words(args):
    return [COMMAND, *map(str, args)]


def run(*args, **options):
    """Runs the command to its end; standard output and error as text."""
    return subprocess.run(words(args), capture_output=True, text=True, timeout=TIMEOUT, **options)


def succeed(*args, **options):
    done = run(*args, **options)
    assert done.returncode == OK, done.stderr
    return done


def ask(*args):
    """The one JSON object that the command prints."""
    done = succeed(*args, "--json")
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def snapshot(folder="."):
    """Every file below a folder with its content."""
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def refused(code, *args, says=(), **options):
    """The command ends with this code, a message with these words, no output, and every file as it was."""
    before = snapshot()
    done = run(*args, **options)
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr}"
    assert done.stdout == ""
    assert "\nergodic: " in "\n" + done.stderr and done.stderr.endswith("\n"), done.stderr
    for part in [says] if isinstance(says, str) else says:
        assert str(part) in done.stderr
    assert snapshot() == before, "a refused command changed files"
    return done.stderr


@contextmanager
def started(*args, **options):
    """A run that goes on beside the test, but not beyond it. It gives way to whoever watches it, so that the watcher
    misses nothing on a busy machine."""
    process = subprocess.Popen(words(args), text=True, preexec_fn=lambda: os.nice(10), **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


# Starts the command and prints its peak. The system counts what a process held before it became the command, so this is
# a small process, which the test itself is not.
MEASURE = """import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_of(*args):
    """Runs the command; what it said, and the most memory that it held, in bytes."""
    command = [sys.executable, "-I", "-S", "-c", MEASURE, *words(args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return done.stderr, int(done.stdout.splitlines()[-1])


def stop_when(ready, how, *args):
    """Starts a run, and signals it as soon as ready(). Returns its exit code, standard output and standard error."""
    with started(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        ends = time.monotonic() + TIMEOUT
        while not ready() and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.0002)
        process.send_signal(how)
        out, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, out, err


def stop_after(checkpoints, how, *args):
    """Signals a training run that saves at each update, after so many checkpoints."""
    saved = Path(args[args.index("--out") + 1] + ".checkpoint")
    seen = [stamp(saved)]

    def ready():
        now = stamp(saved)
        if now != seen[-1]:
            seen.append(now)
        return len(seen) > checkpoints

    return stop_when(ready, how, *args, "--checkpoint-every", "0")


def stamp(path):
    """Changes whenever the file is replaced."""
    try:
        status = path.stat()
        return status.st_ino, status.st_mtime_ns
    except FileNotFoundError:
        return None


def unfinished(*args):
    """Leaves the checkpoint of a run that was interrupted; returns its content."""
    code, _, err = stop_after(2, signal.SIGINT, *args)
    assert code == 130, err
    return Path(args[args.index("--out") + 1] + ".checkpoint").read_bytes()


def on_a_terminal(*args, interrupt_at=None):
    """Runs the command with a terminal as standard error; exit code, standard output, what the terminal got.

    With a SIGINT, if asked for, as soon as the terminal shows what this expression matches.
    """
    ours, theirs = pty.openpty()
    with started(*args, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = ""
        try:
            while piece := os.read(ours, 65536):
                seen += piece.decode()
                if interrupt_at and re.search(interrupt_at, seen):
                    process.send_signal(signal.SIGINT)
                    interrupt_at = None
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        out, _ = process.communicate(timeout=TIMEOUT)
    return process.returncode, out, seen


def small_machine(path="model.safetensors", *args):
    """Trains in a moment a machine of 9 visible and 4 hidden units."""
    succeed("train", "--data", "bars-and-stripes:3", "--hidden", 4, "--epochs", 2, "--out", path, *args)
    return Path(path)


# ---- Files ----

_TYPES = {"F32": "<f4", "F64": "<f8", "U64": "<u8", "I32": "<i4", "U8": "|u1"}


def read_safetensors(path):
    """(arrays by name, metadata); by hand, so that our own reader is not the judge of our own writer."""
    content = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(content[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata


def write_safetensors(path, arrays, metadata):
    names = {np.dtype(numpy_name): name for name, numpy_name in _TYPES.items()}
    header, data = {"__metadata__": metadata}, b""
    for name, array in arrays.items():
        begin = len(data)
        data += np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def idx_bytes(array):
    """An array of unsigned bytes as an IDX file."""
    return struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_data(path, form, array):
    """Writes 0/1 or grey bytes in one of the formats that the command reads."""
    path = Path(path)
    if form == "npy":
        with path.open("wb") as file:
            np.save(file, array)
    elif form == "npz":
        with path.open("wb") as file:
            np.savez_compressed(file, x=array)
    elif form == "csv":
        np.savetxt(path, array, fmt="%g", delimiter=",")
    elif form == "idx":
        path.write_bytes(idx_bytes(array))
    elif form == "idx.gz":
        path.write_bytes(gzip.compress(idx_bytes(array)))
    return path


def png_size(path):
    """Width and height of a PNG whose pixels are all there."""
    content = Path(path).read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour = struct.unpack(">IIBB", content[16:26])
    pixels, at = b"", 8
    while at < len(content):
        (length,), kind = struct.unpack(">I", content[at:at + 4]), content[at + 4:at + 8]
        if kind == b"IDAT":
            pixels += content[at + 8:at + 8 + length]
        at += 12 + length
    channels = {0: 1, 2: 3, 3: 1}[colour]
    assert len(zlib.decompress(pixels)) == height * (1 + (width * channels * depth + 7) // 8)
    return width, height


# ---- Brute force ----


class Machine:
    """A restricted Boltzmann machine by its definition, in double precision."""

    def __init__(self, arrays, visible="bernoulli", hidden="bernoulli"):
        self.weights, self.b, self.c = (np.asarray(arrays[name], np.float64)
                                        for name in ("weights", "visible_bias", "hidden_bias"))
        self.visible, self.hidden = visible, hidden

    @classmethod
    def read(cls, path):
        arrays, metadata = read_safetensors(path)
        return cls(arrays, metadata["visible"], metadata["hidden"])

    def values(self, bits):
        low, high = LEVELS[self.visible]
        return low + (high - low) * np.asarray(bits, np.float64)

    def minus_free_energy(self, bits):
        """log sum_v exp(x'Wv + b'x + c'v) for each row."""
        x = self.values(bits)
        low, high = LEVELS[self.hidden]
        fields = x @ self.weights + self.c
        return x @ self.b + np.logaddexp(low * fields, high * fields).sum(axis=1)

    def log_z(self):
        states = np.array(list(itertools.product((0, 1), repeat=len(self.b))))
        terms = self.minus_free_energy(states)
        return terms.max() + np.log(np.exp(terms - terms.max()).sum())

    def log_likelihood(self, bits):
        return self.minus_free_energy(bits).mean() - self.log_z()

    def pseudo_log_likelihood(self, bits):
        """mean over rows of sum_i log p(x_i | the rest)."""
        here, total = self.minus_free_energy(bits), 0.0
        for unit in range(bits.shape[1]):
            flipped = bits.copy()
            flipped[:, unit] = 1 - flipped[:, unit]
            total += -np.logaddexp(0.0, self.minus_free_energy(flipped) - here)
        return total.mean()


def random_machine(visible=6, hidden=5, seed=0, dtype=np.float32):
    draw = np.random.default_rng(seed)
    shapes = {"weights": (visible, hidden), "visible_bias": (visible,), "hidden_bias": (hidden,)}
    return {name: draw.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


FOREIGN = {"format": "ergodic-model", "version": "1", "model": "rbm"}


def bars_and_stripes(n):
    """All pictures of full rows, then all of full columns."""
    lines = np.array(list(itertools.product((0, 1), repeat=n)))
    rows = np.repeat(lines[:, :, None], n, axis=2).reshape(len(lines), n * n)
    columns = np.repeat(lines[:, None, :], n, axis=1).reshape(len(lines), n * n)
    return np.concatenate([rows, columns])


def rows_seen(data, units, *options):
    """The bits that the command makes of data: a machine that copies each visible unit gives its rows back."""
    copier = {"weights": 80 * np.eye(units, dtype=np.float32), "visible_bias": np.full(units, -40, np.float32),
              "hidden_bias": np.full(units, -40, np.float32)}
    write_safetensors("copier.safetensors", copier, FOREIGN)
    succeed("reconstruct", "copier.safetensors", "--data", data, "--count", 10**8, "--out", "seen.npy", *options)
    return np.load("seen.npy").round().astype(np.uint8)
