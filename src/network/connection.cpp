#include "network/connection.hpp"

#include "random/stream.hpp"

#include <cassert>
#include <cmath>

namespace spectra {

Connections draw_connections(int n, int depth, bool shared, std::uint64_t seed) {
    assert(n >= 1 && depth >= 0);
    Connections connections;
    for (int l = 0; l < depth; ++l) {
        if (shared && l > 0) {
            connections.pre.push_back(connections.pre.front());
            connections.post.push_back(connections.post.front());
            continue;
        }
        random::Stream stream(seed, random::Purpose::connection, static_cast<std::uint32_t>(l));
        Eigen::ArrayXd pre(n), post(n);
        for (double& logit : pre) logit = stream.normal();
        for (double& logit : post) logit = stream.normal();
        pre = (pre - pre.maxCoeff()).exp();
        connections.pre.emplace_back(pre / pre.sum());
        connections.post.emplace_back(2 / (1 + (-post).exp()));
    }
    return connections;
}

}  // namespace spectra
