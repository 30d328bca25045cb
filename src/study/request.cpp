#include "study/request.hpp"

#include "mixers/registry.hpp"
#include "network/network.hpp"
#include "weightfile/tensor_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace spectra::study {

namespace {

/// The families that use a field of the recipe.
std::vector<std::string> users_of(const std::string& field) {
    std::vector<std::string> users;
    for (const auto& entry : mixers::registry())
        if (std::find(entry.fields.begin(), entry.fields.end(), field) != entry.fields.end())
            users.emplace_back(entry.name);
    return users;
}

bool uses(mixers::Family family, const std::string& field) {
    const auto users = users_of(field);
    return std::find(users.begin(), users.end(), mixers::name(family)) != users.end();
}

/// As messages name a field.
std::string quoted(const std::string& field) {
    return "`" + field + "`";
}

[[noreturn]] void conflict(const std::string& a, const std::string& b, const std::string& why) {
    throw std::invalid_argument(fmt::format("{} cannot be combined with {}: {}", a, b, why));
}

struct BranchField {
    const char* name;
    bool given;
    std::vector<std::string> readers;
};

std::vector<BranchField> branch_fields(const Request& r) {
    return {{"activation", r.activation.has_value(), {"activation"}},
            {"preactivation_variance", r.preactivation_variance.has_value(), {"activation"}},
            {"branch_law", r.branch_law.has_value(), {"isotropic", "hyper-connection"}},
            {"pre", r.pre.has_value(), {"hyper-connection", "tied"}},
            {"post", r.post.has_value(), {"hyper-connection", "tied"}}};
}

void check_branch_fields(const Request& r) {
    const std::string branch = r.branch_or_default();
    for (const auto& field : branch_fields(r)) {
        const auto& readers = field.readers;
        if (!field.given || std::find(readers.begin(), readers.end(), branch) != readers.end()) continue;
        conflict(fmt::format("`branch` {}{}", branch, r.branch ? "" : " (the default)"), quoted(field.name),
                 fmt::format("it only applies to `branch` {}", fmt::join(readers, ", ")));
    }
    const std::string why = "the singular values set the variance of the branch";
    if (r.branch_law && r.noise) conflict("`branch_law`", "`noise`", why);
    if (r.branch_law && r.sigma2) conflict("`branch_law`", "`sigma2`", why);
}

}  // namespace

const std::vector<std::string>& branch_names() {
    static const std::vector<std::string> names{"isotropic", "activation", "hyper-connection", "tied"};
    return names;
}

std::vector<std::string> family_names() {
    return mixers::drawn_names();
}

void check_conflicts(const Request& r) {
    if (r.noise && r.sigma2) conflict("`noise`", "`sigma2`", "both set the variance of the branch; give one");
    if (r.model) {
        const std::string why = "the file describes the whole network";
        if (r.mixer) conflict("`model`", "`mixer`", why);
        if (r.depth) conflict("`model`", "`depth`", why);
        if (r.streams) conflict("`model`", "`streams`", why);
        if (r.shared_draws) conflict("`model`", "`draws`", why);
        if (r.branch) conflict("`model`", "`branch`", why);
        if (r.noise && !weightfile::is_weight_file(*r.model)) conflict("`model`", "`noise`", why);
        if (r.sigma2) conflict("`model`", "`sigma2`", why);
        for (const auto& field : branch_fields(r))
            if (field.given) conflict("`model`", quoted(field.name), why);
        if (!r.family_fields.empty()) conflict("`model`", quoted(r.family_fields.front()), why);
        if (r.redrawn) conflict("`model`", "`mixers` redrawn", "mixers of a file are not drawn");
    } else if (!r.mixer) {
        throw std::invalid_argument(
            "no network: give `mixer` NAME or `model` FILE.json");
    }
    check_branch_fields(r);
    const bool ov =
        std::find(r.methods.begin(), r.methods.end(), dyson::Method::operator_valued) != r.methods.end();
    const std::string of_ov = "it is a property of the theory ov";
    if (r.sensitivity && !ov) conflict("`sensitivity`", "`theory` without ov", of_ov);
    if (r.average > 0 && !ov) conflict("`average`", "`theory` without ov", of_ov);
    if (r.average > 0 && r.model) conflict("`average`", "`model`", "mixers of a file are not drawn");
    if (r.methods.empty() && r.grid) conflict("`theory` none", "`grid`", "a grid only applies to theory");
    if (r.methods.empty() && r.eta) conflict("`theory` none", "`eta`", "smoothing only applies to theory");
    if (r.slopes == montecarlo::Slopes::propagated) {
        const std::string branch = r.branch_or_default();
        if (!r.model && branch != "activation")
            conflict("`slopes` propagated", "`branch` " + branch, "it only applies to `branch` activation");
        if (r.preactivation_variance)
            conflict("`slopes` propagated", "`preactivation_variance`", "the network sets its own variances");
    }
    if (r.resume && r.samples == 0) conflict("`resume`", "`samples` 0", "there is nothing to continue");
    if (r.until_error && r.samples == 0) conflict("`until_error`", "`samples` 0", "nothing is simulated");
    if (r.device == montecarlo::Device::cpu && r.precision == montecarlo::Precision::f32)
        conflict("`precision` f32", "`device` cpu", "simulations on the cpu use f64");
    if (r.methods.empty() && r.samples == 0 && r.omega.empty())
        conflict("`theory` none", "`samples` 0", "nothing is left to compute");
}

void check_conflicts(const DepthLimitRequest& request) {
    const Request& r = request.network;
    check_conflicts(r);
    const auto one_value = [](const char* field, const std::optional<std::vector<double>>& values) {
        if (values && values->size() > 1)
            throw std::invalid_argument(fmt::format(
                "depth-limit: {} has {} values; must be one, for every layer", field, values->size()));
    };
    one_value("`sigma2`", r.sigma2);
    one_value("`preactivation_variance`", r.preactivation_variance);
}

void check_family_fields(const Request& request, mixers::Family family) {
    for (const auto& given : request.family_fields)
        if (!uses(family, given))
            conflict(fmt::format("`mixer` {}", mixers::name(family)), quoted(given),
                     fmt::format("it only applies to {}", fmt::join(users_of(given), ", ")));
}

std::vector<std::string> drop_unused_fields(Request& r) {
    std::vector<std::string> dropped;
    const auto family = mixers::find_family(r.mixer.value_or(""));
    for (const auto& given : r.family_fields)
        if (!family || !uses(*family, given)) dropped.push_back(given);
    const auto is_dropped = [&](const std::string& name) {
        return std::find(dropped.begin(), dropped.end(), name) != dropped.end();
    };
    std::erase_if(r.family_fields, is_dropped);
    const std::string branch = r.branch_or_default();
    for (const auto& field : branch_fields(r))
        if (field.given &&
            std::find(field.readers.begin(), field.readers.end(), branch) == field.readers.end())
            dropped.emplace_back(field.name);
    if (is_dropped("activation")) r.activation.reset();
    if (is_dropped("preactivation_variance")) r.preactivation_variance.reset();
    if (is_dropped("branch_law")) r.branch_law.reset();
    if (is_dropped("pre")) r.pre.reset();
    if (is_dropped("post")) r.post.reset();
    return dropped;
}

}  // namespace spectra::study
