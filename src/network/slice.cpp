#include "network/slice.hpp"

#include <cassert>
#include <vector>

namespace spectra {

Network part_of(const Network& network, std::size_t first, std::size_t count) {
    assert(first + count <= network.mixers.size());
    const std::size_t layers = network.mixers.size();
    // One entry per layer, or one for all, or none.
    const auto cut = [&]<typename T>(std::vector<T>& values) {
        if (values.size() != layers) return;
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
        values = std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    Network part;
    part.streams = network.streams;
    part.width = network.width;
    part.mixers = network.mixers;
    part.branch = network.branch;
    cut(part.mixers);
    if (auto* isotropic = std::get_if<IsotropicBranch>(&part.branch)) {
        cut(isotropic->sigma2);
        cut(isotropic->law);
    } else if (auto* activation = std::get_if<ActivationBranch>(&part.branch)) {
        cut(activation->sigma_w2);
        cut(activation->preactivation_variance);
    } else if (auto* hyper = std::get_if<HyperConnectionBranch>(&part.branch)) {
        cut(hyper->sigma2);
        cut(hyper->law);
        cut(hyper->pre);
        cut(hyper->post);
    } else if (auto* tied = std::get_if<TiedBranch>(&part.branch)) {
        cut(tied->sigma2);
        cut(tied->pre);
        cut(tied->post);
        cut(tied->weights);
    } else if (auto* aligned = std::get_if<AlignedBranch>(&part.branch)) {
        cut(aligned->pre);
        cut(aligned->post);
        cut(aligned->kept);
        cut(aligned->rest);
        cut(aligned->derivative);
        cut(aligned->weights);
    }
    return part;
}

}  // namespace spectra
