#include "layouts/input_point.hpp"

#include "random/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spectra::layouts {

using Eigen::VectorXd;

VectorXd InputPoint::at(Eigen::Index width, std::size_t connection) const {
    if (state && state->size() != width)
        throw std::invalid_argument(fmt::format(
            "the given state has {} numbers; must have {}, for all streams", state->size(), width));
    if (state) return *state;
    VectorXd x = VectorXd::Zero(width);
    if (!draw) return x;
    random::Stream stream(draw->seed, random::Purpose::connection, static_cast<std::uint32_t>(connection),
                          static_cast<std::uint32_t>(draw->index));
    stream.fill_normal({x.data(), static_cast<std::size_t>(width)});
    return x;
}

std::string InputPoint::name() const {
    if (state) return "a given state";
    return draw ? fmt::format("input {} of {}", draw->index + 1, draw->count) : "zero input";
}

VectorXd rms_normed(const VectorXd& x, double epsilon) {
    return x / std::sqrt(x.squaredNorm() / static_cast<double>(x.size()) + epsilon);
}

VectorXd length_normed(const VectorXd& x) {
    return x * (std::sqrt(static_cast<double>(x.size())) / std::max(x.norm(), 1e-12));
}

VectorXd layer_normed(const VectorXd& x) {
    const VectorXd centred = x.array() - x.mean();
    return rms_normed(centred, 1e-5);
}

}  // namespace spectra::layouts
