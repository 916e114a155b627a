"""Measures a workload: the contenders take turns, round after round, and every answer is checked."""

import functools
import json
import statistics
import subprocess

import numpy as np

from children import say
from workloads import macs, units_of_work

# How far apart answers may lie that should agree, several times what chance does at the sizes of the checks.
ACTIVITY_TOLERANCE = 0.02  # share of visible units that are on after the same sweeps
LOG_Z_TOLERANCE = 1.0  # nats, from the exact value
ENERGY_TOLERANCE = 0.04  # of a spin
SUM_TOLERANCE = 0.1  # of all elements of a product, which are of order one: roundoffs


class Measurement:
    def __init__(self, children, inputs, size, rounds):
        self.children, self.inputs, self.size, self.rounds = children, inputs, size, rounds
        self.failures = []

    def run(self, workload, names):
        """The result of one workload as plain data: what there is to say of each contender."""
        names = [name for name in names if self.takes_part(name, workload)]
        if not names:
            return None
        say(f"{workload.name}: {workload.title}")
        turn, tuned = functools.partial(self.turn, threads=workload.threads), {}
        if "target" in workload.request:
            turn = self.turn_to_target
            tuned = {name: self.best_rate(workload, name) for name in names}
        else:
            for name in names:
                warm_up = {**workload.request_for(name, self.size, part=10), "seed": 0}
                self.ask(name, warm_up, workload.threads)
        turns = {name: [] for name in names}
        for round_number in range(self.rounds):
            first = round_number % len(names)
            for name in names[first:] + names[:first]:
                request = {**workload.request_for(name, self.size), **tuned.get(name, {}), "seed": round_number + 1}
                turns[name].append(turn(name, request))
        checks = self.check(workload, names)
        return {"name": workload.name, "title": workload.title, "unit": workload.unit,
                "contenders": {name: {"turns": turns[name], **tuned.get(name, {}), **checks.get(name, {})}
                               for name in names}}

    def takes_part(self, name, workload):
        return name.split("-")[0] in workload.contenders and workload.kind in self.children.get(name).kinds

    def ask(self, name, request, threads=1):
        return self.children.get(name, threads).ask(self.inputs.resolve(request))

    # ---- One turn of one contender ----

    def turn(self, name, request, threads=1):
        answer = self.ask(name, request, threads)
        seconds = answer["seconds"]
        speed = units_of_work(request) / seconds
        return {"value": speed, "speed": speed, "seconds": seconds, "hertz": answer.get("hertz"),
                "macs_per_second": macs(request) / seconds}

    def turn_to_target(self, name, request):
        """The seconds of training until the exact likelihood passes the target, as if it changed along a straight line
        from snapshot to snapshot. The value is None if it never passes."""
        folder = self.inputs.folder / "snapshots"
        folder.mkdir(exist_ok=True)
        snapshots = self.ask(name, {**request, "out": str(folder / name)})["snapshots"]
        before = None
        passed = {"value": None, "speed": 0.0}
        for snapshot in snapshots:
            point = snapshot["seconds"], self.evaluate(snapshot["path"])["log_likelihood"]["value"]
            if point[1] >= request["target"]:
                value = np.interp(request["target"], *zip(before[::-1], point[::-1])) if before else point[0]
                passed = {"value": float(value), "speed": 1 / float(value)}
                break
            before = point
        for file in folder.iterdir():
            file.unlink()
        return passed

    def best_rate(self, workload, name):
        """The learning rate with which the contender is there first."""
        tried = [{"rate": rate} for rate in workload.request["rates"]]
        return max(tried, key=lambda rate: self.turn_to_target(name, {**workload.request, **rate, "seed": 0})["speed"])

    # ---- Whether the answers are right ----

    def evaluate(self, machine):
        """What `ergodic evaluate` says about held-out rows."""
        command = [self.inputs.command, "evaluate", machine, "--data", self.inputs.path(("test",)), "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    @functools.cached_property
    def independent_likelihood(self):
        """Mean log-likelihood of held-out rows if the units were independent: what is reached without learning."""
        bias = np.load(self.inputs.path(("base",))).astype(np.float64)
        test = np.load(self.inputs.path(("test",)))
        return float((test @ bias).mean() - np.logaddexp(0, bias).sum())

    def check(self, workload, names):
        """For each contender a text for the table; failures are noted."""
        if not workload.check:
            return {}
        request = {**workload.request, **workload.check, "seed": 1}
        check = {"train": self.check_learning, "gibbs": self.check_activity, "ais": self.check_log_z,
                 "spins": self.check_energy, "reals": self.check_reconstruction,
                 "letters": self.check_reconstruction, "network": self.check_classes,
                 "product": self.check_sum, "neural": self.check_gain}[workload.kind]
        out = {}
        for name, (text, right) in check(request, names).items():
            out[name] = {"check": text}
            if not right:
                self.failures.append(f"{name} in {workload.name}: {text}")
        return out

    def check_learning(self, request, names):
        out = {}
        for name in names:
            machine = str(self.inputs.folder / f"learned-{name}.safetensors")
            self.ask(name, {**request, "out": machine})
            value = self.evaluate(machine)["log_likelihood"]["value"]
            learned = value > self.independent_likelihood + (1 if self.size == "quick" else 10)
            out[name] = f"{value:.1f} nats (independent units {self.independent_likelihood:.1f})", learned
        return out

    def check_reconstruction(self, request, names):
        """What a machine leaves of the variance of the data when it draws them again."""
        return self.check_below(request, names, "reconstruction", 1.0)

    def check_classes(self, request, names):
        """The share of rows whose class is not found."""
        return self.check_below(request, names, "wrong", 0.7)

    def check_gain(self, request, names):
        """How much likelier the data are than by one normal distribution, in nats; by eight of them it would be 1.8."""
        values = {name: self.ask(name, request)["gain"] for name in names}
        return {name: (f"gain {value:.3f} nats", value > 1.0) for name, value in values.items()}

    def check_sum(self, request, names):
        return self.check_agreement(request, names, "sum", SUM_TOLERANCE)

    def check_below(self, request, names, what, most):
        values = {name: self.ask(name, request)[what] for name in names}
        return {name: (f"{what} {value:.3f}", value < most) for name, value in values.items()}

    def check_activity(self, request, names):
        return self.check_agreement(request, names, "activity", ACTIVITY_TOLERANCE)

    def check_energy(self, request, names):
        return self.check_agreement(request, names, "energy", ENERGY_TOLERANCE)

    def check_agreement(self, request, names, what, tolerance):
        values = {name: self.ask(name, request)[what] for name in names}
        middle = statistics.median(values.values())
        return {name: (f"{what} {value:.3f}", abs(value - middle) < tolerance) for name, value in values.items()}

    def check_log_z(self, request, names):
        exact = self.evaluate(self.inputs.path(request["machine"]))["log_z"]["value"]
        values = {name: self.ask(name, request)["log_z"] for name in names}
        return {name: (f"log Z {value:.2f} (exact {exact:.2f})", abs(value - exact) < LOG_Z_TOLERANCE)
                for name, value in values.items()}

    # ---- Further measurements ----

    def speedup(self, workload, name):
        """How much faster two threads are than one, in each round; they take turns. Also two processes of one thread
        each, at the same time: what the machine has to give to two that never wait for each other."""
        say(f"{workload.name} with two threads")
        out = {"name": workload.name, "threads": [], "processes": []}
        pair = [self.children.get(name, first_core=core) for core in (0, 1)]
        for child in (*pair, self.children.get(name, threads=2)):
            child.ask(self.inputs.resolve({**workload.request_for(name, self.size, part=10), "seed": 0}))
        for round_number in range(self.rounds):
            request = {**workload.request_for(name, self.size), "seed": round_number + 1}
            one, two = (self.turn(name, request, threads)["speed"] for threads in (1, 2))
            out["threads"].append(two / one)
            for child in pair:
                child.begin(self.inputs.resolve(request))
            out["processes"].append(sum(units_of_work(request) / child.answer()["seconds"] for child in pair) / one)
        return out

    def products(self, workload):
        """sgemm's products alone as shares of the most multiply-adds that the core can do; medians over the rounds."""
        request = {**workload.request, "kind": "products", "seed": 1}
        rounds = [self.ask("sgemm", request) for _ in range(self.rounds)]
        shares = {what: statistics.median(answer[what] / answer["peak"] for answer in rounds)
                  for what in ("up", "down", "statistics")}
        return {"name": workload.name, "peak": statistics.median(answer["peak"] for answer in rounds), "shares": shares}

    def curve(self, curve, names, rounds):
        """Logical multiply-adds in a cycle at each point, for each contender; the points take turns too."""
        say(f"curve of {curve.kind} over {curve.axis}")
        values = {name: [[] for _ in curve.points] for name in names}
        for round_number in range(rounds):
            for index, point in enumerate(curve.points):
                for name in names:
                    turn = self.turn(name, {**point.request, "seed": round_number + 1})
                    values[name][index].append(turn["macs_per_second"] / turn["hertz"])
        medians = {name: [statistics.median(value) for value in points] for name, points in values.items()}
        return {"axis": curve.axis, "kind": curve.kind, "points": [point.value for point in curve.points],
                "macs_per_cycle": medians}
