#include "train/modules/maps.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace spectra::train {
namespace {

using torch::Tensor;

double epsilon_of(const Tensor& x) {
    return x.scalar_type() == torch::kDouble ? std::numeric_limits<double>::epsilon()
                                             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

Tensor identity(const Tensor& like, int64_t n) {
    return torch::eye(n, like.options().requires_grad(false));
}

Tensor outer_product(const Tensor& a, const Tensor& b) {
    return a.unsqueeze(-1) * b.unsqueeze(-2);
}

Tensor inner_product(const Tensor& a, const Tensor& b) {
    return (a * b).sum(-1, true);
}

/// The largest |entry| over the last dimensions, 1 if all are 0: a divisor such that squares neither
/// overflow nor vanish. It has no gradient: only for results that do not depend on it.
Tensor scale_of(const Tensor& x, torch::IntArrayRef dimensions) {
    const Tensor largest = x.detach().abs().amax(dimensions, true);
    return torch::where(largest == 0, torch::ones_like(largest), largest);
}

/// Length and direction of x (…, n), the direction 0 (and the length 1) at x = 0.
std::pair<Tensor, Tensor> polar_form(const Tensor& x) {
    const Tensor scale = scale_of(x, {-1});
    const Tensor scaled = x / scale;  // some entry is ±1, or all are 0
    const Tensor length = inner_product(scaled, scaled).clamp_min(1).sqrt();
    return {scale * length, scaled / length};
}

/// x − 2e(eᵀx) for columns x of (…, n, p).
Tensor reflected(const Tensor& x, const Tensor& e) {
    return x - 2 * outer_product(e, torch::matmul(e.unsqueeze(-2), x).squeeze(-2));
}

/// The orthonormal factor of QR by Householder's reflections: orthonormal for any rank. Works on a whole
/// batch, while the library's QR on a GPU takes one matrix after another.
Tensor orthonormal_factor(Tensor a) {
    const torch::NoGradGuard no_graph;
    std::vector<Tensor> reflections;
    for (int64_t j = 0; j < a.size(-1); ++j) {
        Tensor x = a.select(-1, j).clone();
        x.narrow(-1, 0, j).zero_();
        Tensor head = x.select(-1, j);
        head += torch::where(head < 0, -x.norm(2, -1), x.norm(2, -1));
        reflections.push_back(polar_form(x).second);
        a = reflected(a, reflections.back());
    }
    Tensor q = torch::eye(a.size(-2), a.size(-1), a.options()).expand_as(a);
    for (auto e = reflections.rbegin(); e != reflections.rend(); ++e) q = reflected(q, *e);
    return q;
}

}  // namespace

Tensor unit(const Tensor& vectors) {
    return torch::nn::functional::normalize(vectors, torch::nn::functional::NormalizeFuncOptions().dim(-1));
}

Tensor helmert(int64_t n) {
    Tensor basis = torch::zeros({n, n - 1}, torch::kDouble);
    for (int64_t k = 1; k < n; ++k) {
        const auto count = static_cast<double>(k);
        const double length = std::sqrt(count * (count + 1));
        basis.select(1, k - 1).narrow(0, 0, k).fill_(1 / length);
        basis.select(1, k - 1).select(0, k).fill_(-count / length);
    }
    return basis;
}

Tensor cayley_iterative(const Tensor& skew, double step, int iterations) {
    const Tensor one = identity(skew, skew.size(-1));
    Tensor y = one + step * skew;
    for (int s = 0; s < iterations; ++s) y = one + torch::matmul(0.5 * step * skew, one + y);
    return y;
}

Tensor cayley_exact(const Tensor& skew) {
    const Tensor one = identity(skew, skew.size(-1));
    if (skew.size(-1) <= 3) {  // one plane at most: S³ = −t²S
        const Tensor square = skew.square().sum({-2, -1}, true) / 2;
        return one + 2 * (skew + torch::matmul(skew, skew)) / (1 + square);
    }
    // I − S is never singular, so no check, which on a GPU would wait for the result.
    const Tensor q = 2 * std::get<0>(torch::linalg_inv_ex(one - skew)) - one;
    const Tensor value = q.detach();
    Tensor polished = value;
    for (int step = 0; step < 2; ++step)
        polished = 0.5 * torch::matmul(polished, 3 * one - torch::matmul(polished.mT(), polished));
    return q + (polished - value);
}

Tensor cayley_rank2(const Tensor& u, const Tensor& v, const Tensor& beta) {
    const int64_t n = u.size(-1);
    // uvᵀ − vuᵀ = v(−u)ᵀ − (−u)vᵀ
    const Tensor swapped = v.detach().abs().amax(-1, true) > u.detach().abs().amax(-1, true);
    const Tensor a = torch::where(swapped, v, u);
    const Tensor b = torch::where(swapped, -u, v);
    const auto [length, e] = polar_form(a);
    Tensor rest = b - inner_product(e, b) * e;
    rest = rest - inner_product(e, rest) * e;  // once more: orthogonal to rounding, however close u and v
    // The rest of a parallel b is rounding: its value is set to zero, its gradient is correct.
    const Tensor bound = 4 * static_cast<double>(n) * epsilon_of(u) * b.detach().abs().amax(-1, true);
    const Tensor noise = rest.detach().abs().amax(-1, true) <= bound;
    rest = rest - torch::where(noise, rest, torch::zeros_like(rest)).detach();

    const Tensor p = (0.5 * beta.unsqueeze(-1) * length) * rest;
    const Tensor scale = p.detach().abs().amax(-1, true).clamp_min(1);
    const Tensor scaled = p / scale;
    const Tensor one = 1 / scale;
    const Tensor root = (one * one + inner_product(scaled, scaled)).sqrt();
    const Tensor q = scaled / root;
    const Tensor c = one / root;
    const Tensor turn = outer_product(c * e, q);
    return identity(u, n) -
           2 * (turn - turn.mT() + outer_product(inner_product(q, q) * e, e) + outer_product(q, q));
}

Tensor householder(const Tensor& k, const Tensor& beta) {
    const Tensor direction = polar_form(k).second;
    return identity(k, k.size(-1)) - beta.unsqueeze(-1).unsqueeze(-1) * outer_product(direction, direction);
}

Tensor projector(const Tensor& frames) {
    const Tensor g = frames / scale_of(frames, {-2, -1});
    const Tensor u = orthonormal_factor(g.detach());
    const double ridge = 4 * static_cast<double>(g.size(-2)) * epsilon_of(g);
    const Tensor gram = torch::matmul(g.mT(), g) + ridge * identity(g, g.size(-1));
    const Tensor damped = torch::matmul(g, torch::matmul(std::get<0>(torch::linalg_inv_ex(gram)), g.mT()));
    return damped + (torch::matmul(u, u.mT()) - damped.detach());
}

}  // namespace spectra::train
