// A switch, loops, local arrays, early exits.
extern "C" __global__ void control(int* out, int n) {
    int i = threadIdx.x, local[16];
    for (int k = 0; k < 16; k++) local[k] = out[k] * k;
    int r = 0;
    switch (n) {
        case 0: r = local[i & 15]; break;
        case 1: r = __popc(i); break;
        case 2: r = __brev(i) + local[n + i]; out[i + 1] = r; break;
        case 3: r = i / 3; out[i + 2] = local[r & 15]; break;
        case 4: r = __clz(i); out[4] = 1; break;
        case 5: r = __ffs(i); atomicAdd(out, 3); break;
        case 6: r = i % n; __syncthreads(); break;
        case 7: return;
        case 8: r = __byte_perm(i, n, 0x3210); __threadfence(); break;
        case 9: r = __funnelshift_l(i, n, 3); break;
        default: r = -1;
    }
    local[r & 15] = r;
    #pragma unroll 1
    while (r > 3) { r -= local[r & 15]; if (r == 77) break; }
    out[i] = r + local[(r + 1) & 15];
}
