#pragma once

/// \file
/// The catalogue of figures.

#include "study/observer.hpp"
#include "study/figure_request.hpp"
#include "plot/figure.hpp"

#include <string>
#include <utility>
#include <vector>

/// The figures that can be drawn. Each is a function of the request that computes everything it shows; what is
/// drawn is what is written.
namespace spectra::study {

/// A figure with its numbers.
struct Drawing {
    plot::Figure figure;                                       ///< what is drawn
    int points = 0;                                            ///< of theory
    int uncertified = 0;                                       ///< of these, without a certificate
    std::vector<std::pair<std::string, double>> numbers = {};  ///< single numbers of the figure
    std::vector<std::string> remarks = {};                     ///< lines for the terminal
};

/// An entry of the catalogue.
struct FigureKind {
    std::string name;                 ///< as users type it
    std::string shows;                 ///< one line
    std::vector<std::string> fields;  ///< of the request's network and simulation that it uses, besides the seed
    /// Computes and describes it.
    Drawing (*draw)(const FigureRequest&, Observer&);
    bool reads_files = false;    ///< that spectra train wrote
    bool needs_files = false;    ///< and draws nothing else
    bool of_validation = false;  ///< its files are those of spectra validate
};

/// All figures, in the order shown to users.
const std::vector<FigureKind>& figure_kinds();

/// \cond INTERNAL
Drawing draw_bands(const FigureRequest& request, Observer& observer);
Drawing draw_collapse(const FigureRequest& request, Observer& observer);
Drawing draw_rank(const FigureRequest& request, Observer& observer);
Drawing draw_printed(const FigureRequest& request, Observer& observer);
Drawing draw_composite(const FigureRequest& request, Observer& observer);
Drawing draw_mixers(const FigureRequest& request, Observer& observer);
Drawing draw_entries(const FigureRequest& request, Observer& observer);
Drawing draw_gate(const FigureRequest& request, Observer& observer);
Drawing draw_midpoint(const FigureRequest& request, Observer& observer);
Drawing draw_sphere(const FigureRequest& request, Observer& observer);
Drawing draw_rollout(const FigureRequest& request, Observer& observer);
Drawing draw_width(const FigureRequest& request, Observer& observer);
Drawing draw_cost(const FigureRequest& request, Observer& observer);
Drawing draw_training(const FigureRequest& request, Observer& observer);
Drawing draw_streams(const FigureRequest& request, Observer& observer);
Drawing draw_synergy(const FigureRequest& request, Observer& observer);
Drawing draw_generators(const FigureRequest& request, Observer& observer);
/// \endcond

}  // namespace spectra::study
