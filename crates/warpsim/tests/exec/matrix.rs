//! Matrix instructions against plain sums of products, with fragments laid out as the PTX manual says.

use half::{bf16, f16};
use warpsim::{BufferId, FaultKind, Outcome};

use super::support::{Run, by_hand, errors};

const MATRIX: &str = include_str!("../kernels/matrix.ptx");

/// Small integers, so that sums are exact in every format and order.
fn small(i: usize) -> f64 {
    (i * 37 % 11) as f64 - 5.0
}

/// A kernel of one warp: loads fragments, multiplies, stores the result. Registers of a lane lie one after another.
fn multiplying(name: &str, [d, a, b, c]: [usize; 4]) -> String {
    let list = |stem: &str, n: usize| (0..n).map(|i| format!("%{stem}{i}")).collect::<Vec<_>>().join(", ");
    let load = |stem: &str, n: usize, from: &str| -> String {
        let one = |i| format!("ld.global.b32 %{stem}{i}, [%at+{}];\n", 4 * i);
        let lanes: String = (0..n).map(one).collect();
        format!("ld.param.u64 %at, [{from}]; mad.wide.u32 %at, %t, {}, %at;\n{lanes}", 4 * n)
    };
    let stores: String = (0..d).map(|i| format!("st.global.b32 [%at+{}], %d{i};\n", 4 * i)).collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{
.reg .b64 %at; .reg .b32 %t, %a<8>, %b<8>, %c<8>, %d<8>;
mov.u32 %t, %tid.x;
{}{}{}{name} {{{}}}, {{{}}}, {{{}}}, {{{}}};
ld.param.u64 %at, [pd]; mad.wide.u32 %at, %t, {}, %at;
{stores}ret; }}",
        load("a", a, "pa"),
        load("b", b, "pb"),
        load("c", c, "pc"),
        list("d", d),
        list("a", a),
        list("b", b),
        list("c", c),
        4 * d,
    )
}

/// The registers of all lanes: `element(lane, register, e)` gives the bits of the `per` elements of each.
fn registers(count: usize, per: usize, element: impl Fn(usize, usize, usize) -> u32) -> Vec<i32> {
    let bits = 32 / per;
    let one = |lane, register| {
        (0..per).fold(0u32, |word, e| word | element(lane, register, e) << (bits * e)) as i32
    };
    (0..32)
        .flat_map(|lane| (0..count).map(move |register| (lane, register)))
        .map(|(l, r)| one(l, r))
        .collect()
}

/// `mma.m16n8kK`: runs it, and compares with the plain product.
fn m16n8(types: &str, depth: usize, per: usize, encode: impl Fn(f64) -> u32) {
    let (unit, half_result) = (4 * per, types.starts_with("f16"));
    let blocks = depth / unit;
    let a = |row: usize, k: usize| small(row * depth + k);
    let b = |k: usize, column: usize| small(1000 + k * 8 + column);
    let c = |row: usize, column: usize| small(77 + row * 8 + column);
    let name = format!("mma.sync.aligned.m16n8k{depth}.row.col.{types}");
    let sums = if half_result { 2 } else { 4 };
    let mut run = Run::new(&multiplying(&name, [sums, 2 * blocks, blocks, sums]), "k", 1, 32);
    run.words(registers(2 * blocks, per, |lane, r, e| {
        encode(a(lane / 4 + 8 * (r % 2), per * (lane % 4) + e + unit * (r / 2)))
    }));
    run.words(registers(blocks, per, |lane, r, e| encode(b(per * (lane % 4) + e + unit * r, lane / 4))));
    let place = |lane: usize, r: usize, e: usize| match half_result {
        true => (lane / 4 + 8 * r, 2 * (lane % 4) + e),
        false => (lane / 4 + 8 * (r / 2), 2 * (lane % 4) + r % 2),
    };
    let sum_bits = |x: f64| match types.split('.').next() {
        Some("f16") => u32::from(f16::from_f64(x).to_bits()),
        Some("s32") => x as i32 as u32,
        _ => (x as f32).to_bits(),
    };
    let per_sum = if half_result { 2 } else { 1 };
    run.words(registers(sums, per_sum, |lane, r, e| {
        let (row, column) = place(lane, r, e);
        sum_bits(c(row, column))
    }));
    let d = run.room(32 * sums);
    run.clean();
    let expected = registers(sums, per_sum, |lane, r, e| {
        let (row, column) = place(lane, r, e);
        sum_bits((0..depth).map(|k| a(row, k) * b(k, column)).sum::<f64>() + c(row, column))
    });
    assert_eq!(run.ints(d), expected, "{name}");
}

