"""The contenders as processes: long-lived, pinned to cores, asked over a pipe."""

import json
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
CORES = sorted(os.sched_getaffinity(0), reverse=True)  # core 0 has most of the system's own work
PYTHON = sys.executable

# OpenBLAS takes processors that are newer than itself for very old ones, and then uses a quarter of their speed.
if "avx512f" in Path("/proc/cpuinfo").read_text():
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"  # whatever was set: contenders shall be at their best


class ContenderError(Exception):
    pass


def commands(build, further_builds):
    """How each contender is started, by name."""
    found = {name: [str(build / f"bench/bench_{name}")] for name in ("ergodic", "sgemm", "loop", "dots", "doubles")}
    for other in further_builds:
        found[f"ergodic-{other.name}"] = [str(other / "bench/bench_ergodic")]
    for name in ("torch", "numpy", "sklearn"):
        found[name] = [PYTHON, "-m", f"contenders.with_{name}"]
    return found


class Child:
    """One contender with a number of threads, on as many cores, from one of them on."""

    def __init__(self, name, command, threads, first_core):
        self.name = name
        count, cores = str(threads), CORES[first_core:first_core + threads]
        settings = {"OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self.process = subprocess.Popen(
                [*command, count], cwd=BENCH, env={**os.environ, **settings}, text=True, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        except OSError as error:
            raise ContenderError(f"cannot start {name}: {error}; leave it out with --contenders") from None
        self.hello = self._read()
        self.kinds = self.hello["kinds"]

    def ask(self, request):
        self.begin(request)
        return self.answer()

    def begin(self, request):
        self.asked = json.dumps(request)
        self.process.stdin.write(self.asked + "\n")
        self.process.stdin.flush()

    def answer(self):
        answer = self._read()
        if "error" in answer:
            raise ContenderError(f"{self.name}: {answer['error']}, asked for {self.asked}")
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            raise ContenderError(f"{self.name} ended with code {code}; its own message stands above")
        return json.loads(line)


class Children:
    """Starts contenders when they are first asked for, and ends them all."""

    def __init__(self, commands):
        self.commands = commands
        self.started = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.started.values():
            child.end()

    def get(self, name, threads=1, first_core=0):
        place = name, threads, first_core
        if place not in self.started:
            self.started[place] = Child(name, self.commands[name], threads, first_core)
        return self.started[place]

    def versions(self):
        return {name: child.hello.get("version", "") for (name, *_), child in sorted(self.started.items())}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)
