#include "layouts/layouts.hpp"

#include "base/text.hpp"
#include "layouts/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace spectra::layouts {

namespace {

std::array<const Layout*, 10> layouts() {
    return {&spectra_layout, &deepseek_v41_layout, &deepseek_layout, &megatron_layout,          &qwen_layout,
            &tokenbender_layout, &s2hc_layout,     &mhc_lite_layout, &hyper_connections_layout, &edelta_layout};
}

const Layout& layout_of(const Weights& weights) {
    if (weights.file().kind() == weightfile::Kind::torch_script)
        weights.refuse("is a TorchScript module, a program: its mixers cannot be read from its keys");
    for (const auto* const layout : layouts())
        if (layout->fits(weights)) {
            const auto doubt = layout->doubt != nullptr ? layout->doubt(weights) : "";
            if (!doubt.empty()) weights.refuse(doubt);
            return *layout;
        }
    const auto& keys = weights.keys();
    const auto of_trm = std::find_if(keys.begin(), keys.end(), [](const std::string& key) {
        return key.starts_with("model.inner.") || key.find(".model.inner.") != std::string::npos;
    });
    if (of_trm != keys.end())
        weights.refuse(fmt::format("is a TRM model (key {}): it has plain residual connections and no mixers",
                                   in_quotes(*of_trm)));
    throw UnknownLayout(
        fmt::format("{}: its keys match no known layout ({}); use a JSON map to name the mixer tensors",
                    weights.file().where(), fmt::join(layout_names(), ", ")));
}

const Layout& named_layout(const std::string& name) {
    for (const auto* const layout : layouts())
        if (layout->name == name) return *layout;
    throw std::invalid_argument(fmt::format("unknown layout {}; must be one of {}, or a JSON map",
                                            in_quotes(name), fmt::join(layout_names(), ", ")));
}

Stack read(const weightfile::TensorFile& file, const LayoutOptions& options) {
    Stack stack;
    stack.input = options.input.name();
    if (options.map) {
        stack.layout = "map";
        read_mapped(Weights(file, ""), *options.map, stack);
        return stack;
    }
    const Weights weights(file);
    const auto& layout = options.layout.empty() ? layout_of(weights) : named_layout(options.layout);
    stack.layout = layout.name;
    layout.read(weights, options.input, stack);
    if (stack.connections.empty())
        weights.refuse(fmt::format("has no mixers in the layout {}, which uses {}", in_quotes(layout.name),
                                   layout.keys));
    return stack;
}

}  // namespace

std::vector<std::string> layout_names() {
    std::vector<std::string> names;
    for (const auto* const layout : layouts()) names.emplace_back(layout->name);
    return names;
}

std::string recognise(const weightfile::TensorFile& file) {
    return std::string(layout_of(Weights(file)).name);
}

Stack read_stack(const weightfile::TensorFile& file, const LayoutOptions& options) {
    const auto begins_with_name = [&](const std::exception& error) {
        return std::string_view(error.what()).starts_with(file.where() + ": ");
    };
    const auto named = [&](const std::exception& error) {
        return std::invalid_argument(fmt::format("{}: {}", file.where(), error.what()));
    };
    try {
        return read(file, options);
    } catch (const std::invalid_argument& error) {
        // Errors from a mixer family do not name the file.
        if (begins_with_name(error)) throw;
        throw named(error);
    } catch (const std::runtime_error& error) {
        throw named(error);
    }
}

}  // namespace spectra::layouts
