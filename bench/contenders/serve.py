"""What the contenders in Python share: answering the harness (see serve.hpp), and reading what it points to."""

import functools
import json
import sys
import time

import numpy as np

import machines


def threads():
    return int(sys.argv[1])


def blas():
    """The BLAS that this process has loaded. Measured with the slow reference library the others would look good."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            name = line.split("/")[-1].strip()
            if name.startswith("libopenblas"):
                return name
    sys.exit("contender: this Python does not use OpenBLAS; install libopenblas-dev")


def serve(contender, version, kinds):
    """Answers requests, a line each, until the standard input ends. `kinds` are functions from request to answer."""
    hello = {"contender": contender, "version": f"{version}, {blas()}", "threads": threads(), "kinds": sorted(kinds)}
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = kinds[request["kind"]](request)
        except Exception as error:  # the harness names the contender, and ends the run
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


@functools.lru_cache(maxsize=1)
def _all_rows(path):
    return np.load(path).astype(np.float32)


def first_rows(path, count):
    """The first rows of a data file, as floats. The file last asked for is kept."""
    return _all_rows(path)[:count]


class Stopwatch:
    """Counts only while it runs."""

    def __init__(self):
        self.seconds = 0.0

    def start(self):
        self._started = time.perf_counter()

    def stop(self):
        self.seconds += time.perf_counter() - self._started


class Snapshots:
    """Saves the machine every so many updates if the request asks for it, with the clock stopped."""

    def __init__(self, request, watch):
        self.every, self.out = request.get("snapshot_every", 0), request.get("out")
        self.watch = watch
        self.updates = 0
        self.taken = []

    def after_update(self, machine):
        """`machine` is a function, called only when its machine is needed."""
        self.updates += 1
        if self.every and self.updates % self.every == 0:
            self.watch.stop()
            path = f"{self.out}.{self.updates}"
            machines.save(path, machine())
            self.taken.append({"seconds": self.watch.seconds, "path": path})
            self.watch.start()
