#!/usr/bin/env python3
"""The Jacobian of a live model with a hundred million parameters, by probes: its law, its errors and the time.

    PYTHONPATH=build/release/python python3 bench/large_live_model.py --device cuda

GPT-2's configuration (124 million parameters, random weights) at 64 tokens, all of them varied: N = 49,152. It needs the
package transformers.
"""

import argparse
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import jacobian_spectra as js


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--probes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config()).to(arguments.device).eval()
    parameters = sum(p.numel() for p in model.parameters())
    tokens = torch.randint(50257, (1, arguments.tokens), device=arguments.device)
    begin = time.perf_counter()
    report = js.validate(model, {"input_ids": tokens}, token="all", method="probes", precision="f32", connections=False,
                         probes=arguments.probes, steps=arguments.steps, check=False)
    seconds = time.perf_counter() - begin
    print(f"{parameters / 1e6:.0f} million parameters, N = {arguments.tokens * 768}, {arguments.device}: {seconds:.1f} s")
    print(report.measured.metrics)
    print("errors:", report.measured.error)
    print(report)


if __name__ == "__main__":
    main()
