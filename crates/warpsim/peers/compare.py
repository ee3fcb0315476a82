#!/usr/bin/env python3
"""Runs a tiled matrix product on warpsim, on PoCL (the same kernel compiled for the CPU) and on Oclgrind (an OpenCL
simulator with a race and an initialisation check) side by side, and prints medians and ratios.

    crates/warpsim/peers/compare.py [--rounds N]

Needs a C compiler and, on Debian, `apt-get install pocl-opencl-icd oclgrind ocl-icd-opencl-dev opencl-headers`. The
programs take turns in every round, so that a machine that is slow for a while is slow for all of them. Times are of
the launch alone, without compiling.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# Size of the comparison with PoCL, and of the one with Oclgrind, which takes a minute for 256.
LARGE, SMALL = 256, 128
# Launches of one process; the first is for warming up.
LAUNCHES = 6


def run(*command, **options):
    result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, **options)
    if result.returncode:
        sys.exit(f"compare.py: `{' '.join(map(str, command))}` failed")
    return result.stdout


def build(folder):
    missing = [tool for tool in ("cc", "oclgrind", "cargo") if not shutil.which(tool)]
    if missing:
        sys.exit(f"compare.py: {', '.join(missing)} missing; see the top of this file")
    host = folder / "host"
    run("cc", "-O2", HERE / "host.c", "-lOpenCL", "-o", host)
    run("cargo", "build", "--quiet", "--release", "-p", "warpsim", "--example", "tiled", cwd=ROOT)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return host, target / "release" / "examples" / "tiled"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=9)
    rounds = arguments.parse_args().rounds

    with tempfile.TemporaryDirectory() as folder:
        host, tiled = build(pathlib.Path(folder))

        def pocl():
            times = run(host, LARGE, LAUNCHES, HERE / "tiled.cl", stderr=subprocess.DEVNULL).split()
            return statistics.median(map(float, times[1:]))

        def warpsim(mode, size=LARGE):
            times = re.findall(r"in ([0-9.]+) s", run(tiled, size, mode, LAUNCHES))
            return statistics.median(map(float, times[1:]))

        def oclgrind():
            checks = ("--data-races", "--uninitialized")
            times = run("oclgrind", *checks, host, SMALL, 1, HERE / "tiled.cl", stderr=subprocess.DEVNULL)
            return float(times.split()[0])

        programs = {
            "PoCL, native": pocl,
            "warpsim, no checks": lambda: warpsim("plain"),
            "warpsim, counters": lambda: warpsim("counters"),
            "warpsim, all checks": lambda: warpsim("all"),
            "warpsim, all checks, 512^3": lambda: warpsim("all", 512),
            f"warpsim, all checks, {SMALL}^3": lambda: warpsim("all", SMALL),
        }
        times = {name: [] for name in programs}
        for _ in range(rounds):
            for name, program in programs.items():
                times[name].append(program())
        # Too slow to take part in every round.
        times[f"Oclgrind, races and uninitialised values, {SMALL}^3"] = [oclgrind()]

    median = {name: statistics.median(each) for name, each in times.items()}
    for name, each in times.items():
        size = "" if "^3" in name else f", {LARGE}^3"
        print(f"{name + size:55} {median[name]:9.4f} s   ({min(each):.4f} to {max(each):.4f})")
    print()
    ratio = lambda a, b: median[a] / median[b]
    print(f"no checks / PoCL                 {ratio('warpsim, no checks', 'PoCL, native'):8.2f}")
    print(f"all checks / PoCL                {ratio('warpsim, all checks', 'PoCL, native'):8.2f}")
    print(f"512^3 / 256^3                    {ratio('warpsim, all checks, 512^3', 'warpsim, all checks'):8.2f}")
    names = (f"Oclgrind, races and uninitialised values, {SMALL}^3", f"warpsim, all checks, {SMALL}^3")
    print(f"Oclgrind / all checks, {SMALL}^3     {ratio(*names):8.0f}")


if __name__ == "__main__":
    main()
