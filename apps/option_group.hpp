#pragma once

#include "console/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spectra::cli {

/// Adds the options of one group. Each value is converted while parsing, so that an error message names the
/// option: the first of several names ("--seeds,--seed").
///
/// `value` shows the accepted values, choices in lower case separated by | or , for help and shell completion.
/// `initial` is the default that help shows.
class OptionGroup {
public:
    OptionGroup(CLI::App& app, std::string group) : app_(app), group_(std::move(group)) {}

    /// set(name, text)
    void operator()(const std::string& names, const std::string& value, const std::string& initial,
                    const std::string& description,
                    const std::function<void(const std::string&, const std::string&)>& set) const {
        const std::string first = names.substr(0, names.find(','));
        auto* const option = app_.add_option_function<std::string>(
            names, [first, set](const std::string& text) { set(first, text); }, description);
        option->type_name(value)->default_str(initial)->group(group_);
    }

    template <class T>
    void integer(const std::string& names, const std::string& value, const std::string& initial,
                 const std::string& description, T& target, int least,
                 int largest = std::numeric_limits<int>::max()) const {
        (*this)(names, value, initial, description,
                [&target, least, largest](const std::string& name, const std::string& text) {
                    target = static_cast<int>(console::to_integer(name, text, least, largest));
                });
    }

    /// Must be ≥ 0, unless any number is allowed.
    template <class T>
    void number(const std::string& names, const std::string& value, const std::string& initial,
                const std::string& description, T& target, bool negative = false) const {
        (*this)(names, value, initial, description,
                [&target, negative](const std::string& name, const std::string& text) {
                    const double typed = console::to_number(name, text);
                    if (!negative && typed < 0)
                        throw std::invalid_argument(fmt::format("{} {}: must be ≥ 0", name, text));
                    target = typed;
                });
    }

    template <class T>
    void choice(const std::string& names, const std::string& initial, const std::string& description,
                T& target, const std::vector<std::string>& accepted) const {
        (*this)(names, fmt::format("{}", fmt::join(accepted, "|")), initial, description,
                [&target, accepted](const std::string& name, const std::string& text) {
                    target = console::to_choice(name, text, accepted);
                });
    }

    /// --plot: formats of figures, or none.
    void plot(std::vector<std::string>& target) const {
        (*this)("--plot", "png,svg,pdf,html|none", "png", "figures to draw; html: an interactive page",
                [&target](const std::string& name, const std::string& text) {
                    target = console::to_choices(name, text, {"png", "svg", "pdf", "html"});
                });
    }

    void force(bool& target) const {
        flag("--force", "replace results of other options, and files not written by spectra", target);
    }

    void quiet(bool& target) const { flag("--quiet", "print errors only (and the --json output)", target); }

    void flag(const std::string& name, const std::string& description, bool& target) const {
        app_.add_flag(name, target, description)->group(group_);
    }

private:
    CLI::App& app_;
    std::string group_;
};

}  // namespace spectra::cli
