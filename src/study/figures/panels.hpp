#pragma once

#include "study/growing_network.hpp"
#include "study/figures/figures.hpp"
#include "dyson/ask/quantiles.hpp"
#include "network/network.hpp"
#include "plot/figure.hpp"

#include <functional>
#include <string>
#include <vector>

/// What the figures are made of.
namespace spectra::study {

/// A curve's colour, dashes and width: of Okabe and Ito's palette, told apart in grey print too.
void set_style(plot::Series& series, std::size_t index);
plot::Series line(const std::string& label, std::size_t index, std::vector<double> x,
                    std::vector<double> y);

/// The curve's colour mixed with white, for what lies behind it.
std::string tint(const std::string& colour);

/// The curve with a dot at each of its points.
void add_dotted(plot::Panel& panel, plot::Series curve);

/// log10; NaN of what is not positive.
double log10_of(double value);
std::vector<double> log10_of(std::vector<double> values);

/// An axis around all finite places of the panel's series, with room.
void frame_x(plot::Panel& panel, const std::string& label, plot::Scale scale);
void frame_y(plot::Panel& panel, const std::string& label, plot::Scale scale);

/// The request of one mixer's network, at any depth or at the given one.
Request network_request(const FigureRequest& request, const std::string& mixer, double noise);
std::vector<std::string> mixers_or(const FigureRequest& request, const std::vector<std::string>& names);
/// --depths; else those up to --max-depth, `per_decade` in every decade, evenly in ln L and each once.
std::vector<int> depths_of_curve(const FigureRequest& request, int max_depth, int per_decade);
/// One mixer's networks at these depths, the same layers in all of them.
std::vector<Network> networks_at(const FigureRequest& request, const std::string& mixer,
                                 const std::vector<int>& depths);
/// log10 of each.
std::vector<double> log10_of(const std::vector<int>& depths);
std::vector<int> depths_or(const FigureRequest& request, const std::vector<int>& depths);
/// Of a figure that has one. Throws std::invalid_argument where several were given.
int depth_or(const FigureRequest& request, int depth);

/// Runs work(k) for k < count on the request's threads, the last first (deep networks take longest), and says
/// how far it is. Throws what an item throws, Stopped where the observer stops.
void for_all(const FigureRequest& request, Observer& observer, const std::string& stage, std::size_t count,
             const std::function<void(std::size_t)>& work);

/// The shares of the law that the quantile bands show. Where mixers contract, the law of n streams falls
/// apart into n bands of mass 1/n: a share that is a multiple of it (the median, the quartiles of four
/// streams) would be anywhere in a gap. These are near the middle of the bands of four.
inline constexpr double shown_shares[] = {0.001, 0.12, 0.38, 0.62, 0.88, 0.999};

/// The shown quantiles of many networks over x, as three bands in log10 s.
/// Adds to points and uncertified of the drawing; a place of which a point is not certified is NaN.
plot::Panel quantile_panel(const std::vector<double>& x, const std::vector<dyson::Quantiles>& columns,
                             Drawing& drawing);

/// A panel for each depth (2 and 10 unless asked for): the shown quantiles of network(depth, x) over x.
void add_quantile_panels(Drawing& drawing, const FigureRequest& request, Observer& observer,
                         const std::vector<double>& x, const std::string& x_label,
                         const std::function<Network(int depth, double x)>& network);

/// "every point certified (123 points)", or how many are not.
std::string certificate_of(const Drawing& drawing);

/// "n = 4, Lσ² = 0.05, seed 1"
std::string setting_words(const FigureRequest& request, double noise);

}  // namespace spectra::study
