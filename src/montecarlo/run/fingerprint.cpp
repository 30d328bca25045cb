#include "montecarlo/run/fingerprint.hpp"

#include "montecarlo/run/workers.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace spectra::montecarlo {
namespace {

/// FNV-1a.
class Hash {
public:
    void add(double x) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        add(bits);
    }
    void add(std::uint64_t bits) {
        for (int k = 0; k < 64; k += 8) value_ = (value_ ^ (bits >> k & 0xffU)) * 0x100000001b3U;
    }
    void add(int x) { add(static_cast<std::uint64_t>(x)); }
    void add(const std::optional<int>& x) { add(x ? static_cast<std::uint64_t>(*x) : ~std::uint64_t{0}); }
    void add(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
        add(static_cast<std::uint64_t>(matrix.size()));
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
            for (Eigen::Index i = 0; i < matrix.rows(); ++i) add(matrix(i, j));
    }
    template <class T>
    void add(const std::vector<T>& values) {
        add(static_cast<std::uint64_t>(values.size()));
        for (const auto& value : values) add(value);
    }

    std::string text() const {
        std::ostringstream out;
        out << std::hex << value_;
        return out.str();
    }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add(Hash& hash, const IsotropicBranch& branch) {
    hash.add(branch.sigma2);
    hash.add(branch.law);
}
void add(Hash& hash, const ActivationBranch& branch) {
    hash.add(branch.sigma_w2);
    hash.add(static_cast<int>(branch.activation.kind));
    hash.add(branch.activation.probability);
    hash.add(branch.preactivation_variance);
}
void add(Hash& hash, const HyperConnectionBranch& branch) {
    hash.add(branch.sigma2);
    hash.add(branch.pre);
    hash.add(branch.post);
    hash.add(branch.law);
}
void add(Hash& hash, const TiedBranch& branch) {
    hash.add(branch.sigma2);
    hash.add(branch.pre);
    hash.add(branch.post);
    hash.add(branch.weights);
}
void add(Hash& hash, const std::vector<Triplets>& sets) {
    hash.add(static_cast<std::uint64_t>(sets.size()));
    for (const Triplets& set : sets) {
        hash.add(set.values);
        hash.add(set.left);
        hash.add(set.right);
    }
}
void add(Hash& hash, const AlignedBranch& branch) {
    hash.add(branch.pre);
    hash.add(branch.post);
    hash.add(branch.rest);
    hash.add(branch.weights);
    add(hash, branch.kept);
    add(hash, branch.derivative);
}

std::string hash_of(const mixers::Recipe& recipe, bool shared) {
    Hash hash;
    hash.add(static_cast<int>(recipe.family));
    hash.add(recipe.logit_scale);
    hash.add(recipe.sinkhorn_iterations);
    hash.add(recipe.cayley_iterations);
    hash.add(recipe.cayley_step);
    hash.add(recipe.gate);
    hash.add(recipe.beta);
    hash.add(recipe.rank);
    hash.add(recipe.permutations);
    hash.add(static_cast<int>(shared));
    return hash.text();
}

struct Item {
    std::string name, value;
};

std::string drawn(const std::string& redrawn) {
    return redrawn == "no" ? "fixed" : "redrawn";
}

std::vector<Item> items(const std::string& text) {
    std::vector<Item> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find("; ", at), text.size());
        const std::size_t blank = std::min(text.find(' ', at), end);
        out.push_back(
            {text.substr(at, blank - at), blank < end ? text.substr(blank + 1, end - blank - 1) : ""});
        at = end + 2;
    }
    return out;
}

}  // namespace

std::string fingerprint(const Network& network, const Options& options, const std::string& precision,
                        const std::string& device) {
    Hash mixers, branch;
    mixers.add(network.mixers);
    branch.add(static_cast<std::uint64_t>(network.branch.index()));
    std::visit([&](const auto& alternative) { add(branch, alternative); }, network.branch);
    std::ostringstream out;
    out << "seed " << options.seed << "; streams " << network.streams << "; width " << network.width
        << "; depth " << network.depth() << "; mixers " << mixers.text() << "; branch " << branch.text()
        << "; redrawn " << (options.redrawn ? hash_of(*options.redrawn, options.shared_mixers) : "no")
        << "; slopes " << (options.slopes == Slopes::propagated ? "propagated" : "drawn") << "; probes "
        << probe_count(network, options) << " of " << options.steps << " steps; precision " << precision
        << "; device " << device;
    return out.str();
}

void check_same(const std::string& own, const std::string& other, const std::string& where) {
    if (own == other) return;
    const auto here = items(own), there = items(other);
    for (std::size_t k = 0; k < here.size() && k < there.size(); ++k) {
        const auto& [name, value] = here[k];
        const auto& others = there[k].value;
        if (there[k].name != name) break;
        if (others == value) continue;
        if (name == "mixers" || name == "branch")
            throw std::invalid_argument("the network's " + name +
                                        (name == "branch" ? " differs from that" : " differ from those") +
                                        " " + where);
        if (name == "redrawn")
            throw std::invalid_argument("mixers are " + drawn(value) + "; " + where + " they are " +
                                        drawn(others) +
                                        (value != "no" && others != "no" ? " by a different recipe" : ""));
        throw std::invalid_argument(name + " is " + value + "; " + where + " it is " + others);
    }
    throw std::invalid_argument("unknown description of the draws " + where + ": \"" + other + "\"");
}

}  // namespace spectra::montecarlo