#[test]
fn mma_is_the_product_of_two_matrices() {
    let half = |x| u32::from(f16::from_f64(x).to_bits());
    let bfloat = |x| u32::from(bf16::from_f64(x).to_bits());
    let single = |x: f64| (x as f32).to_bits();
    m16n8("f32.f16.f16.f32", 8, 2, half);
    m16n8("f32.f16.f16.f32", 16, 2, half);
    m16n8("f16.f16.f16.f16", 16, 2, half);
    m16n8("f32.bf16.bf16.f32", 8, 2, bfloat);
    m16n8("f32.bf16.bf16.f32", 16, 2, bfloat);
    m16n8("f32.tf32.tf32.f32", 4, 1, single);
    m16n8("f32.tf32.tf32.f32", 8, 1, single);
    m16n8("s32.s8.s8.s32", 16, 4, |x| u32::from(x as i8 as u8));
    m16n8("s32.s8.s8.s32", 32, 4, |x| u32::from(x as i8 as u8));
}

#[test]
fn quad_pairs_multiply_matrices_of_their_own() {
    let half = |x| u32::from(f16::from_f64(x).to_bits());
    for (a_layout, b_layout) in [("row", "col"), ("col", "row"), ("row", "row"), ("col", "col")] {
        for (ty, is_single) in [("f32", true), ("f16", false)] {
            let a = |quad: usize, row: usize, k: usize| small(200 * quad + 4 * row + k);
            let b = |quad: usize, k: usize, column: usize| small(99 + 300 * quad + 8 * k + column);
            let c = |quad: usize, row: usize, column: usize| small(7 + 500 * quad + 8 * row + column);
            let quad = |lane: usize| lane % 16 / 4;
            let upper = |lane: usize| lane / 16;
            let name = format!("mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{ty}.f16.f16.{ty}");
            let (sums, per) = if is_single { (8, 1) } else { (4, 2) };
            let mut run = Run::new(&multiplying(&name, [sums, 2, 2, sums]), "k", 1, 32);
            run.words(registers(2, 2, |lane, r, e| {
                let (i, p) = (2 * r + e, lane % 4);
                let (row, k) = if a_layout == "row" { (p, i) } else { (i, p) };
                half(a(quad(lane), row + 4 * upper(lane), k))
            }));
            run.words(registers(2, 2, |lane, r, e| {
                let (i, p) = (2 * r + e, lane % 4);
                let (k, column) = if b_layout == "row" { (p, i) } else { (i, p) };
                half(b(quad(lane), k, column + 4 * upper(lane)))
            }));
            let place = |lane: usize, r: usize, e: usize| match is_single {
                true => ((lane & 1) + (r & 2) + 4 * upper(lane), (r & 4) + (lane & 2) + (r & 1)),
                false => (lane % 4 + 4 * upper(lane), 2 * r + e),
            };
            let bits = |x: f64| if is_single { (x as f32).to_bits() } else { half(x) };
            run.words(registers(sums, per, |lane, r, e| {
                let (row, column) = place(lane, r, e);
                bits(c(quad(lane), row, column))
            }));
            let d = run.room(32 * sums);
            run.clean();
            let expected = registers(sums, per, |lane, r, e| {
                let ((row, column), q) = (place(lane, r, e), quad(lane));
                bits((0..4).map(|k| a(q, row, k) * b(q, k, column)).sum::<f64>() + c(q, row, column))
            });
            assert_eq!(run.ints(d), expected, "{name}");
        }
    }
}

