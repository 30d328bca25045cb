"""torch.linalg.svdvals on the matrices that `gpu_bench --folder FOLDER` wrote, next to its times.

    gpu_svdvals.py GPU_BENCH FOLDER [--mixer FAMILY] [SIZE:SAMPLES ...]

runs the benchmark first, so that both are measured in one run on one machine.
"""

import pathlib
import statistics
import subprocess
import sys
import time

import numpy
import torch

program, folder, jobs = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
folder.mkdir(parents=True, exist_ok=True)
subprocess.run([program, "--folder", str(folder), *jobs], check=True)


def median_ms(work, repeats):
    work()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
for file in sorted(folder.glob("*.txt"), key=lambda f: int(f.stem)):
    size, samples, ours, exponent = file.read_text().split()
    size, samples, ours = int(size), int(samples), float(ours)
    matrices = numpy.fromfile(file.with_suffix(".matrices")).reshape(samples, size, size)
    values = numpy.fromfile(file.with_suffix(".values")).reshape(samples, size)
    on_device = torch.from_numpy(matrices).cuda()
    theirs = median_ms(lambda: torch.linalg.svdvals(on_device), 3)
    expected = torch.linalg.svdvals(on_device).cpu().numpy()[:, ::-1] * 2.0 ** int(exponent)
    found = numpy.exp(values)
    top = expected[:, -1:]
    above = expected > 1e-4 * top
    print(f"{size:5d} x {samples:<5d} svdvals {theirs:9.1f} ms, sample to values {ours:9.3f} ms: {theirs / ours:7.1f} times; "
          f"deviation {numpy.max(numpy.abs(found - expected) / top):.1e} of the largest, "
          f"{numpy.max((numpy.abs(found - expected) / expected)[above]):.1e} of values above 1e-4 of it")
