#!/usr/bin/env python3
"""How many kernels mixers launch: claims C58 and C59.

    python3 bench/mixer_kernels.py --device cuda

Counts, by PyTorch's profiler, the kernels of one fused projection and of three, and of the backward pass of 20
Sinkhorn sweeps (JPmHC, appendix H): unrolled, and by implicit differentiation with 16 Gauss-Seidel steps (algorithm
7). Sizes are the paper's: 4 streams of 512 channels. Times are medians of 20 in this run. Without a GPU nodes of the
graph are counted, and the gradients of both passes compared, but no kernels.
"""

import argparse
import json
import statistics
import time

import torch

STREAMS, CHANNELS, SWEEPS, STEPS = 4, 512, 20, 16


def kernels(work):
    """Kernels on the GPU of one call, copies and fills aside."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
        torch.cuda.synchronize()
    names = [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return sum(not name.startswith(("Memcpy", "Memset")) for name in names)


def seconds(work, device):
    times = []
    for _ in range(25):
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[5:])


def nodes(output):
    """Nodes of the graph behind a tensor, those of its leaves aside."""
    seen, waiting = set(), [output.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or "AccumulateGrad" in type(node).__name__:
            continue
        seen.add(node)
        waiting.extend(following for following, _ in node.next_functions)
    return len(seen)


def sweeps(logits):
    """Sinkhorn in logarithms, each sum of exponentials in elementary operations, as the paper describes it."""
    m = logits.clamp(-10, 10)
    for _ in range(SWEEPS):
        m = m - m.exp().sum(-1, keepdim=True).log()
        m = m - m.exp().sum(-2, keepdim=True).log()
    return m.exp()


class Implicit(torch.autograd.Function):
    """The same mixers; their gradient by algorithm 7."""

    @staticmethod
    def forward(context, logits):
        with torch.no_grad():
            p = sweeps(logits)
        context.save_for_backward(p)
        return p

    @staticmethod
    def backward(context, gradient):
        (p,) = context.saved_tensors
        h = p * gradient
        rows, columns = h.sum(-1, keepdim=True), h.sum(-2, keepdim=True)
        v = torch.zeros_like(columns)
        for _ in range(STEPS):
            u = rows - p @ v.transpose(-1, -2)
            v = columns - (p.transpose(-1, -2) @ u).transpose(-1, -2)
        return h - u * p - v * p


def projections(device, tokens):
    outputs = (STREAMS, STREAMS, STREAMS * STREAMS)
    size = STREAMS * CHANNELS
    x = torch.randn(tokens, size, device=device)
    three = [torch.nn.Linear(size, k, bias=False).to(device) for k in outputs]
    fused = torch.nn.Linear(size, sum(outputs), bias=False).to(device)
    with torch.no_grad():
        fused.weight.copy_(torch.cat([one.weight for one in three]))
        difference = (fused(x) - torch.cat([one(x) for one in three], 1)).abs().max().item()
        # What must be read and written at least: input, weights, output.
        moved = lambda k: tokens * size + k * size + tokens * k
        found = {"difference": difference,
                 "bytes, three over fused": sum(map(moved, outputs)) / moved(sum(outputs)),
                 "time, three over fused": seconds(lambda: [one(x) for one in three], device) / seconds(lambda: fused(x), device)}
        if device == "cuda":
            found |= {"kernels, three": kernels(lambda: [one(x) for one in three]), "kernels, fused": kernels(lambda: fused(x))}
    return found


def backward(device, tokens):
    torch.manual_seed(1)
    logits = torch.randn(tokens, STREAMS, STREAMS, device=device, requires_grad=True)
    upstream = torch.randn(tokens, STREAMS, STREAMS, device=device)
    found, gradients = {}, []
    for name, mixers in (("unrolled", sweeps), ("implicit", Implicit.apply)):
        p = mixers(logits)
        found[f"nodes, {name}"] = nodes(p)
        run = lambda: torch.autograd.grad(p, logits, upstream, retain_graph=True)
        gradients.append(run()[0])
        found[f"seconds, {name}"] = seconds(run, device)
        if device == "cuda":
            found[f"kernels, {name}"] = kernels(run)
    found["largest relative difference of gradients"] = ((gradients[0] - gradients[1]).abs().max() / gradients[0].abs().max()).item()
    return found


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
parser.add_argument("--tokens", type=int, default=64 * 255)
options = parser.parse_args()
machine = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
print(json.dumps({"machine": machine, "torch": torch.__version__, "tokens": options.tokens,
                  "projections": projections(options.device, options.tokens),
                  "backward": backward(options.device, options.tokens)}, indent=1))
