#!/usr/bin/env python3
"""What explains a trained residual MLP: the covariance of its layers, their antisymmetry, or a few triplets?

    PYTHONPATH=build/release/python python3 bench/layer_covariance.py

Trains the models of examples/residual_mlp.py, takes the Jacobians X_l of their branches at one input, replaces them by random
matrices that keep a part of what was measured, and prints W1 over the root mean square between the singular values of
Π(1 + X_l) and their means over 8 draws:

* free: singular values, each branch turned by itself;
* covariance: Gaussian with c_lk = tr X_lᵀX_k/p;
* both covariances: Gaussian with tr X_lX_k/p too, and the common parts t_l;
* each layer alone: the same without what ties layers;
* r triplets kept, with the rest free or Gaussian with the covariance of what is left, and free beside a common part.
"""

import argparse
import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, "examples"))
import residual_mlp  # noqa: E402

DRAWS = 8


def branches(model, x):
    out = []
    for block in model.blocks:
        x = x.detach()
        jacobian = torch.autograd.functional.jacobian(lambda z: block(z[None])[0], x)
        out.append(jacobian.double().numpy() - np.eye(len(x)))
        x = block(x[None])[0]
    return np.array(out)


def values(layers):
    product = np.eye(layers.shape[1])
    for x in layers:
        product = product + x @ product
    return np.sort(np.linalg.svd(product, compute_uv=False))


class Study:
    def __init__(self, layers):
        self.x, self.depth, self.p = layers, *layers.shape[:2]
        self.rng = np.random.default_rng(0)
        self.measured = values(layers)

    def distance(self, draw):
        """W1 over the root mean square to the mean of some draws."""
        mean = np.mean([values(draw()) for _ in range(DRAWS)], axis=0)
        return np.abs(mean - self.measured).mean() / np.sqrt((self.measured**2).mean())

    def normal(self):
        return self.rng.standard_normal((self.depth, self.p, self.p)) / np.sqrt(self.p)

    def turn(self, size):
        q, r = np.linalg.qr(self.rng.standard_normal((size, size)))
        return q * np.sign(np.diag(r))

    def like(self, parts, normal, tied=True):
        """Gaussian with the covariance of these parts, or with their sizes alone."""
        covariance = np.einsum("lij,kij->lk", parts, parts) / self.p
        if not tied:
            covariance = np.diag(np.diag(covariance))
        root = np.linalg.cholesky(covariance + 1e-12 * np.eye(self.depth))
        return np.einsum("lk,kij->lij", root, normal)

    def both(self, parts, tied):
        """Gaussian with tr X_lᵀX_k and tr X_lX_k: symmetric and antisymmetric parts apart."""
        flipped = parts.transpose(0, 2, 1)
        g, h = self.normal(), self.normal()
        return self.like((parts + flipped) / 2, (g + g.transpose(0, 2, 1)) / np.sqrt(2), tied) \
            + self.like((parts - flipped) / 2, (h - h.transpose(0, 2, 1)) / np.sqrt(2), tied)

    def kept(self, layers, r):
        u, s, v = np.linalg.svd(layers)
        keep = np.einsum("lij,lj,ljk->lik", u[:, :, :r], s[:, :r], v[:, :r])

        def rest():
            size = self.p - r
            return np.array([(a[:, r:] @ self.turn(size) * b[r:]) @ self.turn(size) @ c[r:]
                             for a, b, c in zip(u, s, v)])

        return keep, rest

    def common(self):
        """t_l as in src/validation/common_part.hpp."""
        mean = np.trace(self.x, axis1=1, axis2=2) / self.p
        left = self.x - mean[:, None, None] * np.eye(self.p)
        u, s, v = np.linalg.svd(left)
        q = self.p // 8
        rest = np.einsum("lij,lj,lji->l", u[:, :, q:], s[:, q:], v[:, q:])
        room = self.p - 2 * q + np.array([np.sum((a[:, :q].T @ b[:q].T) ** 2) for a, b in zip(u, v)])
        return (mean + rest / room)[:, None, None] * np.eye(self.p)

    def show(self):
        common = self.common()
        off = ~np.eye(self.depth, dtype=bool)
        sizes = np.sqrt(np.einsum("lij,lij->l", self.x, self.x))
        for words, product in (("tr XᵀX", "lij,kij->lk"), ("tr XX", "lij,kji->lk")):
            found = np.einsum(product, self.x, self.x) / np.outer(sizes, sizes)
            print(f"  {words} of two layers over its bound, mean: {found[off].mean():.2f}")
        print(f"  common parts {common[:, 0, 0].min():.4f} to {common[:, 0, 0].max():.4f}")
        _, free = self.kept(self.x, 0)
        for words, draw in {"free": free, "covariance": lambda: self.like(self.x, self.normal()),
                            "both covariances": lambda: common + self.both(self.x - common, True),
                            "each layer alone": lambda: common + self.both(self.x - common, False)}.items():
            print(f"  {words:18} {self.distance(draw):.4f}", flush=True)
        for r in (8, 16, 32, 64):
            keep, rest = self.kept(self.x, r)
            beside, others = self.kept(self.x - common, r)
            print(f"  {r:2} kept: rest free {self.distance(lambda: keep + rest()):.4f}, with its covariance "
                  f"{self.distance(lambda: keep + self.like(self.x - keep, self.normal())):.4f}, free beside a common part "
                  f"{self.distance(lambda: common + beside + others()):.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name, task in residual_mlp.TASKS.items():
        model, inputs = residual_mlp.trained(task, arguments.steps, arguments.seed)[:2]
        print(f"{name}, seed {arguments.seed}, {arguments.steps} steps")
        Study(branches(model, inputs[0])).show()


if __name__ == "__main__":
    main()
