"""PyTorch on the CPU, tuned: float32, no autograd, no temporaries, products with the bias or the weights added in."""

import numpy as np
import torch

from contenders import matrices
from contenders.serve import Stopwatch, first_rows, serve, threads


class Torch(matrices.Operations):
    def seed(self, seed):
        torch.manual_seed(seed)

    def matrix(self, array):
        return torch.tensor(array, dtype=torch.float32)

    def empty(self, *shape):
        return torch.empty(shape, dtype=torch.float32)

    def array(self, matrix):
        return matrix.numpy()

    def affine(self, bias, x, weights, out):
        torch.addmm(bias, x, weights, out=out)

    def draw(self, fields, out):
        out.uniform_().lt_(fields.sigmoid_())

    def add_outer(self, x, v, scale, weights):
        weights.addmm_(x.T, v, alpha=scale)

    def softplus_sums(self, fields):
        return torch.nn.functional.softplus(fields).sum(1)


def reals(request):
    """PCD-1 of a machine with real units. The data's hidden layer is means, and the chains' is drawn."""
    torch.manual_seed(request["seed"])
    rows = torch.tensor(first_rows(request["data"], request["rows"]))
    batch, rate = request["batch"], request["rate"] / request["batch"]
    gaussian = request["units"][0] == "gaussian"
    visible, hidden = rows.shape[1], request["hidden"]
    if not gaussian:
        rate *= 10 / hidden  # all hidden units have means far from zero: without centring they learn as one
    weights, hidden_bias = torch.randn(visible, hidden) * 0.01, torch.zeros(hidden)
    means_of_data = rows.mean(0)
    visible_bias = means_of_data if gaussian else means_of_data.clamp_(0.001, 0.999).logit_()
    fields, back, noise = torch.empty(batch, hidden), torch.empty(batch, visible), torch.empty(batch, visible)
    means, chain = torch.empty(batch, hidden), torch.zeros(batch, hidden)

    def find_means(x, out):
        torch.addmm(hidden_bias, x, weights, out=fields)
        if gaussian:
            return torch.sigmoid(fields, out=out)
        # The mean of a normal cut off below zero.
        density = torch.exp(-0.5 * fields.square()).mul_(0.3989422804)
        return torch.add(fields, density.div_(torch.special.ndtr(fields).clamp_(1e-30)), out=out).clamp_(0)

    def draw_hidden(x, out):
        torch.addmm(hidden_bias, x, weights, out=fields)
        if gaussian:
            return out.uniform_().lt_(fields.sigmoid_())
        share = torch.special.ndtr(fields)
        return torch.sub(fields, torch.special.ndtri(out.uniform_(1e-7, 1).mul_(share)), out=out).clamp_(0, 30)

    def draw_visible(v, out):
        torch.addmm(visible_bias, v, weights.T, out=out)
        return out.add_(noise.normal_()) if gaussian else out.sigmoid_().sub_(noise.uniform_()).gt_(0)

    watch = Stopwatch()
    watch.start()
    for _ in range(request["epochs"]):
        for begin in range(0, len(rows) - batch + 1, batch):
            x = rows[begin:begin + batch]
            find_means(x, means)
            draw_visible(chain, back)
            draw_hidden(back, chain)
            weights.addmm_(x.T, means, alpha=rate).addmm_(back.T, chain, alpha=-rate)
            visible_bias.add_(x.sum(0).sub_(back.sum(0)), alpha=rate)
            hidden_bias.add_(means.sum(0).sub_(chain.sum(0)), alpha=rate)
    watch.stop()
    some = rows[:batch]
    again = torch.addmm(visible_bias, find_means(some, means), weights.T)
    again = again if gaussian else again.sigmoid_()
    return {"seconds": watch.seconds, "reconstruction": float((again - some).square().mean() / some.var(0).mean())}