/// A buffer with a matrix of `rows` x `columns` in it, each row (or column) `stride` elements from the next.
fn matrix(
    run: &mut Run,
    [rows, columns, stride]: [usize; 3],
    by_rows: bool,
    bytes: usize,
    element: impl Fn(usize, usize) -> u64,
) -> BufferId {
    let mut data = vec![0xcc; stride * bytes * if by_rows { rows } else { columns }];
    for row in 0..rows {
        for column in 0..columns {
            let at = bytes * if by_rows { row * stride + column } else { column * stride + row };
            data[at..at + bytes].copy_from_slice(&element(row, column).to_le_bytes()[..bytes]);
        }
    }
    run.bytes(data)
}

/// Bits of an element of a type, and how many bytes.
type Encode = (usize, fn(f64) -> u64);
const HALF: Encode = (2, |x| u64::from(f16::from_f64(x).to_bits()));
const BFLOAT: Encode = (2, |x| u64::from(bf16::from_f64(x).to_bits()));
const SINGLE: Encode = (4, |x| u64::from((x as f32).to_bits()));
const DOUBLE: Encode = (8, |x| x.to_bits());
const BYTE: Encode = (1, |x| u64::from(x as i8 as u8));
const WORD: Encode = (4, |x| u64::from(x as i32 as u32));

