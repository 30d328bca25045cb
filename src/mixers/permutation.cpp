#include "mixers/permutation.hpp"

#include "mixers/gaussian.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

namespace spectra::mixers {
namespace {

Permutation identity_permutation(int n) {
    Permutation p(static_cast<std::size_t>(n));
    std::iota(p.begin(), p.end(), 0);
    return p;
}

Permutation random_permutation(int n, random::Stream& stream) {
    Permutation p = identity_permutation(n);
    for (std::size_t i = p.size(); i > 1; --i) {
        const auto j = static_cast<std::size_t>(std::floor(stream.uniform() * static_cast<double>(i)));
        std::swap(p[i - 1], p[j < i ? j : i - 1]);
    }
    return p;
}

/// Streams i and i + 1 exchanged.
Permutation transposition(int n, std::size_t i) {
    Permutation p = identity_permutation(n);
    std::swap(p[i], p[i + 1]);
    return p;
}

Permutation cyclic_shift(int n, int shift) {
    Permutation p = identity_permutation(n);
    for (int& image : p) image = (image + shift) % n;
    return p;
}

/// Permutations up to a number of them, each once.
class DistinctList {
public:
    explicit DistinctList(std::size_t size) : size_(size) {}
    void add(Permutation p) {
        if (list_.size() < size_ && seen_.insert(p).second) list_.push_back(std::move(p));
    }
    /// With random ones up to that number.
    std::vector<Permutation> filled(int n, random::Stream& stream) {
        while (list_.size() < size_) add(random_permutation(n, stream));
        return list_;
    }

private:
    std::size_t size_;
    std::vector<Permutation> list_;
    std::set<Permutation> seen_;
};

/// min(n!, limit)
std::size_t factorial_up_to(int n, std::size_t limit) {
    std::size_t product = 1;
    for (std::size_t k = 2; k <= static_cast<std::size_t>(n) && product < limit; ++k) product *= k;
    return product < limit ? product : limit;
}

}  // namespace

Eigen::MatrixXd permutation_matrix(const Permutation& permutation) {
    const auto n = static_cast<Eigen::Index>(permutation.size());
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) p(i, permutation[static_cast<std::size_t>(i)]) = 1.0;
    return p;
}

std::vector<Permutation> all_permutations(int n) {
    Permutation p = identity_permutation(n);
    std::vector<Permutation> all;
    do all.push_back(p);
    while (std::next_permutation(p.begin(), p.end()));
    return all;
}

std::vector<Permutation> permutation_list(int n, int count, random::Stream& stream) {
    assert(n >= 1 && count >= 1);
    const auto wanted = static_cast<std::size_t>(count);
    DistinctList list(factorial_up_to(n, wanted));
    list.add(identity_permutation(n));
    for (std::size_t i = 1; i < static_cast<std::size_t>(n); ++i) list.add(transposition(n, i - 1));
    for (int shift = 1; shift < n; ++shift) list.add(cyclic_shift(n, shift));
    auto all = list.filled(n, stream);
    while (all.size() < wanted) all.push_back(random_permutation(n, stream));
    return all;
}

std::vector<Permutation> published_permutations(int n, int count) {
    const auto wanted = static_cast<std::size_t>(count);
    assert(n >= 1 && count >= 1 && factorial_up_to(n, wanted) == wanted);
    DistinctList list(wanted);
    list.add(identity_permutation(n));
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(n); i += 2) list.add(transposition(n, i));
    list.add(cyclic_shift(n, 1));
    list.add(cyclic_shift(n, n - 1));
    constexpr std::uint64_t seed = 42;
    random::Stream stream(seed, random::Purpose::mixer);
    return list.filled(n, stream);
}

Eigen::VectorXd softmax(const Eigen::VectorXd& logits) {
    const Eigen::VectorXd e = (logits.array() - logits.maxCoeff()).exp();
    return e / e.sum();
}

Eigen::MatrixXd permutation_mixture(const std::vector<Permutation>& permutations,
                                    const Eigen::VectorXd& weights) {
    assert(!permutations.empty() && static_cast<std::size_t>(weights.size()) == permutations.size());
    const auto n = static_cast<Eigen::Index>(permutations.front().size());
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
    for (std::size_t k = 0; k < permutations.size(); ++k) {
        for (Eigen::Index i = 0; i < n; ++i) {
            a(i, permutations[k][static_cast<std::size_t>(i)]) += weights(static_cast<Eigen::Index>(k));
        }
    }
    return a;
}

Eigen::MatrixXd draw_permutation(int n, int count, random::Stream& stream) {
    const Eigen::VectorXd weights = softmax(standard_normal(count, 1, stream));
    return permutation_mixture(permutation_list(n, count, stream), weights);
}

}  // namespace spectra::mixers
