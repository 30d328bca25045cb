#pragma once

#include "plot/figure.hpp"
#include "report/panel_height.hpp"
#include "spectrum/spectrum.hpp"

#include <string>
#include <vector>

/// Notes in panels of densities: where the mass is that the eye cannot find, and atoms.
namespace spectra::report {

/// Says which share of a law lies next to zero, in the first hundredth of a linear axis, or below the least place of
/// a logarithmic one. Says nothing of less than 5 %, nor where atoms, which have notes of their own, are all of it.
/// `cut`: the density next to zero is higher than the panel; the note is about the first twelfth then.
void note_hidden(plot::Panel& panel, const Spectrum& law, bool cut);

/// Writes the law's mass in every peak that is cut beside it, at the top of the panel.
void note_peaks(plot::Panel& panel, const Spectrum& law, const std::vector<Peak>& peaks);

/// Writes the mass of every band above it, in a logarithmic panel of two to six bands. Peaks that are cut have
/// notes of their own.
void note_bands(plot::Panel& panel, const Spectrum& law, const std::vector<Peak>& peaks);

/// One atom of a law.
struct Stem {
    double place = 0;    ///< along the panel's axis; −∞: below a logarithmic one
    double mass = 0;     ///< its height
    std::string method;  ///< "ov", "scalar"
    std::string label;   ///< in the legend
    std::string colour;  ///< "#rrggbb"
};

/// Draws atoms as stems with a disc at the mass, on the panel's second vertical axis, which ends at 1. Atoms of
/// one method too close to be told apart share a note with the sum of their masses.
void add_stems(plot::Panel& panel, const std::vector<Stem>& stems);

}  // namespace spectra::report
