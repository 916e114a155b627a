"""The algorithms, written once for every library of matrices. What makes a library fast is in its Operations."""

import math
from abc import ABC, abstractmethod

import numpy as np

import machines
from contenders.serve import Snapshots, Stopwatch, first_rows


class Operations(ABC):
    """What the algorithms need of a library. Matrices are float32, a row for each sample or chain; nothing is
    allocated where there is an `out`."""

    @abstractmethod
    def seed(self, seed): ...

    @abstractmethod
    def matrix(self, array):
        """The library's own copy of a NumPy array."""

    @abstractmethod
    def empty(self, *shape): ...

    @abstractmethod
    def array(self, matrix):
        """As a NumPy array."""

    @abstractmethod
    def affine(self, bias, x, weights, out):
        """out = bias + x weights"""

    @abstractmethod
    def draw(self, fields, out):
        """out = 1 with probability 1/(1 + e^-fields), else 0. The fields are lost."""

    @abstractmethod
    def add_outer(self, x, v, scale, weights):
        """weights += scale * x' v"""

    @abstractmethod
    def softplus_sums(self, fields):
        """The sum of log(1 + e^field) over each row."""


class Machine:
    """A machine in the library's matrices, and drawing one layer given the other for a fixed number of rows."""

    def __init__(self, operations, machine, rows):
        self.operations = operations
        self.weights = operations.matrix(machine.weights)
        self.visible_bias = operations.matrix(machine.visible_bias)
        self.hidden_bias = operations.matrix(machine.hidden_bias)
        visible, hidden = machine.weights.shape
        self.visible_fields, self.hidden_fields = operations.empty(rows, visible), operations.empty(rows, hidden)

    def draw_hidden(self, x, out):
        self.operations.affine(self.hidden_bias, x, self.weights, self.hidden_fields)
        self.operations.draw(self.hidden_fields, out)

    def draw_visible(self, v, out):
        self.operations.affine(self.visible_bias, v, self.weights.T, self.visible_fields)
        self.operations.draw(self.visible_fields, out)

    def saved(self):
        return machines.Machine(*map(self.operations.array, (self.weights, self.visible_bias, self.hidden_bias)))


class Training:
    """One update after the other. Data and chains are stacked, and the chains' hidden units are negated for the
    statistics, so that their difference is a single product."""

    def __init__(self, operations, machine, request):
        self.operations, self.machine = operations, machine
        self.batch, self.steps, self.persistent = request["batch"], request["steps"], request["method"] == "pcd"
        self.scale = request["rate"] / self.batch
        visible, hidden = machine.weights.shape
        self.visible, self.hidden = operations.empty(2 * self.batch, visible), operations.empty(2 * self.batch, hidden)
        self.hidden[:] = 0
        self.data_visible, self.chain_visible = self.visible[:self.batch], self.visible[self.batch:]
        self.data_hidden, self.chain_hidden = self.hidden[:self.batch], self.hidden[self.batch:]

    def update(self, data):
        machine = self.machine
        self.data_visible[:] = data
        machine.draw_hidden(self.data_visible, self.data_hidden)
        source = self.chain_hidden if self.persistent else self.data_hidden
        for _ in range(self.steps):
            machine.draw_visible(source, self.chain_visible)
            machine.draw_hidden(self.chain_visible, self.chain_hidden)
            source = self.chain_hidden

        self.chain_hidden *= -1
        self.operations.add_outer(self.visible, self.hidden, self.scale, machine.weights)
        machine.visible_bias += self.scale * (self.data_visible.sum(0) - self.chain_visible.sum(0))
        machine.hidden_bias += self.scale * self.hidden.sum(0)
        self.chain_hidden *= -1


def train(operations, request):
    operations.seed(request["seed"])
    rows = first_rows(request["data"], request["rows"])
    data = operations.matrix(rows)
    batch = request["batch"]
    machine = Machine(operations, machines.first_machine(rows, request["hidden"], request["seed"]), batch)
    training = Training(operations, machine, request)
    watch = Stopwatch()
    snapshots = Snapshots(request, watch)
    watch.start()
    for _ in range(request["epochs"]):
        for begin in range(0, len(rows) - batch + 1, batch):
            training.update(data[begin:begin + batch])
            snapshots.after_update(machine.saved)
    watch.stop()
    if "out" in request:
        machines.save(request["out"], machine.saved())
    return {"seconds": watch.seconds, "snapshots": snapshots.taken}


def gibbs(operations, request):
    operations.seed(request["seed"])
    machine = Machine(operations, machines.load(request["machine"]), request["chains"])
    visible = operations.matrix(first_rows(request["data"], request["chains"]))
    hidden = operations.empty(*machine.hidden_fields.shape)
    machine.draw_hidden(visible, hidden)
    watch = Stopwatch()
    watch.start()
    for _ in range(request["sweeps"]):
        machine.draw_visible(hidden, visible)
        machine.draw_hidden(visible, hidden)
    watch.stop()
    return {"seconds": watch.seconds, "activity": float(visible.mean())}


def ais(operations, request):
    """Annealed importance sampling (Neal 2001; for these machines Salakhutdinov and Murray 2008), from independent
    units with the biases `base` to the machine, in equal steps of the inverse temperature."""
    operations.seed(request["seed"])
    chains, temperatures = request["chains"], request["temperatures"]
    machine = Machine(operations, machines.load(request["machine"]), chains)
    base_array = np.load(request["base"])
    base = operations.matrix(base_array)
    change = machine.visible_bias - base
    visible, hidden = operations.empty(*machine.visible_fields.shape), operations.empty(*machine.hidden_fields.shape)
    machine.visible_fields[:] = base
    operations.draw(machine.visible_fields, visible)
    log_weights = operations.matrix(np.zeros(chains, np.float32))

    watch = Stopwatch()
    watch.start()
    for k in range(1, temperatures + 1):
        before, now = (k - 1) / temperatures, k / temperatures
        operations.affine(machine.hidden_bias, visible, machine.weights, machine.hidden_fields)
        log_weights += (now - before) * (visible @ change)
        log_weights += operations.softplus_sums(machine.hidden_fields * now)
        log_weights -= operations.softplus_sums(machine.hidden_fields * before)
        machine.hidden_fields *= now
        operations.draw(machine.hidden_fields, hidden)
        hidden *= now
        operations.affine(base + now * change, hidden, machine.weights.T, machine.visible_fields)
        operations.draw(machine.visible_fields, visible)
    watch.stop()

    weights = operations.array(log_weights).astype(np.float64)
    log_z_base = np.logaddexp(0, base_array.astype(np.float64)).sum() + machine.weights.shape[1] * math.log(2)
    return {"seconds": watch.seconds, "log_z": log_z_base + np.logaddexp.reduce(weights) - math.log(chains)}


def kinds(operations):
    """The functions above with this library: what serve() takes."""
    return {work.__name__: lambda request, work=work: work(operations, request) for work in (train, gibbs, ais)}