def letters(request):
    """PCD-1 of a machine whose visible sites have one of several letters each. Fields of hidden units are sums of rows of
    the weights, which is faster than a product; letters are drawn by sums of e^I, which is several times as fast as
    noise and the largest; statistics are a product of one-hot rows, which is faster than adding to rows by their
    numbers. The data's hidden layer is means, and the chains' is drawn."""
    torch.manual_seed(request["seed"])
    count, batch, rate = request["letters"], request["batch"], request["rate"] / request["batch"]
    rows = torch.tensor(first_rows(request["data"], request["rows"]))
    visible, hidden = rows.shape[1], request["hidden"]
    sites = visible // count
    first = torch.arange(0, visible, count, dtype=torch.int32)
    units = rows.view(-1, sites, count).argmax(2).int() + first  # of the letters
    weights, hidden_bias = torch.randn(visible, hidden) * 0.01, torch.zeros(hidden)
    visible_bias = rows.mean(0).clamp_(1 / (len(rows) + 2)).log_()
    fields, sums, below = (torch.empty(batch, sites, count) for _ in range(3))
    uniforms = torch.empty(batch, sites, 1)
    both, hidden_both = torch.empty(2 * batch, visible), torch.zeros(2 * batch, hidden)  # the data, then the chains
    means, chain, noise = hidden_both[:batch], hidden_both[batch:], torch.empty(batch, hidden)

    def find_means(x):
        return torch.nn.functional.embedding_bag(x, weights, mode="sum").add_(hidden_bias).sigmoid_()

    def draw_visible(v):
        torch.addmm(visible_bias, v, weights.T, out=fields.view(batch, visible))
        torch.cumsum(fields.exp_(), 2, out=sums)
        torch.le(sums, uniforms.uniform_().mul_(sums[:, :, -1:]), out=below)
        return below.sum(2).int().clamp_(max=count - 1).add_(first)

    watch = Stopwatch()
    watch.start()
    for _ in range(request["epochs"]):
        for begin in range(0, len(units) - batch + 1, batch):
            x = units[begin:begin + batch]
            means[:] = find_means(x)
            back = draw_visible(chain)
            torch.gt(find_means(back), noise.uniform_(), out=chain)
            both.zero_().scatter_(1, torch.cat([x, back]).long(), 1.0)
            chain.neg_()
            weights.addmm_(both.T, hidden_both, alpha=rate)
            visible_bias.add_(both[:batch].sum(0).sub_(both[batch:].sum(0)), alpha=rate)
            hidden_bias.add_(hidden_both.sum(0), alpha=rate)
            chain.neg_()
    watch.stop()
    some = rows[:batch]
    torch.addmm(visible_bias, find_means(units[:batch]), weights.T, out=fields.view(batch, visible))
    again = torch.softmax(fields, 2).view(batch, visible)
    return {"seconds": watch.seconds, "reconstruction": float((again - some).square().mean() / some.var(0).mean())}


def network(request):
    """Rectified units, dropout, momentum: written out, which is a little faster than autograd."""
    torch.manual_seed(request["seed"])
    rows = torch.tensor(first_rows(request["data"], request["rows"]))
    labels = torch.tensor(np.load(request["labels"])[:len(rows)]).long()
    batch, sizes = request["batch"], request["sizes"]
    depth = len(sizes) - 1
    weights = [torch.randn(a, b) * (2 / a) ** 0.5 for a, b in zip(sizes, sizes[1:])]
    weights[-1].zero_()
    biases = [torch.zeros(size) for size in sizes[1:]]
    parameters = [*weights, *biases]
    velocities = [torch.zeros_like(p) for p in parameters]
    gradients = [torch.empty_like(p) for p in parameters]
    values = [torch.empty(batch, size) for size in sizes]
    deltas = [torch.empty(batch, size) for size in sizes[1:]]
    masks = [torch.empty(batch, size) for size in sizes[:-1]]
    places = torch.arange(batch)

    def up(masked):
        for k in range(depth):
            if masked:
                kept = 1 - request["dropout"][min(k, 1)]
                values[k].mul_(masks[k].bernoulli_(kept).div_(kept))
            torch.addmm(biases[k], values[k], weights[k], out=values[k + 1])
            if k + 1 < depth:
                values[k + 1].relu_()
        return torch.softmax(values[depth], 1)

    def down(probabilities, classes):
        torch.div(probabilities, -batch, out=deltas[-1])
        deltas[-1][places, classes] += 1 / batch
        for k in range(depth - 1, 0, -1):
            torch.mm(deltas[k], weights[k].T, out=deltas[k - 1])
            deltas[k - 1].mul_(masks[k]).mul_(values[k] > 0)
        for k in range(depth):
            torch.mm(values[k].T, deltas[k], out=gradients[k])
            torch.sum(deltas[k], 0, out=gradients[depth + k])
        for value, velocity, gradient in zip(parameters, velocities, gradients):
            velocity.mul_(request["momentum"]).add_(gradient)
            value.add_(velocity, alpha=request["rate"])

    watch = Stopwatch()
    watch.start()
    for _ in range(request["epochs"]):
        for begin in range(0, len(rows) - batch + 1, batch):
            values[0][:] = rows[begin:begin + batch]
            down(up(True), labels[begin:begin + batch])
    watch.stop()
    values[0][:] = rows[:batch]
    return {"seconds": watch.seconds, "wrong": float((up(False).argmax(1) != labels[:batch]).float().mean())}


