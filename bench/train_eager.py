#!/usr/bin/env python3
"""The matched models in PyTorch, and how fast they train beside `spectra train`.

    python3 bench/train_eager.py --program build/release/apps/spectra --device cuda --steps 200
    python3 bench/train_eager.py --program build/release/apps/spectra --compile default reduce-overhead

For every architecture the same model (same sizes, same operators, same batch and precision) takes training
steps on random states of the gyroscope task's shape, here and through the program, in turn and several times over;
printed are the median steps a second of both, their range and the ratio of the medians. Mixers are written as one would first write them: Sinkhorn as 20 unrolled sweeps,
Cayley by torch.linalg.solve. PyTorch runs them eagerly and, with --compile, through torch.compile in the modes
named (default; reduce-overhead, which replays CUDA graphs). Compiling is not in the times; its seconds are printed.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZES = {"gpt": (9, 128), "ddl": (8, 128), "mhc": (9, 128), "jpmhc": (7, 512), "edelta": (6, 128)}
STREAMS, HEADS = 4, 4


def net(c, out):
    return nn.Sequential(nn.Linear(c, c // 4), nn.GELU(), nn.Linear(c // 4, out))


def prefix_mean(x):
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1, device=x.device, dtype=x.dtype)[:, None]


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, HEADS, w // HEADS).transpose(1, 2) for y in self.qkv(x).split(w, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, w))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Gpt(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.width = c

    def forward(self, x, norm, branch):
        return x + branch(norm(x)), None


class Ddl(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.width, self.k, self.beta = c, net(c, c), net(c, 1)

    def forward(self, x, norm, branch):
        seen = prefix_mean(x)
        k = F.normalize(self.k(seen), dim=-1)
        x = x - 2 * torch.sigmoid(self.beta(seen)) * k * (k * x).sum(-1, keepdim=True)
        return x + branch(norm(x)), None


class Mhc(nn.Module):
    def __init__(self, c):
        super().__init__()
        n = STREAMS
        self.width = c
        self.gain = nn.Parameter(torch.ones(c))
        self.pre, self.post, self.res = (nn.Linear(c, k, bias=False) for k in (n, n, n * n))
        self.b_pre, self.b_post = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(n))
        self.b_res = nn.Parameter(2 * torch.eye(n))
        self.alpha = nn.ParameterList([nn.Parameter(torch.tensor(0.01)) for _ in range(3)])

    def forward(self, x, norm, branch):
        b, t, c = x.shape
        n = STREAMS
        seen = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.gain
        pre = torch.sigmoid(self.alpha[0] * self.pre(seen) + self.b_pre)
        post = 2 * torch.sigmoid(self.alpha[1] * self.post(seen) + self.b_post)
        h = torch.exp(self.alpha[2] * self.res(seen).view(b, t, n, n) + self.b_res)
        for _ in range(20):
            h = h / h.sum(-1, keepdim=True)
            h = h / h.sum(-2, keepdim=True)
        streams = x.view(b, t, n, c // n)
        read = torch.einsum("btn,btnd->btd", pre, streams).repeat(1, 1, n)
        y = branch(norm(read)).view(b, t, n, c // n)
        out = torch.einsum("btij,btjd->btid", h, streams) + post[..., None] * y
        return out.reshape(b, t, c), None


class Jpmhc(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.width = c // STREAMS
        self.norm, self.fused = nn.LayerNorm(c), nn.Linear(c, 3 * STREAMS**2)

    def forward(self, x, norm, branch):
        b, t, c = x.shape
        n = STREAMS
        pre, post, res = self.fused(self.norm(x)).view(b, t, 3, n, n).unbind(2)
        pre, post = pre.softmax(-1), post.softmax(-2)
        w, eye = res - res.transpose(-1, -2), torch.eye(n, device=x.device)
        y = eye + 0.1 * w
        for _ in range(2):
            y = eye + 0.05 * w @ (eye + y)
        streams = x.view(b, t, n, c // n)
        read = torch.einsum("btij,btjd->btid", pre, streams).mean(2)
        out = branch(norm(read))[:, :, None].expand(-1, -1, n, -1)
        mixed = torch.einsum("btij,btjd->btid", y, streams) + torch.einsum("btij,btjd->btid", post, out)
        return mixed.reshape(b, t, c), None


class Edelta(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.width = c
        self.u, self.v, self.k = net(c, STREAMS), net(c, STREAMS), net(c, STREAMS)
        self.beta, self.gate = net(c, 1), nn.Linear(c, 1)
        self.pre, self.post = nn.Linear(c, c, bias=False), nn.Linear(c, c, bias=False)

    def forward(self, x, norm, branch):
        b, t, c = x.shape
        n = STREAMS
        seen = prefix_mean(x)
        u, v, k = self.u(seen), self.v(seen), F.normalize(self.k(seen), dim=-1)
        m = F.softplus(self.beta(seen))[..., None] / 2 * (u[..., :, None] * v[..., None, :] - v[..., :, None] * u[..., None, :])
        eye = torch.eye(n, device=x.device).expand_as(m)
        q = torch.linalg.solve(eye + m, eye - m)
        gamma = torch.sigmoid(self.gate(seen))
        streams = x.view(b, t, n, c // n)
        turned = torch.einsum("btij,btjd->btid", q, streams)
        reflected = streams - 2 * (streams * k[..., None]).sum(2, keepdim=True) * k[..., None]
        x = (gamma[..., None] * turned + (1 - gamma[..., None]) * reflected).reshape(b, t, c)
        return x + self.post(branch(self.pre(norm(x)))), (4 * gamma * (1 - gamma)).mean()


CONNECTIONS = {"gpt": Gpt, "ddl": Ddl, "mhc": Mhc, "jpmhc": Jpmhc, "edelta": Edelta}


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight)


class Block(nn.Module):
    def __init__(self, kind, c):
        super().__init__()
        self.first, self.second = CONNECTIONS[kind](c), CONNECTIONS[kind](c)
        width = self.first.width
        self.ln_1, self.ln_2, self.attn, self.mlp = Norm(width), Norm(width), Attention(width), Mlp(width)

    def forward(self, x):
        x, p = self.first(x, self.ln_1, self.attn)
        x, q = self.second(x, self.ln_2, self.mlp)
        return x, None if p is None else p + q


class Model(nn.Module):
    def __init__(self, kind, dimension, context):
        super().__init__()
        layers, c = SIZES[kind]
        self.inp, self.out, self.norm = nn.Linear(dimension, c), nn.Linear(c, dimension), Norm(c)
        self.pos = nn.Parameter(0.02 * torch.randn(1, context, c))
        self.blocks = nn.ModuleList([Block(kind, c) for _ in range(layers)])
        for name, p in self.named_parameters():
            if p.dim() == 2 and "b_res" not in name:
                nn.init.normal_(p, std=0.02 / (math.sqrt(2 * layers) if name.endswith(("out.weight", "down.weight")) else 1))

    def forward(self, x):
        x, penalty = self.inp(x) + self.pos[:, : x.shape[1]], 0
        for block in self.blocks:
            x, p = block(x)
            penalty = penalty if p is None else penalty + p
        return self.out(self.norm(x)), penalty


def torch_rate(kind, device, steps, batch, mode=None):
    """Steps a second and the seconds of the ten steps before them, eagerly or compiled in a mode of torch.compile."""
    torch.manual_seed(0)
    x, y = torch.randn(2, 512, 255, 16, device=device)
    model = Model(kind, 16, 256).to(device)
    forward = model if mode is None else torch.compile(model, mode=mode)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.95))

    def step():
        rows = torch.randint(512, (batch,)).to(device)
        prediction, penalty = forward(x[rows])
        loss = F.mse_loss(prediction, y[rows])
        optimiser.zero_grad(set_to_none=True)
        (loss + 0.1 * penalty).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return loss.item() + norm.item()  # a run reads them, as ours does

    began = time.perf_counter()
    for _ in range(10):
        step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return steps / (time.perf_counter() - start), start - began


def program_rate(program, kind, device, steps, batch):
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.abspath(program), "train", "gyroscope", "--architecture", kind, "--device", device,
                   "--samples", "512", "--steps", str(steps + 10), "--batch", str(batch), "--log-every", "1000000",
                   "--plot", "none", "--json", "--out", os.path.join(folder, "run")]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["steps_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--architectures", nargs="+", choices=SIZES, default=list(SIZES), metavar="NAME")
    parser.add_argument("--compile", nargs="+", default=[], metavar="MODE", help="modes of torch.compile to measure too")
    arguments = parser.parse_args()
    sizes = arguments.device, arguments.steps, arguments.batch
    print(f"steps/s, batch {arguments.batch}, torch {torch.__version__}, {arguments.device}; ratio: spectra over it")
    for kind in arguments.architectures:
        rates, firsts = {"spectra": []}, {}
        for _ in range(arguments.repeats):
            rates["spectra"].append(program_rate(arguments.program, kind, *sizes))
            for mode in [None, *arguments.compile]:
                name = mode or "eager"
                if name in rates and not rates[name]:
                    continue
                try:
                    rate, before = torch_rate(kind, *sizes, mode)
                    rates.setdefault(name, []).append(rate)
                    firsts.setdefault(name, before)
                except Exception as error:  # what torch.compile cannot compile is a result, not an end
                    rates[name] = []
                    print(f"{kind:10}{name:18}{'failed':>10}   {str(error).splitlines()[0][:90]}", flush=True)
        ours = statistics.median(rates["spectra"])
        for name, found in rates.items():
            if not found:
                continue
            line = f"{kind:10}{name:18}{statistics.median(found):10.2f}   {min(found):.2f} to {max(found):.2f}"
            if name != "spectra":
                line += f"   ratio {ours / statistics.median(found):.2f}, first ten steps {firsts[name]:.0f} s"
            print(line, flush=True)


if __name__ == "__main__":
    main()
