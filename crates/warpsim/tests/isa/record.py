#!/usr/bin/env python3
"""Records what a GPU computes for every register instruction, for `src/isa/tests/hardware.rs`.

    cargo test -p warpsim hardware::list -- --ignored --nocapture | grep '^@' > forms.txt
    record.py build forms.txt DIR [PTXAS]   makes DIR/*.cubin (needs ptxas), and says what ptxas rejects
    record.py run DIR OUT                   runs them (needs libcuda and a GPU), and writes the results to OUT
    record.py sample forms.txt OUT DIR      keeps what the tests look at: DIR/h200.txt, and with its inputs for
                                            `tests/isa_programs.rs`, DIR/programs.txt
"""
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import zlib

ARCH = "sm_90"
CHUNK = 150
REGISTER = {"p": ".pred", "b": ".b16", "h": ".b16", "w": ".b32", "d": ".b64"}


def kernel(number, name, imm, dst, src):
    """A kernel that runs one instruction: round = block, lane = thread, every value 8 bytes."""
    lines = [f".visible .entry k{number}(.param .u64 pin, .param .u64 pout) {{"]
    lines.append(".reg .b64 %in, %out, %t; .reg .b32 %c, %n, %x; .reg .pred %q;")
    lines.append("ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];")
    lines.append("mov.u32 %c, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %c, %c, 32, %n;")
    lines.append(f"mul.wide.u32 %t, %c, {8 * max(1, len(src))}; add.u64 %in, %in, %t;")
    lines.append(f"mul.wide.u32 %t, %c, {8 * len(dst)}; add.u64 %out, %out, %t;")
    for i, kind in enumerate(src):
        lines.append(f".reg {REGISTER[kind]} %s{i};")
        at = f"[%in+{8 * i}]"
        if kind == "p":
            lines.append(f"ld.global.u32 %x, {at}; setp.ne.u32 %s{i}, %x, 0;")
        elif kind == "b":
            lines.append(f"ld.global.u8 %s{i}, {at};")
        else:
            lines.append(f"ld.global.b{ {'h': 16, 'w': 32, 'd': 64}[kind] } %s{i}, {at};")
    for i, kind in enumerate(dst):
        lines.append(f".reg {REGISTER[kind]} %d{i};")
    lines += instruction(name, imm, dst, src)
    for i, kind in enumerate(dst):
        if kind == "p":
            lines.append(f"selp.u32 %x, 1, 0, %d{i}; cvt.u64.u32 %t, %x;")
        elif kind == "d":
            lines.append(f"mov.b64 %t, %d{i};")
        else:
            lines.append(f"cvt.u64.u{32 if kind == 'w' else 16} %t, %d{i};")
        lines.append(f"st.global.b64 [%out+{8 * i}], %t;")
    return " ".join(lines + ["ret; }"])


def instruction(name, imm, dst, src):
    sources = [f"%s{i}" for i in range(len(src))]
    parts = name.split(".")
    opcode = parts[0]
    if opcode == "mma":
        return [matrix(name, imm)]
    if opcode == "atom":
        return atomic(name, dst[0])
    bits = "64" if name.endswith("64") else "32"
    if opcode in ("addc", "subc", "madc"):
        carry = sources.pop()
        operation = "sub" if opcode == "subc" else "add"
        other = "0" if opcode == "subc" else "0xffffffff"
        order = f"{other}, %x" if opcode == "subc" else f"%x, {other}"
        before = [f"selp.u32 %x, 1, 0, {carry}; {operation}.cc.u32 %x, {order};"]
    else:
        before = []
    if "cc" in parts or before:
        text = before + [f"{name} %d0, {', '.join(sources)};"]
        if "cc" in parts:
            operation = "subc" if opcode.startswith("sub") else "addc"
            text.append(f"{operation}.u32 %x, 0, 0; setp.ne.u32 %d1, %x, 0;")
        return text
    if opcode == "lop3" and len(src) == 4:
        return [f"{name} %d0|%d1, {', '.join(sources[:3])}, {imm}, {sources[3]};"]
    if opcode == "lop3":
        sources.append(str(imm))
    name = name.replace(".|q", "")
    return [f"{name} {'|'.join(f'%d{i}' for i in range(len(dst)))}, {', '.join(sources)};"]


def matrix(name, counts):
    """D, A, B and C are vectors of registers; `counts` has their lengths."""
    d, a, b, c = (counts >> shift & 15 for shift in (0, 4, 8, 12))

    def vector(prefix, first, count):
        return "{" + ", ".join(f"%{prefix}{i}" for i in range(first, first + count)) + "}"

    return f"{name} {vector('d', 0, d)}, {vector('s', 0, a)}, {vector('s', a, b)}, {vector('s', a + b, c)};"


