#!/usr/bin/env python3
"""Times many variants of a kernel side by side on this machine's GPU, for authors who look for a better reference.

    python3 xtask/variants/variants.py [--rounds N] [--json FILE] GROUP...

A GROUP is PROBLEM:SIZE:FILES, such as "matmul:4096:solutions/12_*/*.cu,/tmp/mine/*.cu". PROBLEM is matmul, tensor_matmul (the same
in TF32, of positive numbers), transpose, row_sums or convolve; SIZE is 4096, or 262144x512 for rows and columns; FILES are patterns,
relative to the workspace or absolute. Each file says how to launch it with the macros of kernels/warplings.cuh.

The method is the checker's, made short: all kernels of a group, and cuBLAS or the device's own copy with them, run once per
round in random order, each after a flush of the cache, timed by events around the one launch. The results of a first launch are
compared with those of float64. Prints medians. `checker verify --engine gpu` is what decides; this is for a first look at
dozens of candidates in a minute. Needs CuPy with its NVRTC; builds for the GPU that it finds.
"""

import argparse
import glob
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "kernels/warplings.cuh").read_bytes()
FILTER = [[3, -8, 14, -11, 5], [-7, 19, -27, 22, -4], [13, -25, 31, -29, 16], [-6, 21, -24, 18, -9], [2, -10, 12, -15, 1]]


