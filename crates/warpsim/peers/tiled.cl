// The kernel of `tests/ptx/tiled.cu`, line by line, in OpenCL C.
#define TILE 16

kernel void tiled(global const float *a, global const float *b, global float *c, int m, int n, int k) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_group_id(1) * TILE + y, col = get_group_id(0) * TILE + x;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        const int ka = start + x, kb = start + y;
        tile_a[y][x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tile_b[y][x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; ++i)
            sum += tile_a[y][i] * tile_b[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
