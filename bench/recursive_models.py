#!/usr/bin/env python3
"""Trains Tiny Recursive Models that differ in their mixer only, at a matched number of steps, and prints a table.

    bench/recursive_models.py SPECTRA FOLDER [--seconds 420 | --steps N] [--device cuda|cpu] [--jobs 7]
                              [--difficulty 1] [--seeds 42,123,456] [--mixers cayley,…] [-- OPTION…]
    bench/recursive_models.py --table FOLDER

SPECTRA is the program. With --seconds a short trial of all variants measures how fast they are, and the number
of steps is what fits. FOLDER gets MIXER-SEED.json, .h5, .csv and .ckpt, and results.json with all objects; a run that
is there is not repeated. Options after -- go to `spectra train`.
"""

import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import time

MIXERS = {"cayley": [], "bistochastic": [], "grassmann": [], "permutation": ["--permutations", "6"]}
# Width and depths: a table 10 in small.
MODELS = {
    "cuda": ["--channels", "256", "--heads", "4", "--cycles", "3", "--answer-cycles", "2", "--supervision-steps", "8",
             "--puzzle-tokens", "4", "--batch", "64", "--validation-samples", "128"],
    "cpu": ["--channels", "64", "--heads", "2", "--cycles", "2", "--answer-cycles", "2", "--supervision-steps", "4",
            "--puzzle-tokens", "2", "--batch", "16", "--validation-samples", "128"],
}
COLUMNS = [("final_val_loss", "loss"), ("cell_accuracy", "cells"), ("exact_accuracy", "exact"), ("pass_at_1", "pass@1"),
           ("pass_at_10", "pass@10"), ("pass_at_100", "pass@100"), ("halting_step", "halting"),
           ("halt_accuracy", "halt right"), ("steps_per_second", "steps/s")]


def train(a, mixer, seed, steps, stem):
    """The JSON object of one training."""
    if os.path.exists(stem + ".json"):
        with open(stem + ".json", encoding="utf-8") as file:
            return json.load(file)
    command = [a.spectra, "train", "grid", "--architecture", "trm", "--mixer", mixer, *MIXERS[mixer], *MODELS[a.device],
               "--difficulty", str(a.difficulty), "--optimiser", "adam-atan2", "--schedule", "late-drops",
               "--lr", "2e-3", "--warm-up", str(min(100, steps // 10)), "--steps", str(steps),
               "--log-every", str(max(1, steps // 5)), "--seed", str(seed), "--device", a.device, "--threads", "1",
               "--plot", "none", "--quiet", "--json", "--force", "--out", stem, *a.options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{mixer}, seed {seed}: {done.stderr.strip() or done.stdout.strip()}")
    result = {"mixer": mixer, **json.loads(done.stdout)}
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file)
    return result


def fitting_steps(a, folder):
    """How many steps of every run fit into a.seconds, from a trial of all variants."""
    began = time.time()
    at_once = min(a.jobs, len(a.mixers))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        rates = pool.map(lambda m: train(a, m, 1, 60, os.path.join(folder, f"trial-{m}"))["steps_per_second"], a.mixers)
        throughput = min(rates) * at_once
    # A quarter is for starts and evaluations.
    left = 0.75 * (a.seconds - (time.time() - began))
    steps = int(left * throughput / (len(a.mixers) * len(a.seeds)))
    return max(100, steps // 100 * 100)


def table(results):
    by_mixer = {}
    for r in results:
        by_mixer.setdefault(r["mixer"], []).append(r)
    first = results[0]
    print(f"{first['model']}, {first['parameters']} parameters, {first['steps']} steps, "
          f"{max(len(v) for v in by_mixer.values())} seeds, {first['device']}; mean ± standard deviation\n")
    print("| mixer | " + " | ".join(words for _, words in COLUMNS) + " |")
    print("| --- |" + " --- |" * len(COLUMNS))
    for mixer, runs in by_mixer.items():
        cells = []
        for name, _ in COLUMNS:
            values = [r[name] for r in runs]
            deviation = statistics.stdev(values) if len(values) > 1 else 0
            cells.append(f"{statistics.mean(values):.3g} ± {deviation:.1g}")
        print(f"| {mixer} | " + " | ".join(cells) + " |")
    b = first["baselines"]
    print(f"\ncopy of the input: cells {b['copy_cells']:.3f}, exact {b['copy_exact']:.3f}; "
          f"most frequent token: cells {b['frequent_cells']:.3f}; loss of token frequencies {b['unigram']:.3f}")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--table":
        with open(os.path.join(sys.argv[2], "results.json"), encoding="utf-8") as file:
            table(json.load(file))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spectra")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--device", choices=list(MODELS), default="cuda")
    parser.add_argument("--jobs", type=int, default=7)
    parser.add_argument("--difficulty", type=int, default=1)
    parser.add_argument("--seeds", default="42,123,456")
    parser.add_argument("--mixers", default=",".join(MIXERS))
    parser.add_argument("options", nargs="*")
    a = parser.parse_args()
    a.seeds, a.mixers = a.seeds.split(","), a.mixers.split(",")
    os.makedirs(a.folder, exist_ok=True)
    steps = a.steps or fitting_steps(a, a.folder)
    print(f"{steps} steps", flush=True)
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        runs = [pool.submit(train, a, mixer, seed, steps, os.path.join(a.folder, f"{mixer}-{seed}"))
                for seed in a.seeds for mixer in a.mixers]
        results = [run.result() for run in runs]
    with open(os.path.join(a.folder, "results.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    table(results)


if __name__ == "__main__":
    main()
