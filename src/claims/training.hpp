#pragma once

/// \file
/// Trainings that claims rest on: which they are, and what they came to. Each takes a GPU half a minute to three, so that
/// their results are stored (data/claims/trainings) and the claims are computed from these.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spectra::claims {

/// A training, by the fields of `spectra train`.
struct Training {
    std::string name;  ///< "stability-edelta-42"
    std::string task;  ///< "stability"
    std::vector<std::pair<std::string, std::string>>
        fields;          ///< {"architecture", "edelta"}, …, {"seed", "42"}
    double seconds = 0;  ///< that it takes alone on an H200, roughly
    bool alone = false;  ///< its speed is what counts: nothing else is trained beside it

    /// Whether a GPU runs it: no field says where.
    bool on_gpu() const;
};

/// A training for each of the papers' three seeds.
struct Series {
    std::string name;  ///< "stability-edelta"
    std::string task;
    std::vector<std::pair<std::string, std::string>> fields;  ///< all but the seed
    double seconds = 0;                                       ///< of one of them
    bool alone = false;                                       ///< see Training
    /// The trainings: "stability-edelta-42", …
    std::vector<Training> trainings() const;
};

/// The seeds of the papers.
inline constexpr int training_seeds[] = {42, 123, 456};

/// All series.
const std::vector<Series>& training_series();

/// What trainings of task text learn, in words.
inline constexpr std::string_view training_text_words =
    "tiny Shakespeare, 1115394 bytes (data/tinyshakespeare/input.txt of github.com/karpathy/char-rnn)";
/// Whether a text is that one, byte for byte as far as its length and a hash of 64 bits show.
bool is_training_text(std::string_view text);

/// What a training came to.
struct TrainingResult {
    std::string name;                      ///< of the training
    std::string machine;                   ///< that ran it
    std::string version;                   ///< of the program: "0.1.0 (61cac98)"
    std::map<std::string, double> values;  ///< "final_val_loss", "norm_deviation", "seconds", …
    /// Columns of its log, a value per row: "val_loss"; diagnostics of the last row, a value per sublayer: "final_gate";
    /// and of all rows, one row after the other: "gate".
    std::map<std::string, std::vector<double>> columns;

    /// Whether it ended early because its loss or gradient grew without limit. Then it has the step, "diverged_at", and
    /// nothing else.
    bool diverged() const { return values.contains("diverged_at"); }
    /// A value. Throws std::out_of_range with the training's name and the value's.
    double at(const std::string& value) const;
    /// A column, likewise.
    const std::vector<double>& column(const std::string& name) const;
};

/// Reads a result. Throws std::invalid_argument, one line that begins with `where`.
TrainingResult training_from_json(const std::string& text, const std::string& where);
/// The same as JSON.
std::string to_json(const TrainingResult& result);

/// Results of trainings.
class TrainingResults {
public:
    TrainingResults() = default;
    explicit TrainingResults(std::vector<TrainingResult> results);

    /// The result of that name, or null.
    const TrainingResult* find(std::string_view name) const;
    /// The results of a series, a result per seed. Empty if one is missing.
    std::vector<const TrainingResult*> of(std::string_view series) const;
    /// Whether all series of a list are there.
    bool have(const std::vector<std::string>& series) const;
    const std::vector<TrainingResult>& all() const { return results_; }

private:
    std::vector<TrainingResult> results_;
};

/// Those that were compiled into the program, data/claims/trainings of its sources.
const TrainingResults& stored_trainings();
/// Those of a folder's JSON files; none where there is no such folder.
TrainingResults read_trainings(const std::filesystem::path& folder);

/// \cond INTERNAL
/// The files of data/claims/trainings (written by cmake/SpectraClaims.cmake).
std::vector<std::string> embedded_trainings();
/// \endcond

}  // namespace spectra::claims
