#pragma once

#include "mixers/mixer.hpp"
#include "study/figure_request.hpp"

#include <string>
#include <vector>

/// The mixers of models and of networks, for figures.
namespace spectra::study {

struct MixerStack {
    std::string label;
    /// A_1 … A_L at every input of a trained model; drawn ones and those of a network at one.
    std::vector<std::vector<Mixer>> inputs;

    std::size_t depth() const { return inputs.front().size(); }
    /// All mixers of all inputs.
    std::vector<Mixer> all() const;
};

/// One per result file: of spectra validate, or of an analysis. Without files those of the request's families, or of these,
/// as deep as its depths say, or 10. Throws std::invalid_argument for a file without mixers, and where families and files are
/// both given. Labels are distinct.
std::vector<MixerStack> mixer_stacks(const FigureRequest& request, const std::vector<std::string>& families);

/// A_l ··· A_1 for every l.
std::vector<Mixer> products(const std::vector<Mixer>& mixers);

/// "n = 4, seed 1", and what else was given of the mixers.
std::string drawn_words(const FigureRequest& request);

/// "4 inputs", or how the mixers were drawn: for captions.
std::string origin(const FigureRequest& request, const std::vector<MixerStack>& stacks);

}  // namespace spectra::study
