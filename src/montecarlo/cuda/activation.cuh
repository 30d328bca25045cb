#pragma once

namespace spectra::montecarlo::cuda {

// ActivationKind of network/activation.hpp, which nvcc does not read; backend.cpp checks that they
// agree.
enum SlopeKind { linear, relu, leaky_relu, tanh_slope, hard_tanh, erf_slope, gelu, silu, bernoulli };

#ifdef __CUDACC__

// network/activation.cpp, on the device.

inline __device__ double derivative(int kind, double h) {
    switch (kind) {
        case relu:
            return h > 0 ? 1 : 0;
        case leaky_relu:
            return h > 0 ? 1 : 0.01;
        case tanh_slope: {
            const double c = cosh(h);
            return 1 / (c * c);
        }
        case hard_tanh:
            return fabs(h) <= 1 ? 1 : 0;
        case erf_slope:
            return 2 / sqrt(M_PI) * exp(-h * h);
        case gelu:
            return 0.5 * erfc(-h / M_SQRT2) + h * (exp(-0.5 * h * h) / sqrt(2 * M_PI));
        case silu:
            return (1 + h / (1 + exp(h))) / (1 + exp(-h));
        default:
            return 1;
    }
}

inline __device__ double value(int kind, double h) {
    switch (kind) {
        case relu:
            return fmax(h, 0.0);
        case leaky_relu:
            return h > 0 ? h : 0.01 * h;
        case tanh_slope:
            return tanh(h);
        case hard_tanh:
            return fmin(fmax(h, -1.0), 1.0);
        case erf_slope:
            return erf(h);
        case gelu:
            return h * (0.5 * erfc(-h / M_SQRT2));
        case silu:
            return h / (1 + exp(-h));
        default:
            return h;
    }
}

#endif

}  // namespace spectra::montecarlo::cuda
