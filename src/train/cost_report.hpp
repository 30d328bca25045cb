#pragma once

#include "report/report.hpp"
#include "study/figures/figures.hpp"
#include "train/operations.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace spectra::train {

/// What one part of a model costs in a training step.
struct PartCost {
    /// model, connection (one of the two of a block, without its branch), mixer (raw numbers to matrices), attention or
    /// mlp (with their norms)
    std::string part;
    std::int64_t parameters = 0;  ///< of a mixer the raw numbers per matrix
    OperationCount forward = {}, backward = {};
    std::int64_t kept_bytes = 0, nodes = 0;
    double forward_seconds = 0, backward_seconds = 0;  ///< medians
};

/// A model with some number of streams.
struct ModelCost {
    std::string name;          ///< "shc", "cayley mixers"
    std::int64_t streams = 1;  ///< 1: it has none
    std::string words = {};    ///< "8 blocks, 512 = 4 × 128 channels"
    std::int64_t blocks = 0;   ///< 0: a module alone
    std::string refused = {};  ///< why there are no parts, "" if there are
    std::vector<PartCost> parts = {};

    /// Null if it has no such part.
    const PartCost* find(const std::string& part) const;
};

/// Everything that was costed.
struct CostReport {
    report::Provenance provenance;
    std::vector<ModelCost> models;
    std::int64_t tokens = 0;  ///< of a batch
    std::string batch;        ///< "8 sequences of 64 tokens"
    std::string device;       ///< "cpu, 2 threads"
    int runs = 0, warm_up = 0;
    std::vector<std::string> files;  ///< written
};

/// Where each column comes from, by its name in the file: counted, or measured on which device.
std::vector<std::pair<std::string, std::string>> cost_sources(const CostReport& report);

/// A table for each model, with what its connections add, or why it is refused.
std::string cost_page(const CostReport& report, int columns, bool colour, bool unicode);

/// `models`, each with `parts` or `refused`, and `sources`.
nlohmann::ordered_json cost_json(const CostReport& report);

/// Over the number of streams what a connection costs and how fast models train; of one number of streams what a block
/// costs, part by part.
study::Drawing cost_drawing(const CostReport& report);

/// The figure's file (study/figure.hpp) with a table /cost: one row per part, or per refused model; attributes tokens,
/// device, runs, and source_<column>.
void write_cost_file(const CostReport& report, const std::filesystem::path& path);

}  // namespace spectra::train
