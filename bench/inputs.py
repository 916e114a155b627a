"""The files that requests point to, made when they are first needed."""

import subprocess

import numpy as np

import machines
from workloads import training


class Inputs:
    """A name is a tuple: what the file holds, and its sizes."""

    def __init__(self, folder, source, command, ergodic):
        """`source` is what --data takes, `command` the path of `ergodic`, `ergodic` the contender."""
        self.folder, self.source, self.command, self.ergodic = folder, source, command, ergodic
        self.made = set()
        folder.mkdir(parents=True, exist_ok=True)

    def resolve(self, request):
        """The request with paths in the place of names."""
        return {key: self.path(value) if isinstance(value, tuple) else value for key, value in request.items()}

    def path(self, name):
        kind, *sizes = name
        kind = kind.replace(" ", "_")
        extension = "safetensors" if kind.endswith("machine") else "npy"
        path = str(self.folder / "-".join(map(str, (kind, *sizes)))) + "." + extension
        if name not in self.made:
            getattr(self, "make_" + kind)(path, *sizes)
            self.made.add(name)
        return path

    # ---- Real data, and machines trained on it ----

    def make_train(self, path):
        """In one random order: the contenders take the rows as they come, and the first half of MNIST is easier."""
        if self.source == "mnist":
            subprocess.run([self.command, "data", "get", "mnist"], check=True)
        test = str(self.folder / "test.npy")
        self.ergodic.ask({"kind": "export", "source": self.source, "train": path, "test": test})
        rows = np.load(path)
        np.save(path, rows[np.random.default_rng(0).permutation(len(rows))])

    def make_test(self, path):
        self.path(("train",))  # both are written together

    def make_wide(self, path, side):
        """Square pictures scaled up to this side; each new pixel is the nearest old one."""
        rows = np.load(self.path(("train",)))[:4096]
        old = round(rows.shape[1] ** 0.5)
        nearest = np.arange(side) * old // side
        np.save(path, rows.reshape(-1, old, old)[:, nearest][:, :, nearest].reshape(len(rows), -1))

    def make_base(self, path):
        """The biases of independent units that fit the data."""
        np.save(path, machines.first_machine(np.load(self.path(("train",))), 1, 0).visible_bias)

    def make_trained_machine(self, path, hidden):
        data = self.path(("train",))
        rows, units = np.load(data, mmap_mode="r").shape
        request = training(data, visible=units, hidden=hidden, rows=rows, batch=100, method="pcd")
        self.ergodic.ask({**request, "seed": 1, "out": path})

    def make_labels(self, path):
        """What a random linear map says of each row: ten classes that can be learned."""
        rows = np.load(self.path(("train",))).astype(np.float32)
        map = np.random.default_rng(0).standard_normal((rows.shape[1], 10), dtype=np.float32)
        np.save(path, ((rows - rows.mean(0)) @ map).argmax(1).astype(np.float32))

    # ---- Random ones, of any size ----

    def make_real_rows(self, path, units):
        """Sixty directions with noise about them, each unit of variance one."""
        random = np.random.default_rng(0)
        rows = random.standard_normal((20000, 60), dtype=np.float32)
        rows = rows @ random.standard_normal((60, units), dtype=np.float32)
        rows += 0.5 * rows.std() * random.standard_normal(rows.shape, dtype=np.float32)
        np.save(path, rows / rows.std(0))

    def make_letter_rows(self, path, sites, letters):
        """One-hot letters of sixty families, as of proteins: of a site in ten rows, seven have the family's letter."""
        random = np.random.default_rng(0)
        families = random.integers(0, letters, (60, sites))
        chosen = families[random.integers(0, 60, 20000)]
        chosen = np.where(random.random(chosen.shape) < 0.7, chosen, random.integers(0, letters, chosen.shape))
        np.save(path, np.eye(letters, dtype=np.uint8)[chosen].reshape(len(chosen), -1))

    def make_plane_rows(self, path):
        """Points about eight places on a circle."""
        random = np.random.default_rng(0)
        angles = np.pi / 4 * random.integers(0, 8, 20000)
        places = 2 * np.stack([np.cos(angles), np.sin(angles)], 1)
        np.save(path, (places + 0.2 * random.standard_normal(places.shape)).astype(np.float32))

    def make_couplings(self, path, spins):
        """Symmetric, normal with variance 1/spins, none of a spin with itself."""
        upper = np.triu(np.random.default_rng(0).normal(0, spins**-0.5, (spins, spins)), 1)
        np.save(path, (upper + upper.T).astype(np.float32))

    def make_random_rows(self, path, units, count, density):
        random = np.random.default_rng(0)
        np.save(path, (random.random((count, units), dtype=np.float32) < density).view(np.uint8))

    def make_random_machine(self, path, visible, hidden, density):
        """Fields of order one, and visible units that are on about as often as `density` says."""
        random = np.random.default_rng(0)
        weights = random.standard_normal((visible, hidden), dtype=np.float32) * np.float32(max(visible, hidden) ** -0.5)
        bias = np.full(visible, np.log(density / (1 - density)), np.float32)
        machines.save(path, machines.Machine(weights, bias, np.zeros(hidden, np.float32)))
