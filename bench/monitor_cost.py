#!/usr/bin/env python3
"""What jacobian_spectra.Monitor costs, and how early it shows a run that diverges.

    PYTHONPATH=build/release/python python3 bench/monitor_cost.py --device cuda --steps 600

Cost: the matched gpt and the stack of Cayley mixers (jpmhc) of train_eager.py train with a monitor. Printed is what a
measurement adds to `--every` steps: the time from the step that begins it to the one that returns it, less that of as many
steps without one (the median of the following stretches of that length, which a slow moment of the machine does not move).
Also the share that calls took by the monitor's own clock, how many steps later a measurement was there, how long one takes
where training waits for it, and how long the first measurement (without CUDA graphs) and their recording took. `budget` is
off: every measurement that is due is made.

Divergence: a stack whose mixers are not constrained trains at a learning rate that doubles every 20 steps, from 1e-5 on.
Printed are the step at which the loss first exceeds twice its smallest value so far or is no number, and the one at which
the monitor's largest singular value first exceeds ten times its first.
"""

import argparse
import statistics
import time

import torch
import torch.nn.functional as F

import jacobian_spectra as js
import train_eager


class Free(train_eager.Jpmhc):
    """Streams mixed by the identity plus a matrix that is as large as the network likes."""

    def forward(self, x, norm, branch):
        b, t, c = x.shape
        n = train_eager.STREAMS
        pre, post, res = self.fused(self.norm(x)).view(b, t, 3, n, n).unbind(2)
        streams = x.view(b, t, n, c // n)
        read = torch.einsum("btij,btjd->btid", pre.softmax(-1), streams).mean(2)
        out = branch(norm(read))[:, :, None].expand(-1, -1, n, -1)
        mixer = torch.eye(n, device=x.device) + res
        mixed = torch.einsum("btij,btjd->btid", mixer, streams) + torch.einsum("btij,btjd->btid", post.softmax(-2), out)
        return mixed.reshape(b, t, c), None


train_eager.CONNECTIONS["free"] = Free
train_eager.SIZES["free"] = train_eager.SIZES["jpmhc"]


class Run:
    """A model that takes training steps on random states of the gyroscope task's shape."""

    def __init__(self, kind, device, batch, rate):
        torch.manual_seed(0)
        self.x = torch.randn(512, 255, 16, device=device)
        self.y = self.x.cumsum(1) / 16
        self.model = train_eager.Model(kind, 16, 256).to(device)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=rate, betas=(0.9, 0.95))
        self.batch, self.device = batch, device

    def step(self):
        rows = torch.randint(512, (self.batch,)).to(self.device)
        loss = F.mse_loss(self.model(self.x[rows])[0], self.y[rows])
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def monitor(self, every, wait=False):
        return js.Monitor(self.model, self.x[:1], every=every, budget=None, wait=wait)


def step_seconds(run, steps, monitor):
    """The time of each step, and how many a measurement that is begun at the first was under way."""
    seconds, under_way = [], 1
    begin = time.perf_counter()
    for step in range(steps):
        run.step()
        if monitor(step) and step > 0:
            under_way = step + 1
        end = time.perf_counter()
        seconds.append(end - begin)
        begin = end
    return seconds, under_way


def added(seconds, under_way):
    """What the first steps took more than as many others."""
    stretches = [sum(seconds[k:k + under_way]) for k in range(under_way, len(seconds) - under_way + 1, under_way)]
    return sum(seconds[:under_way]) - statistics.median(stretches)


def timed(work):
    begin = time.perf_counter()
    out = work()
    return time.perf_counter() - begin, out


def cost(kind, arguments):
    run = Run(kind, arguments.device, arguments.batch, 1e-4)
    monitor = run.monitor(arguments.every)
    for _ in range(20):
        run.step()
    monitor(0)  # the first measurement warms up, the second records
    plain_measurement, _ = timed(monitor.report)
    recording = monitor(0)["jacobian/seconds"] - plain_measurement
    monitor.wait = True
    monitor(0)
    waited, _ = timed(lambda: monitor(0))
    monitor.wait = False
    monitor.seconds, monitor.measured = 0.0, 0
    shares, total, later = [], 0.0, []
    for _ in range(arguments.steps // arguments.every):
        seconds, under_way = step_seconds(run, arguments.every, monitor)
        shares.append(100 * added(seconds, under_way) / sum(seconds))
        total += sum(seconds)
        later.append(under_way - 1)
    low, middle, high = statistics.quantiles(shares, n=4) if len(shares) > 1 else 3 * shares
    print(f"{kind:8} {arguments.steps / total:7.1f} steps/s; a measurement adds {middle:.2f} % to {arguments.every} steps "
          f"(quartiles of {len(shares)}: {low:.2f}, {high:.2f}); calls took "
          f"{1e3 * monitor.seconds / max(monitor.measured, 1):.1f} ms each, {100 * monitor.seconds / total:.2f} %; there after "
          f"{statistics.median(later):.0f} steps; waited for {1e3 * waited:.0f} ms; without graphs "
          f"{1e3 * plain_measurement:.0f} ms, recording them {recording:.1f} s", flush=True)


def divergence(arguments):
    run = Run("free", arguments.device, arguments.batch, 1e-5)
    monitor = run.monitor(arguments.look, wait=True)
    first = smallest = None
    seen = {}
    for step in range(arguments.steps):
        for group in run.optimiser.param_groups:
            group["lr"] = 1e-5 * 2 ** (step / 20)
        largest = monitor(step).get("jacobian/largest")
        loss = run.step()
        smallest = loss if smallest is None else min(smallest, loss)
        if largest is not None:
            first = first or largest
            print(f"  step {step:4}: loss {loss:9.3g}, largest singular value {largest:9.3g}", flush=True)
            if "monitor" not in seen and not largest < 10 * first:
                seen["monitor"] = step
        if "loss" not in seen and not loss <= 2 * smallest:
            seen["loss"] = step
        if len(seen) == 2:
            break
    print(f"the monitor shows it at step {seen.get('monitor')}, the loss at "
          f"{seen.get('loss')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--look", type=int, default=5, help="steps between measurements of that run")
    parser.add_argument("--no-divergence", action="store_true", help="the cost alone")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, {arguments.device}, batch {arguments.batch}, every {arguments.every} steps")
    for kind in ("gpt", "jpmhc"):
        cost(kind, arguments)
    if not arguments.no_divergence:
        divergence(arguments)


if __name__ == "__main__":
    main()