def neural(request):
    """An energy |z|^2 / 2 + g(z) by persistent chains, derivatives by autograd. A sweep is a jump to a draw of the normal
    distribution and an adjusted Langevin step, both accepted or not. Data and chains are stacked, so that their
    gradient is one pass, as are a jump's energies; Adam steps all parameters as one vector."""
    torch.manual_seed(request["seed"])
    rows = torch.tensor(first_rows(request["data"], request["rows"]))
    rows = (rows - rows.mean(0)) / rows.std(0, unbiased=False)
    batch, step = request["batch"], request["langevin"]
    sizes = [rows.shape[1], *request["layers"]]
    shapes = [shape for a, b in zip(sizes, sizes[1:]) for shape in ((a, b), (b,))] + [(sizes[-1],)]
    counts = [int(np.prod(shape)) for shape in shapes]
    values = torch.zeros(sum(counts))
    frozen = [part.view(shape) for part, shape in zip(values.split(counts), shapes)]
    for k, part in enumerate(frozen[:-1]):
        if k < 2 or len(part.shape) == 2:
            part.normal_(0, (2 if k < 2 else 1) / sizes[k // 2] ** 0.5 if k != 1 else 2)
    learned = [part.detach().requires_grad_() for part in frozen]
    means, squares = torch.zeros_like(values), torch.zeros_like(values)
    signs = torch.cat([torch.full((batch,), 1 / batch), torch.full((batch,), -1 / batch)])

    def g(z, parameters):
        for k in range(0, len(parameters) - 1, 2):
            z = torch.nn.functional.silu(torch.addmm(parameters[k + 1], z, parameters[k]))
        return z @ parameters[-1]

    def energy_and_forces(z):
        with torch.enable_grad():
            z = z.detach().requires_grad_()
            energies = 0.5 * z.square().sum(1) + g(z, frozen)
            return energies.detach(), torch.autograd.grad(energies.sum(), z)[0].neg_()

    def sweep(z):
        there = torch.randn_like(z)
        here_g, there_g = g(torch.cat([z, there]), frozen).split(batch)
        z = torch.where((torch.rand(batch) < torch.exp(here_g - there_g))[:, None], there, z)
        energies, forces = energy_and_forces(z)
        noise = torch.randn_like(z)
        there = z + 0.5 * step * step * forces + step * noise
        there_energies, there_forces = energy_and_forces(there)
        back = noise + 0.5 * step * (forces + there_forces)
        log_ratio = energies - there_energies + 0.5 * (noise.square().sum(1) - back.square().sum(1))
        return torch.where((torch.rand(batch) < torch.exp(log_ratio))[:, None], there, z)

    def learn(z, chains, update):
        with torch.enable_grad():
            loss = g(torch.cat([z, chains]), learned) @ signs
            gradient = torch.cat([part.flatten() for part in torch.autograd.grad(loss, learned)])
        means.lerp_(gradient, 0.5)
        squares.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        size = (squares / (1 - 0.999**update)).sqrt_().add_(1e-8)
        values.addcdiv_(means, size, value=-request["rate"] / (1 - 0.5**update))

    chains, update = torch.randn(batch, sizes[0]), 0
    watch = Stopwatch()
    watch.start()
    for _ in range(request["epochs"]):
        for begin in range(0, len(rows) - batch + 1, batch):
            chains = sweep(chains)
            update += 1
            learn(rows[begin:begin + batch], chains, update)
    watch.stop()
    # log Z in terms of that of the normal distribution, by quadrature.
    line = torch.arange(-4.5, 4.5, 0.05)
    grid = torch.cartesian_prod(line, line)
    weights = torch.softmax(-0.5 * grid.square().sum(1), 0)
    log_z = float(torch.log((weights.double() * torch.exp(-g(grid, frozen).double())).sum()))
    return {"seconds": watch.seconds, "gain": -float(g(rows, frozen).mean()) - log_z}


if __name__ == "__main__":
    torch.set_num_threads(threads())
    torch.set_grad_enabled(False)
    serve("torch", torch.__version__, {**matrices.kinds(Torch()), "reals": reals, "letters": letters, "network": network,
                                       "neural": neural})
