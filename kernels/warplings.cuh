// How a kernel tells the checker to launch it. The macros only declare constants; they cost nothing at run time, and a
// file that uses them also compiles with nvcc and reads well in an editor.
//
//   LAUNCH(block_x, block_y, block_z, work_x, work_y, work_z);
//       A block has block_x * block_y * block_z threads and makes work_x * work_y * work_z elements of the output.
//       The checker launches ceil(output / work) blocks. x counts columns, y rows.
//   LAUNCH_YX(...);
//       The same with x counting rows and y columns.
//   BLOCK_SHAPE(x, y, z);  GRID(x, y, z);
//       Instead of LAUNCH: threads per block, and blocks outright, whatever the size of the problem.
//   SHARED(bytes);
//       Besides: this much dynamic shared memory per block (extern __shared__).
#pragma once

#define LAUNCH(block_x, block_y, block_z, work_x, work_y, work_z) \
    WARPLINGS_COVER(block_x, block_y, block_z, work_x, work_y, work_z, 0)

#define LAUNCH_YX(block_x, block_y, block_z, work_x, work_y, work_z) \
    WARPLINGS_COVER(block_x, block_y, block_z, work_x, work_y, work_z, 1)

#define BLOCK_SHAPE(x, y, z)                      \
    WARPLINGS_CONSTANT(block) = {(x), (y), (z)};  \
    WARPLINGS_ASSERT_BLOCK("BLOCK_SHAPE", x, y, z)

#define GRID(x, y, z)                            \
    WARPLINGS_CONSTANT(grid) = {(x), (y), (z)};  \
    static_assert((x) >= 1 && (y) >= 1 && (z) >= 1, "GRID: a grid has at least 1 block in x, y and z"); \
    static_assert((y) <= 65535 && (z) <= 65535, "GRID: a grid has at most 65,535 blocks in y and z")

#define SHARED(bytes)                       \
    WARPLINGS_CONSTANT(shared) = {(bytes)}; \
    static_assert((bytes) >= 0 && (bytes) <= 163 * 1024, "SHARED: a block has at most 163 KB of shared memory")

// Everything below is the macros' own.

#define WARPLINGS_COVER(block_x, block_y, block_z, work_x, work_y, work_z, swapped)                             \
    WARPLINGS_CONSTANT(launch) = {(block_x), (block_y), (block_z), (work_x), (work_y), (work_z), swapped};      \
    WARPLINGS_ASSERT_BLOCK("LAUNCH", block_x, block_y, block_z);                                                \
    static_assert((work_x) >= 1 && (work_y) >= 1 && (work_z) >= 1,                                              \
                  "LAUNCH: a block makes at least 1 element of the output in x, y and z")

// The product is taken in 64 bits: 65536 * 65536 must not wrap round to something legal.
#define WARPLINGS_ASSERT_BLOCK(name, x, y, z)                                                                   \
    static_assert((x) >= 1 && (y) >= 1 && (z) >= 1, name ": a block has at least 1 thread in x, y and z");      \
    static_assert((z) <= 64, name ": a block has at most 64 threads in z");                                     \
    static_assert((long long)(x) * (y) * (z) <= 1024,                                                           \
                  name ": a block has at most 1,024 threads, and x * y * z of this one is more")

// The line is part of the name, so that two LAUNCHes in a file can be told apart and pointed at.
#define WARPLINGS_CONSTANT(kind) WARPLINGS_NAMED(kind, __LINE__)
#define WARPLINGS_NAMED(kind, line) WARPLINGS_PASTED(kind, line)
#define WARPLINGS_PASTED(kind, line) extern "C" __constant__ const int warplings_##kind##_##line[]
