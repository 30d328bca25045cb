#include "claims/ledger.hpp"

#include "base/atomic_file.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace spectra::claims {
namespace {

int number_of(const std::string& id) {
    int number = 0;
    const auto [end, error] =
        std::from_chars(id.data() + std::min<std::size_t>(1, id.size()), id.data() + id.size(), number);
    return !id.empty() && id[0] == 'C' && error == std::errc{} && end == id.data() + id.size() ? number : 0;
}

Claim checked(const std::string& text, const std::string& where) {
    Claim claim = from_json(parse_json(text, where), where);
    if (number_of(claim.id) < 1) refuse(where, "id '" + claim.id + "': must be C and a number");
    const auto same = [&](const Paper& paper) { return paper.name == claim.source.paper; };
    if (std::none_of(papers().begin(), papers().end(), same))
        refuse(where, "unknown paper '" + claim.source.paper + "'");
    return claim;
}

void sort(std::vector<Claim>& claims) {
    std::sort(claims.begin(), claims.end(),
              [](const Claim& a, const Claim& b) { return number_of(a.id) < number_of(b.id); });
}

}  // namespace

const std::vector<Paper>& papers() {
    static const std::vector<Paper> all{
        {"jpmhc", "JPmHC: Dynamical Isometry via Orthogonal Hyper-Connections", "arXiv:2602.18308"},
        {"edelta", "The EΔ-MHC-Geo Transformer: Adaptive Geodesic Operations with Guaranteed Orthogonality",
         "arXiv:2605.06729"},
        {"shc", "Beyond the Birkhoff Polytope: Spectral-Sphere-Constrained Hyper-Connections",
         "arXiv:2603.20896"},
        {"mgt", "Geometric and Dynamic Scaling in Deep Transformers", "manuscript by Su and You"},
        {"edelta-explainer", "An illustrated explanation of the EΔ-MHC-Geo Transformer",
         "built from arXiv:2605.06729"},
    };
    return all;
}

std::vector<Claim> ledger() {
    std::vector<Claim> claims;
    for (const auto& text : embedded_claims()) claims.push_back(checked(text, "stored claim"));
    sort(claims);
    return claims;
}

std::vector<Claim> read_ledger(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) refuse(folder.string(), "no such folder");
    std::vector<Claim> claims;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        const std::string where = entry.path().string();
        claims.push_back(checked(read_text(entry.path()), where));
        if (entry.path().filename() != file_name(claims.back().id))
            refuse(where, fmt::format("holds claim {}, which belongs in {}", claims.back().id,
                                      file_name(claims.back().id)));
    }
    if (claims.empty()) refuse(folder.string(), "no claims in this folder (C001.json, C002.json, …)");
    sort(claims);
    return claims;
}

std::string file_name(const std::string& id) {
    return fmt::format("C{:03}.json", number_of(id));
}

void write(const Claim& claim, const std::filesystem::path& folder) {
    AtomicFile file(folder / file_name(claim.id));
    file.write(to_json(claim).dump(1, ' ') + "\n");
    file.commit();
}

}  // namespace spectra::claims