class Compiled:
    """A kernel as NVRTC made it: its cubin, name, resources, and what its launch macros say."""

    def __init__(self, path, architecture):
        from cupy.cuda import nvrtc

        self.path, self.error = path, None
        try:
            program = nvrtc.createProgram(Path(path).read_text(), "kernel.cu", [HEADER], [b"warplings.cuh"])
            nvrtc.compileProgram(program, [f"--gpu-architecture={architecture}", "--ptxas-options=-v"])
        except Exception as error:  # a variant that does not compile is a line of the report, not its end
            self.error = str(error)
            return
        log, ptx, self.cubin = nvrtc.getProgramLog(program), nvrtc.getPTX(program), nvrtc.getCUBIN(program)
        ptx = ptx.decode(errors="replace") if isinstance(ptx, bytes) else ptx
        self.name = re.search(r"\.visible \.entry (\w+)", ptx)[1]
        self.note = "{} registers".format((re.search(r"Used (\d+) registers", log) or ["", "?"])[1])
        spilled = int((re.search(r"(\d+) bytes spill stores", log) or ["", 0])[1])
        if spilled:
            self.note += f", {spilled} bytes spilled"
        self.macros = {}
        for kind, data in re.findall(r"warplings_(\w+?)_\d+\[\d+\] = \{([^}]*)\}", ptx):
            data = bytes(int(byte) for byte in data.split(","))
            data += bytes(-len(data) % 4)  # NVRTC leaves out zeros at the end
            self.macros[kind] = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]

    def grid_and_block(self, cols, rows):
        """The launch for an output of `cols` x `rows` elements."""
        if "launch" in self.macros:
            *block, work_x, work_y, _, swapped = (self.macros["launch"] + [0] * 7)[:7]
            x, y = (rows, cols) if swapped else (cols, rows)
            return (-(-x // work_x), -(-y // work_y), 1), tuple(block)
        return tuple(self.macros["grid"]), tuple(self.macros["block"])


class Group:
    """A problem at one size: inputs on the GPU, the right result, and ways to get there."""

    def __init__(self, problem, size):
        import cupy as cp
        import numpy as np

        self.title = f"{problem} {'x'.join(map(str, size))}"
        self.contenders = {}  # what to call it -> (a launch, a note, units of work)
        rows, cols = (size * 2)[:2]
        random_floats = cp.random.default_rng(1).random
        x = random_floats((rows, cols), dtype=cp.float32) - 0.5
        self.extent, extents = (cols, rows), (np.int32(rows), np.int32(cols))
        self.unit, self.work, self.tolerance = "GB/s", 2 * x.nbytes / 1e9, 0.0
        if problem in ("matmul", "tensor_matmul"):
            y = random_floats((rows, rows), dtype=cp.float32) - 0.5
            if problem == "tensor_matmul":  # errors of one sign add up: cutting to TF32 is off by 7e-4, rounding by 3e-5
                x, y = x + 0.5625, y + 0.5625
            self.right = (x.astype(cp.float64) @ y.astype(cp.float64)).astype(cp.float32)
            self.unit, self.work, self.tolerance = "TFLOP/s", 2 * rows**3 / 1e12, 1e-5 * rows**0.5
            if problem == "tensor_matmul":
                self.tolerance = 2e-4 * float(self.right.max())
        elif problem == "transpose":
            self.right = cp.ascontiguousarray(x.T)
        elif problem == "row_sums":
            self.right = x.sum(axis=1, dtype=cp.float64).astype(cp.float32)
            self.extent, self.work, self.tolerance = (rows, 1), x.nbytes / 1e9, 1e-3
        elif problem == "convolve":
            padded = cp.pad(x, 2)
            shifted = ((FILTER[i][j] / 64, padded[i : i + rows, j : j + cols]) for i in range(5) for j in range(5))
            self.right, self.tolerance = sum(weight * part for weight, part in shifted), 1e-4
        else:
            raise SystemExit(f"{problem} is no problem that I know: matmul, tensor_matmul, transpose, row_sums, convolve")
        self.out = cp.empty_like(self.right)
        if "matmul" in problem:
            self.arguments = (x, y, self.out, extents[0], extents[0], extents[0])
            pedantic, tf32 = 2, 3  # CUBLAS_PEDANTIC_MATH: no tensor cores; CUBLAS_TF32_TENSOR_OP_MATH
            self.contenders["cuBLAS, pedantic FP32"] = self.cublas(x, y, pedantic), "", self.work
            if problem == "tensor_matmul":
                self.contenders["cuBLAS, TF32"] = self.cublas(x, y, tf32), "", self.work
        else:
            self.arguments = (x, self.out, *extents)
            copy = cp.empty_like(x)

            def run():
                cp.cuda.runtime.memcpyAsync(copy.data.ptr, x.data.ptr, x.nbytes, cp.cuda.runtime.memcpyDeviceToDevice, 0)

            self.contenders["the device's own copy"] = run, "", 2 * x.nbytes / 1e9

    def cublas(self, a, b, mode):
        """cuBLAS counts columns first: what it takes for the product of b and a is that of a and b, row by row."""
        import cupy as cp
        import numpy as np
        from cupy_backends.cuda.libs import cublas

        handle, n = cp.cuda.get_cublas_handle(), a.shape[0]
        one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
        scale, keep = one.ctypes.data, zero.ctypes.data

        def run(_owners=(one, zero)):
            cublas.setMathMode(handle, mode)
            cublas.sgemm(handle, 0, 0, n, n, n, scale, b.data.ptr, n, a.data.ptr, n, keep, self.out.data.ptr, n)

        return run

    def add(self, compiled, label):
        import cupy as cp

        if compiled.error:
            print(f"{label}: {compiled.error}")
            return
        if "launch" not in compiled.macros and not {"grid", "block"} <= compiled.macros.keys():
            print(f"{label}: has neither LAUNCH nor GRID with BLOCK_SHAPE")
            return
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(compiled.cubin)
            file.flush()
            kernel = cp.RawModule(path=file.name).get_function(compiled.name)
        shared = compiled.macros.get("shared", [0])[0]
        if shared:
            kernel.max_dynamic_shared_size_bytes = shared
        grid, block = compiled.grid_and_block(*self.extent)

        def run():
            kernel(grid, block, self.arguments, shared_mem=shared)

        self.contenders[label] = run, compiled.note, self.work

    def check(self):
        """How far off each is at most, relative to the largest right value."""
        import cupy as cp

        errors, largest = {}, float(cp.abs(self.right).max())
        for label, (run, _, _) in self.contenders.items():
            if label == "the device's own copy":
                continue
            self.out.fill(float("nan"))
            run()
            errors[label] = float(cp.abs(self.out - self.right).max()) / largest
        self.tolerance /= largest
        return errors

    def time(self, rounds, flush):
        """Milliseconds of each, one per round."""
        import cupy as cp

        times = {label: [] for label in self.contenders}
        start, end = cp.cuda.Event(), cp.cuda.Event()
        for _ in range(rounds):
            for label in random.sample(list(times), len(times)):
                flush()
                start.record()
                self.contenders[label][0]()
                end.record()
                end.synchronize()
                times[label].append(cp.cuda.get_elapsed_time(start, end))
        return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path, help="all times, for programs")
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    arguments = parser.parse_args()
    asked = []
    for group in arguments.groups:
        problem, size, patterns = group.split(":")
        patterns = [os.path.join(ROOT, pattern) for pattern in patterns.split(",") if pattern]
        paths = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
        asked.append((problem, [int(extent) for extent in size.split("x")], paths))

    paths = sorted({path for _, _, paths in asked for path in paths})
    ask = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    architecture = subprocess.check_output(ask, text=True)
    with ProcessPoolExecutor() as pool:  # before this process touches the GPU, which a fork would not survive
        made = pool.map(Compiled, paths, [f"sm_{architecture.strip().replace('.', '')}"] * len(paths))
        compiled = {one.path: one for one in made}

    import cupy as cp

    device = cp.cuda.runtime.getDeviceProperties(0)
    print(f"{device['name'].decode()}, driver for CUDA {cp.cuda.runtime.driverGetVersion()}")
    ballast = cp.zeros(2 * device["l2CacheSize"] // 4, dtype=cp.float32)

    def flush():
        """Fills the cache with something else, and leaves none of it to be written back at the kernel's expense."""
        nonlocal ballast
        ballast += 1
        ballast.sum()

    results = []
    for problem, size, paths in asked:
        group = Group(problem, size)
        for path in paths:
            group.add(compiled[path], os.path.relpath(path, ROOT))
        errors = group.check()
        times = group.time(arguments.rounds, flush)
        print(f"\n{group.title}")
        for label in sorted(times, key=lambda label: statistics.median(times[label])):
            _, note, work = group.contenders[label]
            median = statistics.median(times[label])
            error = errors.get(label, 0.0)
            is_right = error <= group.tolerance  # NaN is not
            remark = f"  off by {error:.1e}" + ("" if is_right else ", WRONG") if label in errors else ""
            rate = work / median * 1e3
            print(f"  {median:9.4f} ms {rate:8.1f} {group.unit}  {label}  {note}{remark}", flush=True)
            results.append({"group": group.title, "kernel": label, "milliseconds": median, "rate": rate, "unit": group.unit,
                            "note": note, "is_right": is_right, "error": error if error == error else None, "rounds": times[label]})
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
