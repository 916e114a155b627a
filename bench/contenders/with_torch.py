"""PyTorch on the CPU, tuned: float32, no autograd, no temporaries, products with the bias or the weights added in."""

import torch

from contenders import matrices
from contenders.serve import serve, threads


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


if __name__ == "__main__":
    torch.set_num_threads(threads())
    torch.set_grad_enabled(False)
    serve("torch", torch.__version__, matrices.kinds(Torch()))
