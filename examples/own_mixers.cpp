// Your own mixer families: a mixer is any n×n matrix, so a family needs no registration. Two are built by
// hand here, ten layers of each: the Hadamard matrix over 2, which is orthogonal, and a circular convolution
// with the kernel (1/4, 1/2, 1/4), which averages neighbouring streams.
//
// Prints how far each mixer is from orthogonal, and the metrics of its network. What to check:
//   - Hadamard: defect 0, and the mean square is (1 + σ²)^L = 1.051140, that of every orthogonal mixer.
//   - Convolution: its singular values are 1, 1/2, 1/2 and 0. Ten layers leave one direction of four, so
//     three quarters of the singular values collapse.

#include <jacobian_spectra/dyson/law/theory.hpp>
#include <jacobian_spectra/mixers/defects.hpp>
#include <jacobian_spectra/network/network.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// Sylvester's construction, n a power of two.
spectra::Mixer hadamard(int n) {
    spectra::Mixer h = spectra::Mixer::Ones(1, 1);
    while (h.rows() < n) {
        spectra::Mixer doubled(2 * h.rows(), 2 * h.rows());
        doubled << h, h, h, -h;
        h = doubled;
    }
    return h / std::sqrt(static_cast<double>(n));
}

spectra::Mixer convolution(int n) {
    spectra::Mixer a = spectra::Mixer::Zero(n, n);
    for (int i = 0; i < n; ++i) {
        a(i, i) += 0.5;
        a(i, (i + 1) % n) += 0.25;
        a(i, (i + n - 1) % n) += 0.25;
    }
    return a;
}

bool report(const char* name, const spectra::Mixer& mixer) {
    const int depth = 10;
    const double noise = 0.05;
    spectra::Network network;
    network.streams = static_cast<int>(mixer.rows());
    network.mixers = std::vector<spectra::Mixer>(depth, mixer);
    network.branch = spectra::IsotropicBranch{std::vector<double>(depth, noise / depth)};
    network.mixer_name = name;
    spectra::check(network);

    const auto theory = spectra::dyson::solve(network, spectra::dyson::Method::operator_valued);
    const spectra::Metrics metrics = theory.law.metrics();
    std::printf("%-12s defect %.1e  mean square %.6f  in [0.75, 1.25] %.4f  below 0.1 %.4f  %s\n", name,
                spectra::mixers::orthogonality_defect(mixer), metrics.mean_square, metrics.window,
                metrics.collapsed, theory.summary.message.c_str());
    return theory.summary.certified;
}

}  // namespace

int main() {
    const bool first = report("hadamard", hadamard(4));
    const bool second = report("convolution", convolution(4));
    return first && second ? 0 : 1;
}