def atomic(name, kind):
    """The old value goes to memory; the result is what is there afterwards, and what was returned."""
    bits = {"h": 16, "w": 32, "d": 64}[kind]
    space = name.split(".")[1]
    if space == "shared":
        address = ".shared .align 8 .b8 memory[256]; .reg .b32 %m, %y; mov.u32 %m, memory; shl.b32 %y, %n, 3; add.u32 %m, %m, %y;"
    else:
        address = ".reg .b64 %m; mov.b64 %m, %out;"
    third = ", %s2" if ".cas." in name else ""
    return [
        address,
        f"st.{space}.b{bits} [%m], %s0;",
        f"{name} %d1, [%m], %s1{third};",
        f"ld.{space}.b{bits} %d0, [%m];",
    ]


def build(forms, folder, ptxas="ptxas"):
    os.makedirs(folder, exist_ok=True)
    work, inputs = [], {}
    for number, line in enumerate(open(forms)):
        _, name, imm, rest = line.rstrip("\n").split(" ", 3)
        dst, src, lanes = rest.split(" ", 2)
        work.append((number, name, int(imm), dst, src))
        inputs[number] = [[int(v, 16) for v in lane.split(",")] for lane in lanes.split(" ")]
    rejected = {}
    for start in range(0, len(work), CHUNK):
        chunk = work[start : start + CHUNK]
        path = f"{folder}/{start}"
        while chunk:
            text = f".version 8.6\n.target {ARCH}\n.address_size 64\n" + "\n".join(kernel(*w) for w in chunk) + "\n"
            open(path + ".ptx", "w").write(text)
            result = subprocess.run([ptxas, "-arch", ARCH, "-o", path + ".cubin", path + ".ptx"], capture_output=True, text=True)
            if result.returncode == 0:
                break
            bad = {int(n) - 4: m for n, m in re.findall(r"line (\d+); error\s*: (.*)", result.stderr)}
            if not bad:
                sys.exit(result.stderr)
            for i, message in bad.items():
                rejected[chunk[i][1]] = message
            chunk = [w for i, w in enumerate(chunk) if i not in bad]
        os.remove(path + ".ptx")
        json.dump([(w[0], w[1], len(w[3]), inputs[w[0]]) for w in chunk], open(path + ".json", "w"))
    for name, message in rejected.items():
        print(f"rejected: {name}: {message}")


def run(folder, out):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *args):
        status = getattr(cuda, name)(*args)
        if status:
            sys.exit(f"{name}: error {status}")

    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    size = 1 << 20
    pointers = [ctypes.c_uint64(), ctypes.c_uint64()]
    for p in pointers:
        call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(size))
    with open(out, "w") as file:
        for path in sorted(glob.glob(folder + "/*.cubin"), key=lambda p: int(os.path.basename(p)[:-6])):
            module = ctypes.c_void_p()
            call("cuModuleLoad", ctypes.byref(module), path.encode())
            for number, name, width, lanes in json.load(open(path[:-6] + ".json")):
                function = ctypes.c_void_p()
                call("cuModuleGetFunction", ctypes.byref(function), module, f"k{number}".encode())
                values = [v for lane in lanes for v in lane]
                data = (ctypes.c_uint64 * len(values))(*values)
                call("cuMemcpyHtoD_v2", pointers[0], data, ctypes.c_size_t(8 * len(values)))
                args = (ctypes.c_void_p * 2)(*[ctypes.addressof(p) for p in pointers])
                call("cuLaunchKernel", function, len(lanes) // 32, 1, 1, 32, 1, 1, 0, None, args, None)
                call("cuCtxSynchronize")
                result = (ctypes.c_uint64 * (len(lanes) * width))()
                call("cuMemcpyDtoH_v2", result, pointers[1], ctypes.c_size_t(8 * len(result)))
                rows = [result[i * width : (i + 1) * width] for i in range(len(lanes))]
                file.write(name + " " + " ".join(",".join(f"{v:x}" for v in row) for row in rows) + "\n")


def sample(forms, results, folder):
    """Of the thousands of comparisons every twelfth, and one round of everything but `mma`."""
    described = {line.split(" ", 2)[1]: line.split() for line in open(forms)}
    with open(f"{folder}/h200.txt", "w") as lanes_only, open(f"{folder}/programs.txt", "w") as programs:
        for line in open(results):
            name, *lanes = line.split()
            if name.startswith("set") and zlib.crc32(name.encode()) % 12:
                continue
            is_matrix = name.startswith("mma")
            lanes_only.write(" ".join([name] + (lanes if is_matrix else lanes[:32])) + "\n")
            _, _, imm, dst, src, *inputs = described[name]
            count = 32 if is_matrix else 5
            programs.write(" ".join([name, imm, dst, src, *inputs[:count], "=", *lanes[:count]]) + "\n")


if __name__ == "__main__":
    {"build": build, "run": run, "sample": sample}[sys.argv[1]](*sys.argv[2:])
