//! The reference product, in double precision, and fast: at the sizes that are timed on a GPU it is the longest part of a
//! judgement.
//!
//! The usual scheme (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34, 2008): B is
//! packed into panels of a few columns, A into strips of a few rows, and the innermost loop makes a small block of C in
//! registers. Chunks of rows go to the cores.

use rayon::prelude::*;

use crate::problem::Size;

/// Rows of a strip and columns of a panel: a 4 x 8 block of C is eight AVX2 registers.
const STRIP: usize = 4;
const PANEL: usize = 8;

/// Rows of C per task, so that a panel stays in the cache while it is used for all of them.
const CHUNK: usize = 64;

/// A (M x K) times B (K x N), row-major.
pub(super) fn product(a: &[f32], b: &[f32], [m, n, k]: Size) -> Vec<f64> {
    let panels = pack_panels(b, n, k);
    let multiply = select();
    let mut c = vec![0.0; m * n];
    c.par_chunks_mut(CHUNK * n).zip(a.par_chunks(CHUNK * k)).for_each(|(c, a)| {
        let strips = pack_strips(a, k);
        for (p, panel) in panels.chunks_exact(k * PANEL).enumerate() {
            for (s, strip) in strips.chunks_exact(k * STRIP).enumerate() {
                let block = multiply(strip, panel);
                let columns = p * PANEL..n.min((p + 1) * PANEL);
                for (row, block) in c.chunks_exact_mut(n).skip(s * STRIP).zip(&block) {
                    row[columns.clone()].copy_from_slice(&block[..columns.len()]);
                }
            }
        }
    });
    c
}

/// B by panels: for each, PANEL elements of every row, with zeros beyond the last column.
fn pack_panels(b: &[f32], n: usize, k: usize) -> Vec<f64> {
    let mut panels = vec![0.0; n.div_ceil(PANEL) * k * PANEL];
    panels.par_chunks_exact_mut(k * PANEL).enumerate().for_each(|(p, panel)| {
        let columns = p * PANEL..n.min((p + 1) * PANEL);
        for (packed, row) in panel.chunks_exact_mut(PANEL).zip(b.chunks_exact(n)) {
            packed.iter_mut().zip(&row[columns.clone()]).for_each(|(to, from)| *to = f64::from(*from));
        }
    });
    panels
}

/// Rows of A by strips: for each, STRIP elements of every column, with zeros below the last row.
fn pack_strips(a: &[f32], k: usize) -> Vec<f64> {
    let rows = a.len() / k;
    let mut strips = vec![0.0; rows.div_ceil(STRIP) * k * STRIP];
    for (row, a) in a.chunks_exact(k).enumerate() {
        let strip = &mut strips[row / STRIP * k * STRIP..];
        a.iter().enumerate().for_each(|(i, from)| strip[i * STRIP + row % STRIP] = f64::from(*from));
    }
    strips
}

type Block = [[f64; PANEL]; STRIP];

/// The innermost loop for this machine.
fn select() -> fn(&[f64], &[f64]) -> Block {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[target_feature(enable = "avx2,fma")]
        fn fused(strip: &[f64], panel: &[f64]) -> Block {
            block(strip, panel, f64::mul_add)
        }
        // SAFETY: both features were found just now.
        return |strip, panel| unsafe { fused(strip, panel) };
    }
    |strip, panel| block(strip, panel, |a, b, sum| a * b + sum)
}

/// One block of C: a strip of A times a panel of B.
#[inline(always)]
fn block(strip: &[f64], panel: &[f64], multiply_add: impl Fn(f64, f64, f64) -> f64) -> Block {
    let mut sums = [[0.0; PANEL]; STRIP];
    for (a, b) in strip.chunks_exact(STRIP).zip(panel.chunks_exact(PANEL)) {
        for i in 0..STRIP {
            for j in 0..PANEL {
                sums[i][j] = multiply_add(a[i], b[j], sums[i][j]);
            }
        }
    }
    sums
}
