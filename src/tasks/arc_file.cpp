#include "tasks/arc_file.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace spectra::tasks {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw std::invalid_argument(fmt::format("{}: {}", where, why));
}

void check_side(std::size_t side, const char* of, const std::string& where) {
    if (side < 1 || side > static_cast<std::size_t>(largest_side))
        refuse(where, fmt::format("{} {}; must be 1 to {}", side, of, largest_side));
}

Grid grid_of(const Json& json, const std::string& where) {
    if (!json.is_array()) refuse(where, "must be a grid: an array of rows");
    check_side(json.size(), "rows", where);
    Grid grid;
    grid.rows = static_cast<std::int64_t>(json.size());
    for (std::size_t r = 0; r < json.size(); ++r) {
        const auto here = fmt::format("{}, row {}", where, r + 1);
        const auto& row = json[r];
        if (!row.is_array()) refuse(here, "must be an array of colours");
        check_side(row.size(), "columns", here);
        if (r == 0) grid.columns = static_cast<std::int64_t>(row.size());
        if (static_cast<std::int64_t>(row.size()) != grid.columns)
            refuse(here, fmt::format("{} columns; the first has {}", row.size(), grid.columns));
        for (const auto& cell : row) {
            if (!cell.is_number_integer() || cell < 0 || cell >= colours)
                refuse(here,
                       fmt::format("{}; must be a colour, 0 to {}", in_quotes(cell.dump()), colours - 1));
            grid.cells.push_back(cell.get<std::uint8_t>());
        }
    }
    return grid;
}

const Json& member(const Json& object, const char* name, const std::string& where) {
    if (!object.is_object()) refuse(where, "must be an object");
    const auto found = object.find(name);
    if (found == object.end()) refuse(where, fmt::format("has no \"{}\"", name));
    return *found;
}

/// `solutions`: outputs of pairs that have none; or null.
std::vector<GridPair> pairs_of(const Json& puzzle, const char* kind, const std::string& where,
                               const Json* solutions) {
    const auto& list = member(puzzle, kind, where);
    if (!list.is_array() || list.empty())
        refuse(where, fmt::format("\"{}\" must be an array of at least one pair", kind));
    std::vector<GridPair> pairs;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const auto here = fmt::format("{}, {} pair {}", where, kind, k + 1);
        GridPair pair;
        pair.input = grid_of(member(list[k], "input", here), here + ", input");
        if (!list[k].contains("output") && solutions != nullptr) {
            if (!solutions->is_array() || solutions->size() <= k)
                refuse(here, "has no output, and no solution");
            pair.output = grid_of((*solutions)[k], here + ", solution");
        } else {
            pair.output = grid_of(member(list[k], "output", here), here + ", output");
        }
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

Puzzle puzzle_of(const Json& json, std::string name, const std::string& where,
                 const Json* solutions = nullptr) {
    auto train = pairs_of(json, "train", where, nullptr);
    auto test = pairs_of(json, "test", where, solutions);
    return {std::move(name), std::move(train), std::move(test)};
}

Json json_of(const std::filesystem::path& path) {
    auto json = parse_json(read_text(path), path.string());
    if (!json.is_object()) refuse(path.string(), "must be a JSON object: a puzzle, or puzzles by name");
    return json;
}

/// The file of solutions beside one of challenges, if it is there.
std::optional<Json> solutions_of(const std::filesystem::path& path) {
    const std::string mark = "challenges";
    auto name = path.filename().string();
    const auto at = name.find(mark);
    if (at == std::string::npos) return {};
    const auto beside = path.parent_path() / name.replace(at, mark.size(), "solutions");
    if (!std::filesystem::exists(beside)) return {};
    return json_of(beside);
}

std::vector<Puzzle> puzzles_of_file(const std::filesystem::path& path) {
    const auto json = json_of(path);
    const auto where = path.string();
    if (json.contains("train") || json.contains("test"))
        return {puzzle_of(json, path.stem().string(), where)};
    const auto solutions = solutions_of(path);
    std::vector<Puzzle> puzzles;
    for (const auto& [name, puzzle] : json.items()) {
        const Json* of_this = nullptr;
        if (solutions && solutions->contains(name)) of_this = &(*solutions)[name];
        puzzles.push_back(
            puzzle_of(puzzle, name, fmt::format("{}: puzzle {}", where, in_quotes(name)), of_this));
    }
    return puzzles;
}

}  // namespace

std::vector<Puzzle> read_puzzles(const std::filesystem::path& path) {
    constexpr std::size_t most = 100'000;
    std::vector<Puzzle> puzzles;
    if (std::filesystem::is_directory(path)) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            if (entry.path().extension() == ".json") files.push_back(entry.path());
            if (files.size() > most) refuse(path.string(), fmt::format("more than {} files", most));
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files)
            puzzles.push_back(puzzle_of(json_of(file), file.stem().string(), file.string()));
    } else {
        puzzles = puzzles_of_file(path);
    }
    if (puzzles.empty())
        refuse(path.string(), "has no puzzles; must be a puzzle, puzzles by name, or a folder of *.json");
    return puzzles;
}

std::string puzzle_text(const Puzzle& puzzle) {
    const auto rows = [](const Grid& grid) {
        auto out = Json::array();
        for (std::int64_t row = 0; row < grid.rows; ++row) {
            out.push_back(Json::array());
            for (std::int64_t column = 0; column < grid.columns; ++column)
                out.back().push_back(grid.at(row, column));
        }
        return out;
    };
    const auto list = [&](const std::vector<GridPair>& pairs) {
        auto out = Json::array();
        for (const auto& pair : pairs)
            out.push_back({{"input", rows(pair.input)}, {"output", rows(pair.output)}});
        return out;
    };
    return Json{{"train", list(puzzle.train)}, {"test", list(puzzle.test)}}.dump();
}

Dataset make_arc(const TaskOptions& options) {
    if (options.grids.empty()) throw std::invalid_argument("task 'arc' requires a file or folder of grids");
    return grid_dataset(read_puzzles(options.grids), options);
}

}  // namespace spectra::tasks
