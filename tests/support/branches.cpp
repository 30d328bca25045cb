#include "support/branches.hpp"

namespace spectra::tests {

template MatrixOf<double> gaussian_reference<double>(int, random::Stream&);
template MatrixOf<double> haar_reference<double>(int, random::Stream&);
template MatrixOf<double> factor_reference<double>(int, double, const BranchLaw&, std::size_t,
                                                   random::Stream);
template MatrixOf<double> branch_reference<double>(const Network&, int, std::uint64_t, std::uint32_t);
template MatrixOf<double> jacobian_reference<double>(const Network&, std::uint64_t, std::uint32_t);

Eigen::VectorXd reading(int streams, std::size_t layer) {
    Eigen::VectorXd out(streams);
    for (int i = 0; i < streams; ++i)
        out[i] = 0.2 + 0.1 * std::cos(1.3 * i + 0.7 * static_cast<double>(layer));
    return out;
}

Eigen::VectorXd writing(int streams, std::size_t layer) {
    Eigen::VectorXd out(streams);
    for (int i = 0; i < streams; ++i) out[i] = 1 + 0.6 * std::sin(2.1 * i + 0.4 * static_cast<double>(layer));
    return out;
}

HyperConnectionBranch hyper_connection(int streams, int depth, double sigma2, BranchLaw law) {
    HyperConnectionBranch out;
    for (std::size_t l = 0; l < static_cast<std::size_t>(depth); ++l) {
        out.sigma2.push_back(sigma2);
        out.pre.push_back(reading(streams, l));
        out.post.push_back(writing(streams, l));
    }
    out.law = std::move(law);
    return out;
}

TiedBranch taking_turns(int streams, int depth, double sigma2, bool hyper) {
    TiedBranch out;
    for (int l = 0; l < depth; ++l) {
        out.sigma2.push_back(sigma2 * (1 + 0.3 * std::cos(2.0 * l)));
        out.weights.push_back(l % 2 == 0 ? 7 : 3);
        if (!hyper) continue;
        out.pre.push_back(reading(streams, static_cast<std::size_t>(l)));
        out.post.push_back(writing(streams, static_cast<std::size_t>(l)));
    }
    return out;
}

std::vector<std::pair<std::string, Branch>> every_branch(int streams, int depth, double sigma2) {
    const auto layers = static_cast<std::size_t>(depth);
    const std::vector<double> variances(layers, sigma2);
    std::vector<int> sets;
    std::vector<Eigen::VectorXd> pre, post;
    for (std::size_t l = 0; l < layers; ++l) {
        sets.push_back(l % 2 == 0 ? 7 : 3);
        pre.push_back(reading(streams, l % 2));
        post.push_back(writing(streams, l % 2));
    }
    const double s = std::sqrt(sigma2);
    const BranchLaw one = {{0.2 * s, 0.9 * s, 1.4 * s}};
    BranchLaw each;
    for (std::size_t l = 0; l < layers; ++l)
        each.push_back({0, s, (1.1 + 0.1 * static_cast<double>(l % 5)) * s});
    const auto activation = [&](ActivationKind kind) {
        std::vector<double> q;
        for (std::size_t l = 0; l < layers; ++l) q.push_back(0.5 + 0.3 * static_cast<double>(l));
        return ActivationBranch{
            variances, {kind, 0.3}, kind == ActivationKind::bernoulli ? std::vector<double>{} : q};
    };
    return {
        {"isotropic", IsotropicBranch{variances}},
        {"isotropic of one law", IsotropicBranch{variances, one}},
        {"isotropic of a law a layer", IsotropicBranch{variances, each}},
        {"relu", activation(ActivationKind::relu)},
        {"tanh", activation(ActivationKind::tanh)},
        {"gelu", activation(ActivationKind::gelu)},
        {"bernoulli", activation(ActivationKind::bernoulli)},
        {"hyper-connection", hyper_connection(streams, depth, sigma2)},
        {"hyper-connection of one law", hyper_connection(streams, depth, sigma2, one)},
        {"hyper-connection of a law a layer", hyper_connection(streams, depth, sigma2, each)},
        {"tied", tied_branch(layers, sigma2)},
        {"tied hyper-connection", tied_branch(layers, sigma2, reading(streams, 0), writing(streams, 0))},
        {"tied by turns", TiedBranch{variances, {}, {}, sets}},
        {"tied hyper-connection by turns", TiedBranch{variances, pre, post, sets}},
    };
}

double exact_mean_square(const Network& network) {
    const double n = network.streams;
    const auto mean_of_squares = [](const BranchLaw& law, std::size_t l, int size) {
        double sum = 0;
        for (const double t : montecarlo::spread(law.size() == 1 ? law[0] : law[l], size)) sum += t * t;
        return sum / size;
    };
    Eigen::MatrixXd t = Eigen::MatrixXd::Identity(network.streams, network.streams);
    for (std::size_t l = 0; l < network.mixers.size(); ++l) {
        Eigen::MatrixXd branch = Eigen::MatrixXd::Identity(network.streams, network.streams) * t.trace() / n;
        if (const auto* isotropic = std::get_if<IsotropicBranch>(&network.branch)) {
            branch *= isotropic->law.empty() ? isotropic->sigma2[l]
                                             : mean_of_squares(isotropic->law, l, network.size());
        } else if (const auto* activation = std::get_if<ActivationBranch>(&network.branch)) {
            const auto& q = activation->preactivation_variance;
            branch *=
                activation->sigma_w2[l] * mean_derivative2(activation->activation, q.empty() ? 1 : q[l]);
        } else {
            const auto& hyper = std::get<HyperConnectionBranch>(network.branch);
            branch = hyper.pre[l].dot(t * hyper.pre[l]) * hyper.post[l] * hyper.post[l].transpose();
            branch *= hyper.law.empty() ? hyper.sigma2[l] : mean_of_squares(hyper.law, l, network.width);
        }
        t = (network.mixers[l] * t * network.mixers[l].transpose() + branch).eval();
    }
    return t.trace() / n;
}

double exact_tied_mean_square(const Network& network, double m) {
    const auto& branch = std::get<TiedBranch>(network.branch);
    const double n = network.streams;
    const double v = branch.sigma2.at(0);
    const Mixer& first = network.mixers.at(0);
    const Mixer& second = network.mixers.at(1);
    const double mixers = (second * first).squaredNorm() / n;
    if (!branch.hyper_connection()) {
        return mixers + v * (first.squaredNorm() + second.squaredNorm()) / n +
               2 * v * (first.trace() / n) * (second.trace() / n) + 2 * v / m * (second * first).trace() / n +
               v * v * (1 + 2 / (m * m));
    }
    const Eigen::MatrixXd b = branch.post.at(0) * branch.pre.at(0).transpose();
    return mixers + v * ((b * first).squaredNorm() + (second * b).squaredNorm()) / n +
           2 * v * (second * b).cwiseProduct(b * first).sum() / n +
           2 * v / m * (second * first).cwiseProduct(b * b).sum() / n +
           v * v * (1 + 2 / (m * m)) * (b * b).squaredNorm() / n;
}

}  // namespace spectra::tests
