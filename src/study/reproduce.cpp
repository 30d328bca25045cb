#include "study/reproduce.hpp"

#include "base/atomic_file.hpp"
#include "base/nearest.hpp"
#include "base/refuse.hpp"
#include "claims/ledger.hpp"
#include "claims/registry.hpp"
#include "study/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <stdexcept>

namespace spectra::study {
namespace {

using claims::Claim;
using report::ClaimRow;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string program_version() {
    return fmt::format("{} ({})", version::number, version::git);
}

/// What is wrong with the stored claim itself.
std::vector<std::string> stored_defects(const Claim& claim) {
    auto out = claims::defects(claim);
    if (!claim.version.empty() && !claims::known_version(claim.version, version::number))
        out.push_back(fmt::format("made by an unknown version, '{}'", claim.version));
    if (claim.quick != (claims::find_quick(claim.id) != nullptr))
        out.emplace_back(claim.quick ? "is said to be quick and has no computation"
                                     : "has a computation and is not said to be quick");
    return out;
}

void compute(ClaimRow& row, const std::function<claims::Outcome()>& computation) {
    const auto began = Clock::now();
    try {
        row.outcome = computation();
        const auto found = claims::differences(row.claim, *row.outcome);
        row.disagreements.insert(row.disagreements.end(), found.begin(), found.end());
    } catch (const std::exception& error) {
        row.disagreements.push_back(fmt::format("could not be computed: {}", error.what()));
    }
    row.seconds = seconds_since(began);
}

void record(const ClaimRow& row, const ReproduceRequest& request, const claims::TrainingResults& results) {
    Claim claim = row.claim;
    claim.quick = true;
    claim.numbers = row.outcome->numbers;
    claim.machine = request.machine;
    for (const auto& trained : claims::trained_claims())
        if (trained.id == claim.id) claim.machine = results.of(trained.series.front()).front()->machine;
    claim.version = program_version();
    remove_leftovers(*request.record / claims::file_name(claim.id));
    claims::write(claim, *request.record);
}

/// The results of the request's folder, and those of the program itself for the trainings that it lacks.
claims::TrainingResults trainings(const ReproduceRequest& request) {
    std::vector<claims::TrainingResult> out;
    if (request.trainings) out = claims::read_trainings(*request.trainings).all();
    const claims::TrainingResults own(out);
    for (const auto& stored : claims::stored_trainings().all())
        if (own.find(stored.name) == nullptr) out.push_back(stored);
    return claims::TrainingResults(std::move(out));
}

/// The computation of a claim; empty where it has none.
std::function<claims::Outcome()> computation(const std::string& id, const claims::TrainingResults& results) {
    for (const auto& trained : claims::trained_claims())
        if (trained.id == id && results.have(trained.series))
            return [&trained, &results] { return trained.compute(results); };
    const auto* const quick = claims::find_quick(id);
    return quick != nullptr ? quick->compute : std::function<claims::Outcome()>{};
}

}  // namespace

std::vector<claims::Claim> requested_claims(const ReproduceRequest& request) {
    const auto all = request.ledger ? claims::read_ledger(*request.ledger) : claims::ledger();
    if (request.paper) {
        std::vector<std::string> names;
        for (const auto& paper : claims::papers()) names.push_back(paper.name);
        if (std::find(names.begin(), names.end(), *request.paper) == names.end())
            refuse("`paper` " + *request.paper, "no such paper" + suggestion(*request.paper, names));
    }
    const auto wanted = [&](const Claim& claim) {
        return !request.paper || claim.source.paper == *request.paper;
    };
    std::vector<Claim> out;
    if (request.ids.empty()) std::copy_if(all.begin(), all.end(), std::back_inserter(out), wanted);
    for (const auto& id : request.ids) {
        const auto has_id = [&](const Claim& claim) { return claim.id == id; };
        const auto claim = std::find_if(all.begin(), all.end(), has_id);
        if (claim == all.end()) refuse(id, fmt::format("no such claim; they are C1 to C{}", all.size()));
        if (wanted(*claim) && std::none_of(out.begin(), out.end(), has_id)) out.push_back(*claim);
    }
    return out;
}

report::ClaimsReport reproduce(const ReproduceRequest& request, Observer& observer) {
    const auto began = Clock::now();
    report::ClaimsReport out;
    out.version = program_version();
    const auto ledger = requested_claims(request);
    const auto results = trainings(request);
    int done = 0;
    for (const auto& claim : ledger) {
        throw_if_stopped(observer);
        observer.stage("claim " + claim.id);
        observer.update(done++, static_cast<int>(ledger.size()));
        ClaimRow row{claim, {}, stored_defects(claim), 0};
        if (const auto found = computation(claim.id, results)) {
            if (request.record) row.disagreements.clear();
            compute(row, found);
            if (request.record && row.outcome) record(row, request, results);
        }
        out.rows.push_back(std::move(row));
    }
    out.seconds = seconds_since(began);
    return out;
}

}  // namespace spectra::study