/// A kernel; M, N and K; whether A, B and C lie by rows; the types of A and B, and of C.
type Case = (&'static str, [usize; 3], [bool; 3], Encode, Encode);

#[test]
fn wmma_loads_multiplies_and_stores() {
    let cases: [Case; 12] = [
        ("half_row_col", [16, 16, 16], [true, false, true], HALF, SINGLE),
        ("half_col_row", [16, 16, 16], [false, true, false], HALF, SINGLE),
        ("half_tall", [32, 8, 16], [true, true, true], HALF, SINGLE),
        ("half_wide", [8, 32, 16], [false, false, true], HALF, SINGLE),
        ("half_in_half", [16, 16, 16], [true, true, true], HALF, HALF),
        ("half_in_half_tall", [32, 8, 16], [false, true, false], HALF, HALF),
        ("bfloat", [16, 16, 16], [true, false, false], BFLOAT, SINGLE),
        ("bfloat_wide", [8, 32, 16], [true, true, true], BFLOAT, SINGLE),
        ("bytes", [16, 16, 16], [true, false, true], BYTE, WORD),
        ("bytes_tall", [32, 8, 16], [false, true, true], BYTE, WORD),
        ("doubles", [8, 8, 4], [true, false, true], DOUBLE, DOUBLE),
        ("doubles_across", [8, 8, 4], [false, true, false], DOUBLE, DOUBLE),
    ];
    let a = |row: usize, k: usize| small(row * 16 + k);
    let b = |k: usize, column: usize| small(1000 + k * 40 + column);
    let c = |row: usize, column: usize| small(77 + row * 40 + column);
    for (kernel, [m, n, k], [a_rows, b_rows, c_rows], factor, sum) in cases {
        let mut run = Run::new(MATRIX, kernel, 1, 32);
        let extent = |rows, columns, by_rows: bool| if by_rows { columns } else { rows };
        // Strides that are longer than the rows.
        let strides = [extent(m, k, a_rows) + 16, extent(k, n, b_rows) + 32, extent(m, n, c_rows) + 8];
        matrix(&mut run, [m, k, strides[0]], a_rows, factor.0, |r, i| factor.1(a(r, i)));
        matrix(&mut run, [k, n, strides[1]], b_rows, factor.0, |i, j| factor.1(b(i, j)));
        let out = matrix(&mut run, [m, n, strides[2]], c_rows, sum.0, |r, j| sum.1(c(r, j)));
        strides.iter().for_each(|&stride| run.arg(stride as i32));
        run.clean();
        let product = |r, j| (0..k).map(|i| a(r, i) * b(i, j)).sum::<f64>();
        let mut other = Run::new(MATRIX, kernel, 1, 32);
        let expected = matrix(&mut other, [m, n, strides[2]], c_rows, sum.0, |r, j| {
            sum.1(2.0 * product(r, j) + c(r, j))
        });
        assert_eq!(run.device.read(out), other.device.read(expected), "{kernel}");
    }
}

#[test]
fn wmma_in_tf32_and_through_shared_memory() {
    let mut run = Run::new(MATRIX, "tf32", 1, 32);
    matrix(&mut run, [16, 8, 8], true, 4, |r, i| SINGLE.1(small(r * 8 + i)));
    matrix(&mut run, [8, 16, 8], false, 4, |i, j| SINGLE.1(small(500 + i * 16 + j)));
    let out = matrix(&mut run, [16, 16, 16], true, 4, |r, j| SINGLE.1(small(3 + r * 16 + j)));
    [8i32, 8, 16].into_iter().for_each(|stride| run.arg(stride));
    run.clean();
    let one = |r: usize, j: usize| {
        (0..8).map(|i| 2.0 * small(r * 8 + i) * small(500 + i * 16 + j)).sum::<f64>() + small(3 + r * 16 + j)
    };
    let expected: Vec<i32> = (0..256).map(|i| (one(i / 16, i % 16) as f32).to_bits() as i32).collect();
    assert_eq!(run.ints(out), expected);

    let mut run = Run::new(MATRIX, "staged", 1, 64);
    matrix(&mut run, [16, 16, 16], true, 2, |r, i| HALF.1(small(r * 16 + i)));
    matrix(&mut run, [16, 16, 16], true, 2, |i, j| HALF.1(small(500 + i * 16 + j)));
    let out = run.room(256);
    let report = run.clean();
    let one = |r: usize, j: usize| {
        2.0 * (0..16).map(|i| small(r * 16 + i) * small(500 + i * 16 + j)).sum::<f64>() + 1.0
    };
    let expected: Vec<i32> = (0..256).map(|i| (one(i / 16, i % 16) as f32).to_bits() as i32).collect();
    assert_eq!(run.ints(out), expected);
    // Two warps load two tiles of 512 bytes, 128 bytes a request.
    assert_eq!(report.counters.shared_load_requests, 2 * 2 * 4 + 16);
}

#[test]
fn wmma_outside_a_buffer_or_of_nothing_is_told() {
    let mut run = Run::new(MATRIX, "half_row_col", 1, 32);
    run.bytes(vec![0; 2 * 16 * 15]);
    run.bytes(vec![0; 2 * 16 * 16]);
    run.room(256);
    [16i32, 16, 16].into_iter().for_each(|stride| run.arg(stride));
    let found = errors(&run.run());
    assert_eq!(found, [FaultKind::OutOfBounds, FaultKind::UninitializedRead]);
}

#[test]
fn fragments_of_the_wrong_size_are_refused() {
    for body in [
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2}, [%out], %r3;",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
    ] {
        let error = super::support::lower(&by_hand(body), "k").unwrap_err().to_string();
        assert!(error.contains("registers and needs"), "{error}");
    }
    for body in [
        "wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r1}, [%out], %r3;",
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%out], %r3;",
        "wmma.store.a.sync.aligned.row.m16n16k16.global.f32 [%out], {%r1}, %r3;",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.s32 {%r1}, {%r1}, {%r1}, {%r1};",
        "wmma.load; ",
    ] {
        let error = super::support::lower(&by_hand(body), "k").unwrap_err().to_string();
        assert!(error.contains("unsupported"), "{error}");
    }
}

