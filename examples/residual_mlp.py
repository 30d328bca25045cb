#!/usr/bin/env python3
"""What training ties together: a residual MLP before and after it learns, by the package jacobian_spectra.

    PYTHONPATH=build/release/python python3 examples/residual_mlp.py

Twelve blocks x ← x + W₂ gelu(W₁ norm(x)) of 128 channels learn two tasks:

* classes: ten classes, the largest of ten outputs of a random network of one hidden layer;
* map: as many outputs as channels, those of a random orthogonal matrix after a tanh.

For each, before and after, `validate` predicts the Jacobian's singular values with branches that know nothing of each other
and with their largest triplets kept. Printed are W1 over the root mean square for every number kept, the largest singular
value, and the loss. Some minutes on two cores.
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import jacobian_spectra as js

WIDTH, DEPTH = 128, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        nn.init.normal_(self.down.weight, std=0.5 / (WIDTH * DEPTH) ** 0.5)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Mlp(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.head = nn.Linear(WIDTH, outputs)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def classes(seed):
    """What is to be learned of inputs, its loss, and how many outputs it has."""
    torch.manual_seed(seed)
    first, second = torch.randn(WIDTH, 64) / WIDTH**0.5, torch.randn(64, 10)
    return lambda x: (torch.tanh(2 * x @ first) @ second).argmax(1), F.cross_entropy, 10


def random_map(seed):
    torch.manual_seed(seed)
    turn, _ = torch.linalg.qr(torch.randn(WIDTH, WIDTH))
    return lambda x: torch.tanh(x @ turn), F.mse_loss, WIDTH


TASKS = {"classes": classes, "map": random_map}


def show(words, model, inputs):
    report = js.validate(model, inputs, aligned="search", explain=0.002, require="largest<=1e9")
    kept = ", ".join(f"{one.kept}: {one.distance:.4f}" for one in report.alignment.by_rank)
    print(f"  {words}: largest {report.measured.metrics.largest:.4g}, with free branches "
          f"{report.alignment.by_rank[0].metrics.largest:.4g}\n    W1/rms by triplets kept: {kept}", flush=True)


def trained(task, steps, seed, fresh=lambda model, inputs: None):
    """A model that learned a task, three inputs, and its last loss. `fresh` sees it as it starts."""
    target, loss_of, outputs = task(seed)
    model = Mlp(outputs)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    inputs = torch.randn(3, WIDTH)
    fresh(model, inputs)
    for _ in range(steps):
        x = torch.randn(256, WIDTH)
        loss = loss_of(model(x), target(x))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model, inputs, loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name, task in TASKS.items():
        print(f"{name}, seed {arguments.seed}")
        model, inputs, loss = trained(task, arguments.steps, arguments.seed,
                                      lambda model, inputs: show("fresh", model, inputs))
        show(f"after {arguments.steps} steps, loss {loss:.3g}", model, inputs)


if __name__ == "__main__":
    main()
