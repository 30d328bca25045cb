#pragma once

#include "console.hpp"
#include "figure_request.hpp"
#include "plot/figure.hpp"

#include <string>
#include <utility>
#include <vector>

/// The figures that the command figure can draw. Each is a function of the request that computes everything
/// it shows; what is drawn is what is written.
namespace spectra::cli {

struct Drawing {
    plot::Figure figure;
    int points = 0, uncertified = 0;                           ///< of theory
    std::vector<std::pair<std::string, double>> numbers = {};  ///< what the figure says in single numbers
    std::vector<std::string> remarks = {};                     ///< lines for the terminal
};

struct FigureKind {
    std::string name;
    std::string shows;                 ///< one line
    std::vector<std::string> options;  ///< of the network and the simulation that it reads, besides --seed
    Drawing (*draw)(const FigureRequest&, Progress&);
    bool reads_files = false;  ///< that spectra train wrote
};

/// All of them, in the order users see.
const std::vector<FigureKind>& figure_kinds();

/// Ctrl-C: nothing of the figure is kept.
struct Stopped {};

Drawing draw_bands(const FigureRequest& request, Progress& progress);
Drawing draw_collapse(const FigureRequest& request, Progress& progress);
Drawing draw_rank(const FigureRequest& request, Progress& progress);
Drawing draw_printed(const FigureRequest& request, Progress& progress);
Drawing draw_composite(const FigureRequest& request, Progress& progress);
Drawing draw_gate(const FigureRequest& request, Progress& progress);
Drawing draw_sphere(const FigureRequest& request, Progress& progress);
Drawing draw_rollout(const FigureRequest& request, Progress& progress);
Drawing draw_width(const FigureRequest& request, Progress& progress);
Drawing draw_cost(const FigureRequest& request, Progress& progress);
Drawing draw_training(const FigureRequest& request, Progress& progress);

}  // namespace spectra::cli
