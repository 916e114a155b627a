"""The small jobs of tools/digests: every kind of machine, unit type, method, sampler and way to judge."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

DISCRETE, REAL = ("bernoulli", "spin", "potts"), ("gaussian", "relu")
DATA_OF = {"bernoulli": "bars-and-stripes:3", "spin": "bars-and-stripes:3", "potts": "../data/letters.npy",
           "gaussian": "../data/real.npy", "relu": "../data/positive.npy"}


@dataclass
class Job:
    """Steps that build on each other, in a folder of their own: what is drawn from a machine after it was trained."""

    name: str
    steps: list = field(default_factory=list)

    def step(self, name, *words):
        self.steps.append((name, (*words, "--json")))
        return self

    def text(self, name, *words):
        self.steps.append((name, words))
        return self

    def train(self, *words, epochs=3):
        return self.step("train", "train", *words, "--epochs", epochs, "--no-likelihood", "--log", "log.jsonl", "--out",
                         "m.safetensors")

    def sample(self, name, *words, count=20, sweeps=30):
        return self.step(name, "sample", "m.safetensors", *words, "--count", count, "--sweeps", sweeps, "--out",
                         f"{name}.npy")

    def use(self, command, *words, name=None):
        return self.step(name or command, command, "m.safetensors", *words)


# ---- Data ----


def sequences(draw, rows=40, sites=12):
    """Two families of related sequences, near and far, so that weights differ."""
    letters = "ACDEFGHIKLMNPQRSTVWY-"
    ancestors = [[draw.choice(letters) for _ in range(sites)] for _ in range(2)]
    for row in range(rows):
        yield "".join(draw.choice(letters) if draw.random() < 0.01 * row else a for a in ancestors[row % 2])


def write_data(folder):
    """The files that the jobs read, the same on every machine."""
    folder.mkdir(parents=True)
    draw = random.Random(1)

    def array(rows, columns, value):
        return np.array([[value(row, column) for column in range(columns)] for row in range(rows)])

    bits = array(60, 36, lambda row, column: draw.random() < (0.2 if (row + column) % 3 else 0.7)).astype(np.uint8)
    grey = array(60, 36, lambda row, column: round(draw.random(), 2)).reshape(60, 6, 6)
    letters = array(60, 5, lambda row, column: draw.randrange(3) if column else row % 3)
    real = array(60, 3, lambda row, column: draw.gauss(column, 0.5 + column)).astype(np.float32)
    hole = array(60, 5, lambda row, column: row % 7 == column)
    np.save(folder / "bits.npy", bits)
    np.save(folder / "grey.npy", grey)
    np.save(folder / "letters.npy", letters)
    np.save(folder / "torus.npy", array(60, 9, lambda row, column: draw.randrange(3)))
    np.save(folder / "real.npy", real)
    np.save(folder / "positive.npy", np.abs(real))
    np.save(folder / "plane.npy", real[:, :2])
    np.save(folder / "patterns.npy", array(8, 64, lambda row, column: draw.random() < 0.5).astype(np.uint8))
    np.save(folder / "gaps_bits.npy", np.where(hole, np.nan, bits[:, :5]))
    np.save(folder / "gaps_letters.npy", np.where(hole, -1, letters))
    np.save(folder / "gaps_real.npy", np.where(hole[:, :3], np.nan, real))
    np.save(folder / "labels.npy", np.arange(60) % 4)
    for units in (3, 5, 9, 36):
        np.save(folder / f"mask{units}.npy", (np.arange(units) % 3 == 0).astype(np.uint8)[None])
        np.save(folder / f"watch{units}.npy", np.linspace(-1, 1, units)[None])
    (folder / "family.fasta").write_text("".join(f">{k}\n{row}\n" for k, row in enumerate(sequences(draw))))
    (folder / "ring.txt").write_text("".join(f"{k} {(k + 1) % 9}\n" for k in range(9)))


# ---- Restricted Boltzmann machines ----


def mask_of(visible):
    units = {"potts": 5, "gaussian": 3, "relu": 3}.get(visible, 9)
    return f"../data/mask{units}.npy"


def every_pair():
    """All types of visible and hidden units that can be coupled."""
    for visible in DISCRETE + REAL:
        for hidden in DISCRETE + REAL:
            if visible in REAL and hidden in REAL:
                continue
            data = ("--data", DATA_OF[visible])
            job = Job(f"rbm-{visible}-{hidden}")
            job.train(*data, "--visible-type", visible, "--hidden-type", hidden, "--hidden", 5, "--batch", 8)
            job.use("evaluate", *data, "--budget", 20).use("inspect")
            job.use("reconstruct", *data, "--count", 10, "--out", "r.npy")
            for sampler in ("gibbs", "metropolis", "tempering", "annealing"):
                job.sample(sampler, "--sampler", sampler, *(("--temperatures", 3) if sampler == "tempering" else ()))
            job.sample("means", "--means")
            job.sample("fixed", *data, "--fixed", mask_of(visible))
            job.use("compare", *data, "--count", 20, "--sweeps", 20)
            yield job


def every_method():
    for visible in ("bernoulli", "spin", "potts", "gaussian"):
        for method in ("pcd", "cd", "population", "fpcd", "tempering", "exact"):
            if method == "tempering" and visible == "gaussian":
                continue  # refused
            job = Job(f"method-{method}-{visible}")
            yield job.train("--data", DATA_OF[visible], "--visible-type", visible, "--hidden", 4, "--method", method,
                            "--steps", 2, "--batch", 8)


OPTIONS = {
    "momentum": ("--momentum", 0.5), "l1": ("--l1", 0.001), "l2": ("--l2", 0.01), "uncentred": ("--uncentred",),
    "cosine": ("--schedule", "cosine"), "constant": ("--schedule", "constant"), "chains": ("--chains", 33),
    "steps": ("--steps", 3), "seed": ("--seed", 7), "weights": ("--weight-scale", 0.3),
    "rate": ("--learning-rate", 0.7),
    "all": ("--momentum", 0.9, "--l1", 0.001, "--l2", 0.01, "--schedule", "cosine", "--uncentred", "--chains", 9),
    "held-out": ("--held-out", 0.25), "test-share": ("--test-share", 0.3), "labels": ("--labels", "../data/labels.npy"),
}


def every_option():
    for name, words in OPTIONS.items():
        yield Job(f"option-{name}").train("--data", "../data/bits.npy", "--hidden", 12, "--batch", 10, *words)
    for kind in ("threshold", "fixed", "dynamic"):
        data = ("--data", "../data/grey.npy", "--binarise", kind)
        job = Job(f"binarise-{kind}").train(*data, "--hidden", 7, "--batch", 10)
        yield job.use("evaluate", *data).use("reconstruct", *data, "--out", "r.png")
    for visible, data in (("bernoulli", "gaps_bits"), ("spin", "gaps_bits"), ("potts", "gaps_letters"),
                          ("gaussian", "gaps_real")):
        yield Job(f"missing-{visible}").train("--data", f"../data/{data}.npy", "--missing", "--visible-type", visible,
                                              "--hidden", 4, "--batch", 10)
    for noise in (0.1, 1):
        yield Job(f"noise-{noise}").train("--data", "../data/real.npy", "--visible-type", "gaussian", "--hidden", 4,
                                          "--batch", 10, "--learning-rate", 0.05, "--least-noise", noise)
    for identity in (0, 0.6, 0.8):
        data = ("--data", "../data/family.fasta", "--identity", identity)
        job = Job(f"alignment-{identity}").step("show", "data", "show", *data)
        job.train(*data, "--visible-type", "potts", "--hidden", 4, "--batch", 10)
        yield job.use("evaluate", *data).use("compare", *data, "--count", 20, "--sweeps", 20)
    digits = ("--data", "digits:100")
    job = Job("digits").step("show", "data", "show", *digits, "--out", "d.png")
    job.train(*digits, "--hidden", 40, "--batch", 20, "--momentum", 0.5)
    job.step("filters", "inspect", "m.safetensors", "--filters", "f.png")
    job.step("picture", "sample", "m.safetensors", "--count", 9, "--sweeps", 20, "--means", "--out", "s.png")
    yield job.use("reconstruct", *digits, "--out", "r.png")


# ---- Samplers ----


def every_sampler():
    bars, bits, real = (("--data", data) for data in ("bars-and-stripes:3", "../data/bits.npy", "../data/real.npy"))
    trained = {
        "bernoulli": ((*bits, "--hidden", 12), ("gibbs", "metropolis"), 36),
        "gaussian": ((*real, "--visible-type", "gaussian", "--hidden", 5),
                     ("gibbs", "metropolis", "langevin", "mala", "hmc"), 3),
        "boltzmann": ((*bars, "--model", "boltzmann", "--hidden", 3), ("gibbs", "metropolis"), 9),
        "neural": ((*real, "--model", "neural", "--layers", "8,8"), ("metropolis", "langevin", "mala", "hmc"), 3),
    }
    for name, (machine, samplers, units) in trained.items():
        job = Job(f"sampler-{name}").train(*machine)
        job.sample("auto").sample("seed", "--seed", 9)
        job.sample("watched", "--watch", f"../data/watch{units}.npy", sweeps=60)
        for sampler in samplers:
            job.sample(sampler, "--sampler", sampler)
            job.sample(f"tempering-{sampler}", "--sampler", "tempering", "--inner", sampler, "--temperatures", 4,
                       "--hottest", 0.3)
            job.sample(f"annealing-{sampler}", "--sampler", "annealing", "--inner", sampler, "--coldest", 5)
            job.sample(f"fixed-{sampler}", "--sampler", sampler, *machine[:2], "--fixed", f"../data/mask{units}.npy")
        job.sample("flips", "--sampler", "metropolis", "--flips", 3)
        if "hmc" in samplers:
            job.sample("leapfrogs", "--sampler", "hmc", "--leapfrogs", 4, "--step", 0.3)
        yield job


# ---- Other machines ----


def every_graph():
    for units in DISCRETE:
        data = ("--data", DATA_OF[units] if units == "potts" else "bars-and-stripes:3")
        graphs = ("dense", "random:2", "grid:1x5") if units == "potts" else (
            "dense", "random:3", "grid:3x3", "torus:3x3", "../data/ring.txt")
        for graph in graphs:
            for method in ("pcd", "cd", "population", "pseudo", "exact"):
                place = Path(graph).stem.replace(":", "-")
                job = Job(f"boltzmann-{place}-{units}-{method}")
                job.train("--model", "boltzmann", *data, "--visible-type", units, "--graph", graph, "--method", method,
                          "--batch", 8)
                if method == "pcd":
                    job.use("evaluate", *data).text("words", "evaluate", "m.safetensors", *data).use("inspect")
                    for sampler in ("gibbs", "metropolis", "tempering"):
                        job.sample(sampler, "--sampler", sampler)
                    job.sample("fixed", *data, "--fixed", mask_of(units))
                    job.use("compare", *data, "--count", 20, "--sweeps", 20)
                yield job
    for units in ("bernoulli", "spin"):
        for method in ("pcd", "cd", "population", "exact"):
            job = Job(f"boltzmann-hidden-{units}-{method}")
            job.train("--model", "boltzmann", "--data", "bars-and-stripes:3", "--visible-type", units, "--hidden", 4,
                      "--method", method, "--momentum", 0.5, "--l2", 0.001, "--batch", 8)
            yield job.use("evaluate", "--data", "bars-and-stripes:3").sample("gibbs")
    for visible, data in (("bernoulli", "gaps_bits"), ("potts", "gaps_letters")):
        yield Job(f"boltzmann-missing-{visible}").train("--model", "boltzmann", "--data", f"../data/{data}.npy",
                                                        "--missing", "--visible-type", visible, "--batch", 10)
    for method in ("pcd", "pseudo"):
        job = Job(f"boltzmann-torus-3x3-potts-{method}").train("--model", "boltzmann", "--data", "../data/torus.npy",
                                                               "--visible-type", "potts", "--graph", "torus:3x3",
                                                               "--method", method, "--batch", 8)
        yield job.use("evaluate", "--data", "../data/torus.npy").sample("gibbs")
    data = ("--data", "../data/family.fasta")
    job = Job("boltzmann-alignment")
    job.train("--model", "boltzmann", *data, "--visible-type", "potts", "--method", "pseudo", "--batch", 10)
    yield job.use("compare", *data, "--count", 20, "--sweeps", 20)


def every_neural():
    for data, options in (("two-moons:300", ()), ("../data/plane.npy", ("--steps", 3, "--schedule", "cosine")),
                          ("../data/real.npy", ("--learning-rate", 0.02))):
        words = ("--data", data)
        job = Job(f"neural-{Path(data).stem.replace(':', '-')}")
        job.train("--model", "neural", "--layers", "8,8", *words, *options)
        job.use("evaluate", *words, "--budget", 20).use("inspect").use("compare", *words, "--count", 20, "--sweeps", 20)
        yield job.step("picture", "sample", "m.safetensors", "--count", 30, "--sweeps", 10, "--out",
                       "s.npy" if "real" in data else "s.png")


def every_rule():
    data = ("--data", "../data/patterns.npy")
    for rule in ("hebb", "storkey", "pseudo-inverse", "modern"):
        for bias in ((), ("--bias",)):
            if rule == "modern" and bias:
                continue
            job = Job(f"hopfield-{rule}{'-bias' if bias else ''}")
            job.step("train", "train", "--model", "hopfield", *data, "--rule", rule, *bias, "--out", "m.safetensors")
            job.use("inspect")
            for way in ("random", "synchronous"):
                for damage in (0, 0.2):
                    words = (*data, "--damage", damage, *(("--synchronous",) if way == "synchronous" else ()))
                    job.use("recall", *words, "--out", f"{way}-{damage}.npy", name=f"recall-{way}-{damage}")
            yield job.use("recall", *data, "--damage", 0.3, "--seed", 3, "--out", "p.png", name="picture")


# ---- Judging ----


def every_judgement():
    bits = ("--data", "../data/bits.npy")  # of more units than can be summed over
    large = {
        "rbm": (*bits, "--hidden", 40),
        "spins": (*bits, "--hidden", 40, "--visible-type", "spin", "--hidden-type", "spin"),
        "letters": ("--data", "../data/family.fasta", "--visible-type", "potts", "--hidden", 40),
        "real": ("--data", "digits:60", "--visible-type", "gaussian", "--hidden", 40),
        "graph": (*bits, "--model", "boltzmann"),
        "graph-spins": (*bits, "--model", "boltzmann", "--visible-type", "spin"),
        "graph-letters": ("--data", "../data/family.fasta", "--visible-type", "potts", "--model", "boltzmann"),
        "clamped": ("--data", "bars-and-stripes:3", "--model", "boltzmann", "--hidden", 30),
    }
    for name, machine in large.items():
        data = machine[:2]
        job = Job(f"judged-{name}").train(*machine, "--trajectory", "way", "--batch", 8)
        own = ("--count", 20, "--sweeps", 40)
        job.use("evaluate", *data, "--budget", 40).text("words", "evaluate", "m.safetensors", *data, "--budget", 20)
        job.use("evaluate", *data, "--budget", 40, "--path", "way", name="evaluate-path")
        job.use("evaluate", *data, "--budget", 5, "--quality", *own, name="quality")
        job.use("evaluate", *data, "--budget", 5, "--quality", *own, "--path", "way", name="quality-path")
        job.use("compare", *data, *own, "--out", "c.png").text("compared", "compare", "m.safetensors", *data, *own)
        job.use("compare", *data, *own, "--path", "way", name="compare-path")
        yield job.sample("path", "--sampler", "tempering", "--path", "way")


def all_jobs():
    kinds = (every_judgement, every_pair, every_method, every_option, every_sampler, every_graph, every_neural,
             every_rule)
    return [job for kind in kinds for job in kind()]
