#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spectra::train {

/// Target of a position that is not scored.
inline constexpr std::int64_t not_scored = -100;

/// Inputs and targets. Real tasks: x and y are (count, steps, dimension), row-major; token tasks: tokens_x
/// and tokens_y are (count, steps).
struct Split {
    std::int64_t count = 0;
    std::vector<float> x, y;
    std::vector<std::int64_t> tokens_x, tokens_y;
};

/// What a model learns from and what it is judged by. The loss is the mean square error over all elements, of
/// token tasks the mean cross-entropy over the positions scored.
struct Dataset {
    std::string task;
    bool tokens = false;
    std::int64_t steps = 0;      ///< positions of a sequence; 1 where there is none
    std::int64_t dimension = 0;  ///< of a state; of token tasks the size of the vocabulary
    Split train, validation;

    /// No predictor that sees a sequence only up to its position has a smaller expected loss; NaN where no
    /// bound is known. One that sees the target, by pooling over the whole sequence, may go below.
    double noise_floor = std::numeric_limits<double>::quiet_NaN();

    /// Text only: the training part as it stands, in place of train.tokens_x and tokens_y; train.count is the
    /// number of windows in it, each at its own offset (see read_window).
    std::vector<std::uint8_t> stream;
    /// Text only: token k stands for the byte symbols[k]; ascending.
    std::string symbols;
};

struct TaskOptions {
    /// Of the data, at most 2^32 − 1001. The published data are those of 42, whatever the models' seeds.
    std::uint64_t seed = 42;
    /// Training sequences instead of the task's own number. Of text: the training part is cut to as many
    /// bytes as that number of windows side by side hold.
    std::optional<std::int64_t> samples;
    std::string text_file;      ///< for text
    std::int64_t context = 64;  ///< length of text's windows
};

/// The tasks by name. Numbers come from NumPy's legacy generator (LegacyRandom) in double precision and are
/// rounded to float; v₀ is a unit vector in the direction of a Gaussian one; targets are the next state.
///
///   gyroscope       d = 16, 255 steps: v' = Rv, R turns by θ ~ U(0.1, 2.5) in the plane of two coordinates
///                   i < j; both drawn for each sequence; 9000 and 1000 sequences
///   stability       d = 64, 127 steps: a unit key + 1e-3 · N(0, I) at every step; 900 and 100
///   near-pi-single  d = 64, 127 steps: v' = Rv, R turns coordinates 0 and 1 by 3.10; 1000 and 500
///   near-pi-multi   the same with R turning all pairs 2p, 2p + 1 by 3.14
///   reflection      d = 64, no sequence: x ~ N(0, I), y = −x; 500 and 500
///   copy            32 of 32 symbols, token 32, and the same 32 again: 64 steps of predicting the next
///                   token, scored on the second half; 5000 and 500
///   text            the next byte of a file's; the last tenth is for validation, in windows side by side
///
/// The first four are the data of the EΔ suite, up to the order in which a library adds up products (states
/// agree to 1e-12 before they are rounded). Reflection's are not: there they came from Torch's generator.
/// Gyroscope and stability draw training and validation from one stream, the training sequences first; the
/// others draw validation with seed + 1000. Validation is the same whatever `samples` is: the sequences that
/// follow the published number of training ones, further training sequences coming after those.
///
/// Throws std::invalid_argument for a mistake in what is asked or in the text file.
Dataset make_dataset(const std::string& task, const TaskOptions& options);

/// In the order above.
const std::vector<std::string>& task_names();

/// Window `offset` < train.count of a text's stream: x gets `steps` tokens, y those one further on.
void read_window(const Dataset& data, std::int64_t offset, std::span<std::int64_t> x,
                 std::span<std::int64_t> y);

}  // namespace spectra::train
