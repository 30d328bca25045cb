// Your own branch: any set of singular values, in place of Gaussian entries. Here a branch X of low rank:
// three quarters of its singular values are 0 and one quarter are t. One layer with the mixer I is Y = 1 + X.
//
// Prints the law of Y beside that of a Gaussian branch of the same variance σ² = t²/4. What to check:
//   - The mean square is 1 + σ² for both.
//   - E s⁴ = 1 + 4σ² + m, where m is the mean fourth power of the branch's own singular values: t⁴/4 here,
//     2σ⁴ for a Gaussian branch.
//   - X and Xᵀ vanish together on half of all directions, so half of the singular values of Y are exactly 1:
//     an atom. The Gaussian branch has none.

#include <jacobian_spectra/dyson/law/theory.hpp>
#include <jacobian_spectra/network/network.hpp>

#include <cmath>
#include <cstdio>

namespace {

bool report(const char* name, const spectra::IsotropicBranch& branch, double variance, double fourth) {
    spectra::Network network;
    network.streams = 2;
    network.mixers = {spectra::Mixer::Identity(2, 2)};
    network.branch = branch;
    spectra::check(network);

    const auto theory = spectra::dyson::solve(network, spectra::dyson::Method::operator_valued);
    const spectra::dyson::Summary& summary = theory.summary;
    std::printf("%s: %s\n", name, summary.message.c_str());
    std::printf("  mean square  %.6f, by hand %.6f\n", summary.mean_square, 1 + variance);
    std::printf("  mean fourth  %.6f, by hand %.6f\n", summary.mean_fourth, 1 + 4 * variance + fourth);
    for (const auto& atom : theory.law.density().atoms)  // places are in ln s
        std::printf("  atom of mass %.6f at s = %.6f\n", atom.mass, std::exp(atom.log_place));
    return summary.certified;
}

}  // namespace

int main() {
    const double t = 0.6, variance = t * t / 4;

    // One set of singular values serves all layers. Its length does not matter: three zeros and one t mean
    // shares of 3/4 and 1/4 at any width. sigma2 follows from it.
    spectra::IsotropicBranch low_rank;
    low_rank.law = {{0, 0, 0, t}};
    spectra::IsotropicBranch gaussian;
    gaussian.sigma2 = {variance};

    const bool first = report("low rank", low_rank, variance, std::pow(t, 4) / 4);
    const bool second = report("gaussian", gaussian, variance, 2 * variance * variance);
    return first && second ? 0 : 1;
}
