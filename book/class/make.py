#!/usr/bin/env python3
"""Makes the worked class of the chapter "Grading a class": made-up students, with one of each trouble that real ones
bring, as Canvas, Gradescope and Moodle export it and as plain folders. All bytes are the same every time.

    python3 book/class/make.py        # writes book/src/class/
"""

import io
import pathlib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "book/src/class"
EXERCISE = "05_transpose_coalescing"


def text(path):
    return (ROOT / path).read_text()


def mistake(name):
    lines = text(f"exercises/{EXERCISE}/mistakes/{name}.cu").splitlines(keepends=True)
    # The header says which verdict to expect, which no student would write.
    return "".join(line for line in lines if not line.startswith(("// expect", "// on a gpu")))


def zipped(files):
    """A zip with these files, and nothing that depends on when it is made."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name, (2026, 12, 1, 12, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o100644 << 16
            if isinstance(data, Link):
                info.external_attr = 0o120777 << 16
            archive.writestr(info, data if isinstance(data, (bytes, Link)) else data.encode())
    return buffer.getvalue()


class Link(str):
    """Where a symbolic link leads."""


STUB = text(f"exercises/{EXERCISE}/stub.cu")
SOLUTION = text(f"solutions/{EXERCISE}/kernel.cu")
BODY = "__global__ void transpose(const float* in, float* out, int rows, int cols)\n{\n%s}\n"
HEAD = '#include "warplings.cuh"\nLAUNCH(32, 8, 1, 32, 32, 1);\n'
INDEX = (
    "    int col = blockIdx.x * 32 + threadIdx.x;\n    int row = blockIdx.y * 32 + threadIdx.y;\n"
    "    for (int i = 0; i < 32; i += 8)\n"
)
UNGUARDED = HEAD + BODY % (INDEX + "        out[col * rows + row + i] = in[(row + i) * cols + col];\n")
ENDLESS = HEAD + BODY % "    while (in[0] == in[0]) { }\n"
READER = '#include "/etc/passwd"\n' + STUB
BROKEN = STUB.replace(";", "", 1)

# Name, Canvas' id, files as the student named them, late?, what is the matter.
STUDENTS = [
    ("Abe Mika", 101, [("kernel.cu", SOLUTION)], False, "right and fast"),
    ("Bauer Lina", 102, [("kernel.cu", STUB)], False, "the stub: right, and slow"),
    ("Cruz Diego", 103, [("kernel.cu", mistake("columns_in"))], False, "slow on the other side"),
    ("Diallo Awa", 104, [("kernel.cu", mistake("no_barrier"))], False, "a race"),
    ("Eriksen Nils", 105, [("kernel.cu", mistake("barrier_in_guard"))], False, "a barrier that not all reach"),
    ("Fischer Jan", 106, [("kernel.cu", mistake("copy"))], False, "copies, and turns nothing"),
    ("Garcia Sol", 107, [("kernel.cu", mistake("blocks_not_mirrored"))], False, "leaves its tiles where they were"),
    ("Haddad Omar", 108, [("kernel.cu", UNGUARDED)], False, "out of bounds"),
    ("Ito Ren", 109, [("kernel.cu", BROKEN)], False, "does not compile"),
    ("Jansen Eva", 110, [("kernel.cu", ENDLESS)], False, "never ends"),
    ("Kaya Deniz", 111, [("kernel.cu", READER)], False, "tries to read the instructor's files"),
    ("Lopez Ana", 112, [("kernel.cu", SOLUTION)], True, "late"),
    ("Mbeki Thandi", 113, [("kernel.cu", STUB), ("kernel-1.cu", SOLUTION)], False, "handed in twice: the second counts"),
    ("Novak Petr", 114, [(f"{EXERCISE}.cu", SOLUTION)], True, "late, with leave; named for the exercise"),
    ("Okafor Chidi", 115, [("transpose (1).cu", SOLUTION)], False, "another name, as a browser saves it"),
    ("이영희", 116, [("kernel.cu", SOLUTION)], False, "a name in Hangul"),
    ("O'Neil \"Kit\" Pat", 117, [("kernel.cu", SOLUTION)], False, "quotes in the name"),
    ("=1+1 Quine", 118, [("kernel.cu", SOLUTION)], False, "a name that a spreadsheet would compute"),
    ("Rossi Gaia", 119, [("kernel.cu", "\ufeff" + SOLUTION.replace("\n", "\r\n"))], False, "saved on Windows"),
    ("Sato Yui", 120, [("kernel.cu", (STUB + "// caf\u00e9\n").encode("latin-1"))], False, "not UTF-8"),
    ("Tran Linh", 121, [("kernel.cu", b"/*" + b" " * (1 << 20) + b"*/")], False, "more than 1 MiB"),
    ("Ueda Sho", 122, [("kernel.cu", "")], False, "an empty file"),
    ("Vargas Luz", 123, [("work.zip", zipped([(f"exercises/{EXERCISE}/kernel.cu", SOLUTION), ("README.md", "mine\n")]))], False, "a zip of the whole course"),
    ("Weber Tim", 124, [("report.pdf", b"%PDF-1.4 no kernel\n")], False, "a report in the place of a kernel"),
    ("Xu Mei", 125, [("a.cu", SOLUTION), ("b.cu", STUB)], False, "two kernels, and neither is kernel.cu"),
    ("Yilmaz Ece", 126, [("06_bank_padding.cu", SOLUTION)], False, "the wrong exercise"),
    ("Zhang_9 Bo", 127, [("kernel.cu", SOLUTION)], False, "digits in the name"),
    ("Adams Kim", 128, [("kernel.cu", mistake("tile_without_exchange"))], False, "a copy of the next one"),
    ("Baker Lee", 129, [("kernel.cu", mistake("tile_without_exchange"))], False, "a copy of the one before"),
    ("Clark Sam", 130, "text", False, "wrote the kernel into the browser"),
]
# In the gradebook, and without a hand-in.
OTHERS = [("Doe Nora", 131, "no-show"), ("Evans Ed", 132, "excused")]


def canvas_name(name):
    return "".join(c for c in name.lower() if c.isalnum() or c == "_")


def canvas():
    files = []
    for name, id, handed_in, is_late, _ in STUDENTS:
        who = f"{canvas_name(name)}{'_LATE' if is_late else ''}_{id}"
        if handed_in == "text":
            files.append((f"{who}_text.html", "<p>#include \"warplings.cuh\"</p>"))
            continue
        for index, (file, data) in enumerate(handed_in):
            files.append((f"{who}_{9000 + 10 * id + index}_{file}", data))
    # Nobody in the gradebook has this number: an auditor.
    files.append(("auditor_999_9999_kernel.cu", SOLUTION))
    return zipped(files)


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"\n') else cell


def table(rows):
    return "".join(",".join(quoted(str(cell)) for cell in row) + "\r\n" for row in rows)


def sortable(name):
    last, _, first = name.partition(" ")
    return f"{last}, {first}" if first else last


def gradebook():
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Transpose (88001)", "Final Score"],
        ["    Points Possible", "", "", "", "", "10.00", "(read only)"],
    ]
    for name, id, *_ in STUDENTS + OTHERS:
        rows.append([sortable(name), id, f"s{id}", f"login{id}", "GPU 101", "EX" if name == "Evans Ed" else "", ""])
    return "\ufeff" + table(rows)


def gradescope():
    root, lines, files = "assignment_5_export", [], []
    for index, (name, id, handed_in, is_late, _) in enumerate(STUDENTS):
        folder = f"submission_{5000 + index}"
        day = 2 if is_late else 1
        name = name.replace("\\", "\\\\").replace('"', '\\"')
        lines += [f"{folder}:", "  :submitters:", f'  - :name: "{name}"', f"    :sid: '{id}'"]
        # One address is missing, as happens.
        lines += [f"    :email: {'' if id == 105 else f'student{id}@uni.example'}"]
        lines += [f"  :created_at: 2026-12-0{day} 18:45:27.000000000 Z", "  :score: "]
        for file, data in handed_in if handed_in != "text" else [("answer.txt", "a kernel")]:
            files.append((f"{root}/{folder}/{file}", data))
    return zipped([(f"{root}/submission_metadata.yml", "\n".join(lines) + "\n")] + files)


def moodle():
    files = []
    for name, id, handed_in, *_ in STUDENTS:
        name = name.replace('"', "").replace("/", "_")
        kind = "onlinetext" if handed_in == "text" else "file"
        for file, data in handed_in if handed_in != "text" else [("onlinetext.html", "<p>a kernel</p>")]:
            files.append((f"{name}_{7000 + id}_assignsubmission_{kind}_/{file}", data))
    return zipped(files)


def worksheet():
    rows = [["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade"]]
    for name, id, *_ in STUDENTS + OTHERS:
        rows.append([f"Participant {7000 + id}", name, f"student{id}@uni.example", "", "", "10.00"])
    return table(rows)


def folders():
    files = []
    for name, id, handed_in, *_ in STUDENTS:
        for file, data in handed_in if handed_in != "text" else [("notes.txt", "sorry")]:
            files.append((f"class/student{id}/{file}", data))
    files.append(("class/student140/kernel.cu", Link("../student101/kernel.cu")))
    files.append(("class/student141/../../escape/kernel.cu", SOLUTION))
    return zipped(files)


POLICY = """# What the worked class is worth.
[points]
05 = 10

[weights.default]
correct = 0.5

[late]
grace_minutes = 30
per_day = 0.1
most_days = 3

[late.due]
05 = 2026-12-01T23:59:00Z

[late.extension]
# Canvas' and Moodle's id, or Gradescope's student number.
114 = 2
"""


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name, data in [
        ("canvas.zip", canvas()),
        ("gradebook.csv", gradebook()),
        ("gradescope.zip", gradescope()),
        ("moodle.zip", moodle()),
        ("worksheet.csv", worksheet()),
        ("folders.zip", folders()),
        ("policy.toml", POLICY),
    ]:
        (OUT / name).write_bytes(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main()
