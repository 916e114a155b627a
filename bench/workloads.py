"""What is measured: the shape of every workload, in one place.

A request names files by what they hold, ("trained machine", 500) for example; inputs.py makes them. `quick` looks
whether everything runs, `default` is what `make bench` does, `full` gives every contender the whole work.
"""

from dataclasses import dataclass, field

SIZES = ("quick", "default", "full")

# Contenders that may do a part of the work at the default size: a rate needs no whole epoch, and time is short.
SHARES = {"torch": 5, "numpy": 5, "sklearn": 5, "doubles": 100}

MATRICES = ("ergodic", "sgemm", "torch", "numpy")


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    unit: str  # of the number in the table
    request: dict
    contenders: tuple  # who takes part, if it knows the kind of work
    amount: str  # the field of the request by which the work grows, if a part of the work will do
    check: dict = field(default_factory=dict)  # changes the request into one whose answer shows if the code is right
    threads: int = 1
    scales: bool = False  # whether Ergodic is measured with two threads too

    @property
    def kind(self):
        return self.request["kind"]

    def request_for(self, contender, size, part=1):
        """The contender's share of the work, or a part of it."""
        if not self.amount:
            return self.request
        share = SHARES.get(contender, 1) if size == "default" else 1
        step = self.request.get("batch", 1)
        amount = max(self.request[self.amount] // (share * part * step), 1) * step
        return {**self.request, self.amount: amount}


def units_of_work(request):
    """Samples, sweeps of a chain, temperatures of a chain, updates of a spin, or products."""
    if request["kind"] in ("train", "reals", "letters", "network", "neural"):
        return request["rows"] * request["epochs"]
    if request["kind"] == "product":
        return request["times"]
    if request["kind"] == "spins":
        return request["chains"] * request["sweeps"] * request["visible"]
    return request["chains"] * request.get("sweeps", request.get("temperatures"))


def macs(request):
    """Logical multiply-adds: those of dense products, however the work is really done."""
    if request["kind"] == "spins":
        return units_of_work(request) * request["visible"]
    if request["kind"] == "product":
        return units_of_work(request) * request["left"] * request["inner"] * request["right"]
    if request["kind"] == "network":  # up, down but for the inputs, and the gradient
        sizes = request["sizes"]
        pairs = [a * b for a, b in zip(sizes, sizes[1:])]
        return units_of_work(request) * (3 * sum(pairs) - pairs[0])
    if request["kind"] == "neural":  # six passes up, four down and two gradients: the data's, and those of the chains
        sizes = [request["visible"], *request["layers"], 1]
        return units_of_work(request) * 12 * sum(a * b for a, b in zip(sizes, sizes[1:]))
    # Training: a product up from the data, two for each sweep, and two statistics.
    products = 2 * request["steps"] + 3 if request["kind"] in ("train", "reals", "letters") else 2
    return units_of_work(request) * products * request["visible"] * request["hidden"]


def training(data=("train",), *, visible, hidden, rows, batch, method="cd", steps=1, epochs=1, rate=0.05):
    return dict(kind="train", data=data, visible=visible, hidden=hidden, rows=rows, epochs=epochs, batch=batch,
                method=method, steps=steps, rate=rate)


def learning_check(rows, batch, updates):
    """A machine that is small enough for its exact likelihood, trained by the same code."""
    return dict(hidden=16, rows=rows, epochs=max(updates * batch // rows, 1), rate=0.1)


def workloads(size):
    def pick(quick, default, full=None):
        return {"quick": quick, "default": default, "full": full or default}[size]

    visible, hidden, rows = 784, pick(64, 500), pick(2000, 60000)
    shape = f"{visible} x {hidden}"

    def trained(name, batch, contenders, **changes):
        request = training(visible=visible, hidden=hidden, **{"rows": rows, "batch": batch, **changes})
        method = f"{request['method'].upper()}-{request['steps']}"
        return Workload(name, f"{shape}, {method}, batch {batch}, {request['rows']:,} rows", "samples/s", request,
                        contenders, "rows", learning_check(pick(2000, 20000), batch, pick(100, 300)),
                        scales=name == "W1b")

    def real(name, units, data, rate):
        request = dict(training(data, visible=visible, hidden=hidden, rows=pick(1000, 20000), batch=100, method="pcd",
                                rate=rate), kind="reals", units=units)
        return Workload(name, f"{shape}, {'-'.join(units)}, PCD-1, batch 100", "samples/s", request,
                        ("ergodic", "torch"), "rows", dict(rows=1000, epochs=40), scales=True)

    def letters(name, sites, count, hidden):
        units = sites * count
        request = dict(training(("letter rows", sites, count), visible=units, hidden=hidden, rows=pick(1000, 20000),
                                batch=100, method="pcd"), kind="letters", units=["potts", "bernoulli"], letters=count)
        return Workload(name, f"{sites} sites of {count} letters x {hidden}, PCD-1, batch 100", "samples/s", request,
                        ("ergodic", "torch"), "rows", dict(rows=1000, epochs=40), scales=True)

    def product(name, left, inner, right, turned):
        request = dict(kind="product", left=left, inner=inner, right=right, turned=turned,
                       times=max(int(pick(1e7, 1e10) / (left * inner * right)), 1))
        ways = {"": "A B", "a": "A' B", "b": "A B'"}
        return Workload(name, f"{ways[turned]}, {left} x {inner} x {right}", "products/s", request,
                        ("ergodic", "sgemm"), "times", dict(times=1))

    layers = pick([8, 8], [32, 32, 32])
    sizes = [784, *pick([64, 64], [1024, 1024]), 10]
    sweeps = pick(20, 100, 1000)
    chains, ais_chains, temperatures = pick(100, 1000), pick(20, 100), pick(50, 1000)
    wide_side, wide_hidden, wide_rows = pick(16, 64), pick(256, 4096), pick(256, 1024, 4096)
    spins, spin_chains, spin_sweeps = pick(128, 1024), pick(16, 128), pick(20, 200)
    long_chains, long_ladder = pick(8, 128), pick(200, 14500)
    target = pick(-168, -160)
    return [
        trained("W1", 100, (*MATRICES, "sklearn")),
        trained("W1b", 500, (*MATRICES, "sklearn")),
        trained("W2", 500, MATRICES, method="pcd", steps=10, rows=pick(1000, 20000, 60000)),
        Workload("W3", f"{shape}, {chains:,} chains, {sweeps:,} Gibbs sweeps", "chain-sweeps/s",
                 dict(kind="gibbs", machine=("trained machine", hidden), data=("test",), visible=visible, hidden=hidden,
                      chains=chains, sweeps=sweeps),
                 (*MATRICES, "sklearn"), "sweeps", dict(sweeps=pick(20, 50)), scales=True),
        Workload("W4", f"{shape}, AIS, {ais_chains} chains, {temperatures:,} temperatures", "chain-temperatures/s",
                 dict(kind="ais", machine=("trained machine", hidden), base=("base",), visible=visible, hidden=hidden,
                      chains=ais_chains, temperatures=temperatures),
                 MATRICES, "temperatures", dict(machine=("trained machine", 16), temperatures=pick(500, 1000))),
        Workload("W5", f"{wide_side**2} x {wide_hidden}, CD-1, batch 128, {wide_rows:,} rows", "samples/s",
                 training(("wide", wide_side), visible=wide_side**2, hidden=wide_hidden, rows=wide_rows, batch=128),
                 MATRICES, "rows"),
        Workload("W6", f"{visible} x 16, PCD-1, batch 100, until {target} nats on held-out rows", "s",
                 dict(training(visible=visible, hidden=16, rows=rows, batch=100, method="pcd", epochs=pick(5, 3)),
                      snapshot_every=pick(50, 100), target=target, rates=pick([0.1], [0.05, 0.1, 0.2, 0.4])),
                 (*MATRICES, "sklearn"), ""),
        Workload("W7", f"{spins:,} spins, all coupled, {spin_chains} chains, {spin_sweeps} Gibbs sweeps",
                 "spin updates/s",
                 dict(kind="spins", couplings=("couplings", spins), visible=spins, chains=spin_chains,
                      sweeps=spin_sweeps),
                 ("ergodic", "loop", "dots", "numpy"), "sweeps", dict(sweeps=pick(20, 50), chains=16)),
        Workload("W8", f"{shape}, AIS, {long_chains} chains, {long_ladder:,} temperatures, 2 threads",
                 "chain-temperatures/s",
                 dict(kind="ais", machine=("trained machine", hidden), base=("base",), visible=visible, hidden=hidden,
                      chains=long_chains, temperatures=long_ladder),
                 ("ergodic", "doubles"), "temperatures",
                 dict(machine=("trained machine", 16), chains=100, temperatures=pick(500, 1000)), threads=2),
        real("R1", ["gaussian", "bernoulli"], ("real rows", visible), 0.01),
        real("R2", ["bernoulli", "relu"], ("train",), 0.05),
        letters("L1", pick(20, 100), 20, pick(32, 200)),
        Workload("N1", f"network {'-'.join(map(str, sizes))}, dropout, momentum, batch 100", "samples/s",
                 dict(kind="network", data=("train",), labels=("labels",), sizes=sizes, rows=pick(2000, 20000), epochs=1,
                      batch=100, rate=0.1, momentum=0.9, dropout=[0.2, 0.5]),
                 ("ergodic", "torch"), "rows", dict(epochs=pick(20, 2)), scales=True),
        Workload("E1", f"neural energy {'-'.join(map(str, [2, *layers]))}, jumps and Langevin steps, batch 250",
                 "samples/s",
                 dict(kind="neural", data=("plane rows",), visible=2, layers=layers, rows=pick(2000, 20000), epochs=1,
                      batch=250, rate=0.01, langevin=0.15),
                 ("ergodic", "torch"), "rows", dict(rows=2000, epochs=pick(50, 200))),
        product("P1", 100, 784, 500, ""),
        product("P2", 100, 500, 784, "b"),
        product("P3", 784, 100, 500, "a"),
        product("P4", 100, 1024, 10, ""),
        product("P5", 128, 32, 32, ""),
    ]


# ---- Curves: logical multiply-adds in a cycle as one size changes ----


@dataclass(frozen=True)
class Point:
    value: float
    request: dict


@dataclass(frozen=True)
class Curve:
    axis: str
    kind: str
    points: list


def curves(size):
    work = {"quick": 1e7, "default": 1e10, "full": 4e10}[size]  # multiply-adds at each point
    most = {"quick": 2, "default": 99, "full": 99}[size]  # points of a curve

    def request(kind, visible=784, hidden=500, rows=100, density=0.2):
        """`rows` are those of a batch, or chains."""
        one = dict(kind=kind, visible=visible, hidden=hidden, rows=rows, chains=rows, steps=1, epochs=1, sweeps=1)
        times = min(max(round(work / macs(one)), 2), max(20000 // rows, 2))
        random = dict(visible=visible, hidden=hidden, density=density)
        if kind == "gibbs":
            return dict(kind="gibbs", data=("random rows", visible, rows, density),
                        machine=("random machine", visible, hidden, density),
                        chains=rows, sweeps=times, **random)
        return dict(training(("random rows", visible, rows * times, density), visible=visible, hidden=hidden,
                             rows=rows * times, batch=rows, rate=0.01), density=density)

    def doubling(first, last):
        return [first << k for k in range((last // first).bit_length())][:most]

    axes = {"rows": doubling(16, 4096), "visible": doubling(256, 65536), "hidden": doubling(64, 8192),
            "density": [0.05, 0.1, 0.2, 0.3, 0.5][:most]}
    swept = [Curve(axis, kind, [Point(value, request(kind, **{axis: value})) for value in values])
             for axis, values in axes.items() for kind in ("train", "gibbs")]
    return swept
