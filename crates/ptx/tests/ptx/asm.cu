// Inline assembly: scopes, labels, vectors, predicates.
extern "C" __global__ void inline_assembly(unsigned* out, float* f, const float4* src) {
    unsigned x = threadIdx.x, y, lane;
    asm volatile("{\n\t.reg .pred p, q;\n\t.reg .u32 t<3>;\n\tsetp.lt.u32 p|q, %1, 5;\n\tmov.u32 t0, 0x10U;\n\t@p add.u32 t0, t0, (1<<4)+3;\n\t@!q mov.u32 t0, %%laneid;\n\tselp.u32 %0, t0, 077, p;\n}" : "=r"(y) : "r"(x));
    asm("mov.u32 %0, %%laneid; // a comment\n" : "=r"(lane));
    asm volatile("{ .reg .b32 a; L_in_%=: mov.b32 a, %0; /* block */ bra.uni L_out_%=; L_out_%=: }" :: "r"(x));
    float a, b, c, d;
    asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4+16];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(src));
    unsigned long long pair; asm("mov.b64 %0, {%1, %2};" : "=l"(pair) : "r"(x), "r"(y));
    out[x] = y + lane + (unsigned)pair; f[x] = a + b + c + d;
}
