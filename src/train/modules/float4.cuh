#pragma once

/// Four floats of a row at a time.
namespace spectra::train::cuda {

__device__ inline float sum(float4 a) {
    return (a.x + a.y) + (a.z + a.w);
}
__device__ inline float4 operator*(float4 a, float4 b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
__device__ inline float4 operator*(float a, float4 b) {
    return {a * b.x, a * b.y, a * b.z, a * b.w};
}
__device__ inline float4 operator-(float4 a, float b) {
    return {a.x - b, a.y - b, a.z - b, a.w - b};
}
__device__ inline float4 operator-(float4 a, float4 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
__device__ inline float4 operator+(float4 a, float4 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

}  // namespace spectra::train::cuda
