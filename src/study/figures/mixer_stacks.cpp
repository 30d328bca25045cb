#include "study/figures/mixer_stacks.hpp"

#include "h5/file.hpp"
#include "study/figures/panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace spectra::study {

namespace {

/// (L, n, n), or of several inputs (K, L, n, n).
std::vector<std::vector<Mixer>> read_stacks(const h5::File& file, const std::string& path,
                                            const std::string& name) {
    h5::Shape shape;
    const auto entries = file.read_doubles(path, shape);
    if (shape.size() == 3) shape.insert(shape.begin(), 1);
    if (shape.size() != 4 || shape[2] != shape[3] || entries.empty())
        throw std::invalid_argument(fmt::format("{}: {}: not a list of square matrices", name, path));
    if (std::any_of(entries.begin(), entries.end(), [](double a) { return !std::isfinite(a); }))
        throw std::invalid_argument(fmt::format("{}: {}: contains numbers that are not finite", name, path));
    const auto n = static_cast<Eigen::Index>(shape[3]);
    std::vector<std::vector<Mixer>> stacks(shape[0]);
    const double* next = entries.data();
    for (auto& stack : stacks)
        for (std::size_t l = 0; l < shape[1]; ++l, next += n * n)
            stack.emplace_back(
                Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                    next, n, n));
    return stacks;
}

MixerStack read_stack(const std::string& name) {
    const auto file = h5::File::open_read(name);
    for (const char* const path : {"trained/mixers_by_input", "trained/mixers", "network/mixers"})
        if (file.is_dataset(path))
            return {std::filesystem::path(name).stem().string(), read_stacks(file, path, name)};
    throw std::invalid_argument(fmt::format(
        "{}: contains no mixers; use a file written by spectra validate, or by an analysis", name));
}

MixerStack drawn_stack(const FigureRequest& request, const std::string& family, int depth) {
    const Request described = network_request(request, family, 0);
    GrowingNetwork growing(described);
    return {family, {growing.at(std::min(depth, growing.max_depth())).mixers}};
}

}  // namespace

std::vector<Mixer> MixerStack::all() const {
    std::vector<Mixer> mixers;
    for (const auto& stack : inputs) mixers.insert(mixers.end(), stack.begin(), stack.end());
    return mixers;
}

std::vector<MixerStack> mixer_stacks(const FigureRequest& request, const std::vector<std::string>& families) {
    std::vector<MixerStack> stacks;
    if (request.files.empty()) {
        const int depth =
            request.depths.empty() ? request.max_depth.value_or(default_depth) : request.depths.back();
        for (const auto& family : mixers_or(request, families))
            stacks.push_back(drawn_stack(request, family, depth));
        return stacks;
    }
    for (const char* const field :
         {"mixers", "max_depth", "streams", "sinkhorn_iterations", "logit_scale", "seed"})
        if (request.given.contains(field))
            throw std::invalid_argument(
                fmt::format("`{}` cannot be combined with files: it is about mixers that are drawn", field));
    for (const auto& name : request.files) {
        stacks.push_back(read_stack(name));
        const auto same = [&](const MixerStack& other) { return other.label == stacks.back().label; };
        if (const auto count = std::count_if(stacks.begin(), stacks.end(), same); count > 1)
            stacks.back().label += fmt::format(" ({})", count);
    }
    return stacks;
}

std::vector<Mixer> products(const std::vector<Mixer>& mixers) {
    std::vector<Mixer> out;
    for (const auto& mixer : mixers) out.push_back(out.empty() ? mixer : Mixer(mixer * out.back()));
    return out;
}

std::string origin(const FigureRequest& request, const std::vector<MixerStack>& stacks) {
    if (!request.files.empty()) {
        std::size_t least = stacks.front().inputs.size(), most = least;
        for (const auto& stack : stacks) {
            least = std::min(least, stack.inputs.size());
            most = std::max(most, stack.inputs.size());
        }
        return least == most ? fmt::format("{} input{}", most, most > 1 ? "s" : "")
                             : fmt::format("{} to {} inputs", least, most);
    }
    return "drawn, " + drawn_words(request);
}

std::string drawn_words(const FigureRequest& request) {
    std::string words =
        fmt::format("n = {}, seed {}", request.streams.value_or(default_streams), request.seed);
    if (request.logit_scale) words += fmt::format(", logits N(0, {:g}²)", *request.logit_scale);
    if (request.sinkhorn_iterations)
        words += fmt::format(", {} sweeps of Sinkhorn", *request.sinkhorn_iterations);
    return words;
}

}  // namespace spectra::study
