#pragma once

#include "network/network.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

/// The readers of mixer, branch law and model files, for JSON that is already parsed. Apart from the files' own
/// headers, which are public and must not ask users for a JSON library. `where` begins the messages.
namespace spectra {

/// As read_mixers (mixer_file.hpp), from an n×n or L×n×n array.
std::vector<Mixer> mixers_from_json(const nlohmann::json& value, const std::string& where);

/// As read_branch_law (branch_law_file.hpp), from an array.
BranchLaw branch_law_from_json(const nlohmann::json& value, const std::string& where);

/// As read_model (model_file.hpp), from an object.
Network model_from_json(const nlohmann::json& value, const std::string& where);

}  // namespace spectra
