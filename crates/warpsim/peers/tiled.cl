// The kernel of `tests/ptx/tiled.ptx` in OpenCL C: a 16 x 16 tile of c = a b per work-group, n a multiple of 16.
#define TILE 16

kernel void tiled(global const float *a, global const float *b, global float *c, int n) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = get_group_id(1) * TILE + y, column = get_group_id(0) * TILE + x;
    float sum = 0;
    for (int tile = 0; tile < n / TILE; ++tile) {
        a_tile[y][x] = a[row * n + tile * TILE + x];
        b_tile[y][x] = b[(tile * TILE + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k)
            sum += a_tile[y][k] * b_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
