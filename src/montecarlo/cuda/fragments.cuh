#pragma once

// Products of small matrices by a warp on tensor cores. Included by kernels only.

namespace spectra::montecarlo::cuda {

/// d += a b, of 16×8 by 8×8. Lane 4 g + m has a(g, m), a(g+8, m), a(g, m+4), a(g+8, m+4); b(m, g), b(m+4, g);
/// d(g, 2m), d(g, 2m+1), d(g+8, 2m), d(g+8, 2m+1).
__device__ inline void multiply_add(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
    for (int q = 0; q < 4; ++q)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(d[q % 2 * 2]), "+d"(d[q % 2 * 2 + 1])
            : "d"(a[q]), "d"(b[q / 2]));
#endif
}

__device__ inline unsigned leading_bits(float x) {
    unsigned out = 0;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
    return out;
}

__device__ inline void multiply_add_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Of single precision, from three products of leading and remaining bits. The unit truncates its sums, so d is
/// added outside.
__device__ inline void multiply_add(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
    unsigned a_lead[4], a_rest[4], b_lead[2], b_rest[2];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
        a_lead[q] = leading_bits(a[q]);
        a_rest[q] = leading_bits(a[q] - __uint_as_float(a_lead[q]));
    }
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        b_lead[q] = leading_bits(b[q]);
        b_rest[q] = leading_bits(b[q] - __uint_as_float(b_lead[q]));
    }
    float small[4] = {}, sum[4] = {};
    multiply_add_tf32(small, a_rest, b_lead);
    multiply_add_tf32(small, a_lead, b_rest);
    multiply_add_tf32(sum, a_lead, b_lead);
#pragma unroll
    for (int q = 0; q < 4; ++q) d[q] += sum[q] + small[q];
}

}  // namespace spectra::montecarlo::cuda
