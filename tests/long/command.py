"""What the long checks share: running the command in a folder of their own, and saying what was found."""

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.path.abspath(os.environ.get("ERGODIC", ROOT / "build/release/apps/cli/ergodic"))


def enter_folder():
    """A fresh folder that lasts as long as the script; data sets come from the user's cache."""
    folder = tempfile.TemporaryDirectory(prefix="ergodic-long-")
    os.chdir(folder.name)
    return folder


def run(*args):
    """Runs the command, shows its line, and returns standard output and error."""
    print("ergodic", *args, flush=True)
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout, done.stderr


def ask(*args):
    return json.loads(run(*args, "--json")[0])


def bring(name):
    """Brings a real data set to this machine, unless it is here."""
    run("data", "get", name)


def idx_of(name, part):
    """The bytes of an IDX file in the user's cache: those of a data set whose file begins with the part's name."""
    import numpy as np  # not all checks need it

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ergodic" / name
    content = next(path for path in cache.rglob("*") if path.name.startswith(part)).read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape)


def peak_of_children():
    """The most memory that any finished child has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def require(what, holds):
    print(("ok      " if holds else "FAILED  ") + what, flush=True)
    if not holds:
        sys.exit(1)