/// Shared memory holds 32 rows of 8 halves; row `r` holds 8r, 8r+1, ... The rows are named in another order.
fn ldmatrix(count: usize, transposed: bool) {
    let trans = if transposed { ".trans" } else { "" };
    let list: Vec<String> = (0..count).map(|i| format!("%r{}", i + 3)).collect();
    let stores: String =
        (0..count).map(|i| format!("st.global.b32 [%rd1+{}], %r{};\n", 4 * i, i + 3)).collect();
    let body = format!(
        ".shared .align 16 .b8 rows[512];
        mov.u32 %r1, rows; shl.b32 %r2, %t, 4; add.u32 %r1, %r1, %r2;
        shl.b32 %r2, %t, 3; mad.lo.u32 %r2, %r2, 65537, 65536;
        st.shared.b32 [%r1], %r2; add.u32 %r2, %r2, 131074; st.shared.b32 [%r1+4], %r2;
        add.u32 %r2, %r2, 131074; st.shared.b32 [%r1+8], %r2; add.u32 %r2, %r2, 131074; st.shared.b32 [%r1+12], %r2;
        bar.sync 0;
        mad.lo.u32 %r2, %t, 5, 3; and.b32 %r2, %r2, 31; shl.b32 %r2, %r2, 4; mov.u32 %r1, rows; add.u32 %r1, %r1, %r2;
        ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, [%r1];
        mad.wide.u32 %rd1, %t, {}, %out;
        {stores}",
        list.join(", "),
        4 * count
    );
    let mut run = Run::new(&by_hand(&body), "k", 1, 32);
    let out = run.room(32 * count);
    run.clean();
    let element = |matrix: usize, row: usize, column: usize| ((8 * matrix + row) * 5 + 3) % 32 * 8 + column;
    let expected = registers(count, 2, |lane, matrix, e| {
        let (row, column) = (lane / 4, 2 * (lane % 4) + e);
        (if transposed { element(matrix, column, row) } else { element(matrix, row, column) }) as u32
    });
    assert_eq!(run.ints(out), expected, "x{count}{trans}");
}

#[test]
fn ldmatrix_hands_out_rows_and_columns() {
    for count in [1, 2, 4] {
        ldmatrix(count, false);
        ldmatrix(count, true);
    }
}

/// How a kernel of `threads` threads ends that executes `body`, with `%lane` the thread's index and `%low` whether that is
/// less than 16.
fn in_part(threads: u32, body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 rows[512];
.visible .entry k() {{
.reg .pred %low;
.reg .b32 %lane, %at, %a, %b, %c;
mov.u32 %lane, %tid.x;
setp.lt.u32 %low, %lane, 16;
shl.b32 %at, %lane, 2;
mov.u32 %a, 0;
mov.u32 %b, 0;
mov.u32 %c, rows;
add.u32 %at, %at, %c;
st.shared.u32 [%at], %a;
bar.sync 0;
{body}
ret;
}}"
    );
    let report = Run::new(&text, "k", 1, threads).run();
    assert_eq!(report.outcome, Outcome::Completed);
    report.faults.iter().map(|fault| format!("{:?}: {fault}", fault.kind)).collect()
}

const MMA: &str = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%a, %b}, {%a, %b}, {%a}, {%a, %b};";
const LDMATRIX: &str = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b}, [%c];";
const STORE: &str =
    "mov.u32 %lane, 8; wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%c], {%a, %a, %a, %a}, %lane;";

#[test]
fn a_matrix_instruction_is_for_whole_warps() {
    for instruction in [MMA, LDMATRIX] {
        for body in [
            format!("@%low {instruction}"),
            format!("@!%low bra END;\n{instruction}\nEND:"),
            format!("@%low ret;\n{instruction}"),
        ] {
            let told = in_part(64, &body);
            assert_eq!(told.len(), 1, "{body}: {told:?}");
            assert!(
                told[0].starts_with("BarrierDivergence: only 16 of the 32 threads of a warp in block"),
                "{told:?}"
            );
        }
        // 48 threads are a warp and a half.
        assert_eq!(in_part(48, instruction).len(), 1);
        assert_eq!(in_part(64, instruction), Vec::<String>::new());
    }
    let told = in_part(32, &format!("@%low bra END;\n{STORE}\nEND:"));
    assert!(told.iter().any(|told| told.contains("only 16 of the 32 threads")), "{told:?}");
}

#[test]
fn lanes_that_part_before_a_matrix_instruction_meet_at_it() {
    let body =
        format!("@%low bra LOW;\nadd.u32 %a, %a, 0;\nbra BOTH;\nLOW:\nadd.u32 %b, %b, 0;\nBOTH:\n{MMA}");
    assert_eq!(in_part(64, &body), Vec::<String>::new());
    // Even where nothing but the instruction tells them to: they get there by ways of different length.
    let body = format!(
        "mov.u32 %c, %lane;\nAGAIN:\nsub.s32 %c, %c, 1;\nsetp.ge.s32 %low, %c, 0;\n@%low bra AGAIN;\n{MMA}"
    );
    assert_eq!(in_part(32, &body), Vec::<String>::new());
}
