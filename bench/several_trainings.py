#!/usr/bin/env python3
"""What sharing a machine costs: one training alone, several at once, and a validation beside a training.

    python3 bench/several_trainings.py --program build/release/apps/spectra --device cpu,cuda

Steps per second are the program's own: without evaluations, after the first ten steps. Everything is given as a
share of the same run alone, so that numbers of different machines can be compared. Options after -- go to every
training, for example -- --layers 1 --channels 16. Ends with status 1 if one of several trainings is slower than a
fifth of one alone (--least).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


def parsed():
    words, more = sys.argv[1:], []
    if "--" in words:
        words, more = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/apps/spectra")
    parser.add_argument("--device", default="cpu,cuda", help="comma-separated (default: %(default)s)")
    parser.add_argument("--task", default="stability")
    parser.add_argument("--architecture", default="jpmhc")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--least", type=float, default=0.2, help="share of one alone (default: %(default)s)")
    options = parser.parse_args(words)
    options.program = os.path.abspath(options.program)
    options.more = more
    return options


class Training:
    def __init__(self, options, device, name, steps):
        # Evaluations only at the beginning and the end: steps per second exclude them, but neighbours would notice.
        command = [options.program, "train", options.task, "--architecture", options.architecture, "--device", device,
                   "--steps", str(steps), "--log-every", str(steps), "--validation-samples", "16", "--plot", "none",
                   "--checkpoint", "2", "--json", "--force", "--out", name] + options.more
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self):
        """Its JSON object, at its end."""
        out, err = self.process.communicate()
        if self.process.returncode not in (0, 130):
            sys.exit("spectra train failed:\n" + err)
        return json.loads(out)

    def speed(self):
        return self.result()["steps_per_second"]

    def stop(self):
        self.process.send_signal(signal.SIGINT)


def validation_seconds(options, device, checkpoint):
    began = time.monotonic()
    done = subprocess.run([options.program, "validate", checkpoint, "--device", device, "--inputs", "2", "--plot", "none",
                           "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit("spectra validate failed:\n" + done.stderr)
    return time.monotonic() - began


def wait_for(path, process):
    while not os.path.exists(path):
        if process.poll() is not None:
            sys.exit(f"the training ended before it wrote {path}")
        time.sleep(0.1)


def measure(options, device):
    """The smallest share of several at once."""
    began = time.monotonic()
    alone = Training(options, device, "alone", options.steps).speed()
    seconds = time.monotonic() - began
    print(f"{device}: one alone                {alone:9.2f} steps/s, {seconds:.1f} s in all", flush=True)

    began = time.monotonic()
    several = [Training(options, device, f"several{k}", options.steps) for k in range(options.at_once)]
    shares = [training.speed() / alone for training in several]
    together = time.monotonic() - began
    print(f"{device}: {options.at_once} at once, each             {min(shares):5.2f} to {max(shares):.2f} of one alone; "
          f"all end after {together / seconds:.2f} times the time of one", flush=True)

    quiet = validation_seconds(options, device, "alone.ckpt")
    beside = Training(options, device, "beside", 10**8)
    # By then it trains: it has written a checkpoint by time.
    wait_for("beside.ckpt", beside.process)
    busy = validation_seconds(options, device, "alone.ckpt")
    beside.stop()
    share = beside.speed() / alone
    print(f"{device}: validate beside a training {busy / quiet:5.2f} times its {quiet:.1f} s alone; "
          f"the training {share:.2f} of one alone", flush=True)
    return min(shares)


def main():
    options = parsed()
    slow = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for device in options.device.split(","):
            least = measure(options, device)
            if least < options.least:
                slow.append(f"{device} {least:.2f}")
        os.chdir("/")
    if slow:
        sys.exit(f"slower than {options.least} of one alone: " + ", ".join(slow))


if __name__ == "__main__":
    main()
