#!/usr/bin/env python3
"""Counts the memory traffic of the kernels beside this file with Nsight Compute on a GPU, as CSV on standard output.

usage: measure.py [NCU]      needs CuPy and ncu; `measure.py launch` is what ncu runs
"""
import csv, os, subprocess, sys

METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
KERNELS = ["copy", "offset_by_one", "stride_three", "store_down_a_column", "pairs", "quads", "quads_strided", "odd_lanes",
           "bytes", "doubles", "gathered", "add_atomically", "tile_unpadded", "tile_padded", "shared_pairs", "shared_quads"]

def launch():
    import cupy
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.cu")) as file:
        module = cupy.RawModule(code=file.read(), backend="nvrtc")
    source, target = cupy.zeros(4352, cupy.float32), cupy.zeros(4352, cupy.float32)
    for kernel in KERNELS:
        block = (32, 4) if kernel.startswith("tile") else (128,)
        module.get_function(kernel)((4,), block, (source, target, cupy.int32(4096)))
    cupy.cuda.Device().synchronize()

def main():
    ncu = (sys.argv[1:] or ["ncu"])[0]
    if ncu == "launch":
        return launch()
    profile = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(METRICS.values())]
    done = subprocess.run(profile + [sys.executable, os.path.abspath(__file__), "launch"], capture_output=True, text=True)
    rows = list(csv.reader(line for line in done.stdout.splitlines() if line.startswith('"')))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kernel", *METRICS])
    found = {}
    for row in rows[2:]:
        values = dict(zip(rows[0], row))
        found[values["Kernel Name"].split("(")[0]] = [values[m].replace(",", "").split(".")[0] for m in METRICS.values()]
    for kernel in KERNELS:
        if kernel not in found:
            sys.exit(f"{kernel}: ncu gave no counters:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        out.writerow([kernel, *found[kernel]])

main()
