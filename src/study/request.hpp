#pragma once

/// \file
/// What can be asked of one network, as plain structs: study::analyse and study::depth_limit answer it.

#include "dyson/law/theory.hpp"
#include "mixers/mixer.hpp"
#include "montecarlo/run/simulate.hpp"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

inline constexpr int default_max_depth = 1000;               ///< of a search for the deepest network
inline constexpr int default_depth = 10;                     ///< L
inline constexpr int default_streams = 4;                    ///< n
inline constexpr int default_width = 25;                     ///< p
inline constexpr double default_noise = 0.05;                ///< L·σ²
inline constexpr const char* default_branch = "isotropic";   ///< of branch_names()
inline constexpr const char* default_activation = "relu";    ///< φ

/// How a hyper-connection's weights of the streams are chosen.
struct StreamWeights {
    /// Drawn from the seed, the same for all streams, or given.
    enum class Choice { drawn, mean, given };
    Choice choice = Choice::drawn;    ///< which
    std::vector<double> values = {};  ///< where given: one per stream, or one per layer and stream
    std::size_t layers = 1;           ///< sets of values: one for all layers, or one per layer
};

/// The analysis of one network. Empty optionals were not given: their defaults are applied where they are used,
/// since they may come from a file.
struct Request {
    // network
    std::optional<std::string> mixer;  ///< a family's name or a file
    std::optional<std::string> model;  ///< a file of the whole network, instead of a mixer
    std::optional<int> depth;          ///< L
    std::optional<int> streams;        ///< n
    std::optional<int> width;          ///< p, of the simulation
    std::optional<bool> shared_draws;  ///< one mixer for all layers
    std::uint64_t seed = 1;            ///< of everything random
    mixers::Recipe recipe;                    ///< but for the family
    std::vector<std::string> family_fields;   ///< those of the recipe that were given, by name: "logit_scale"

    // branch
    std::optional<std::string> branch;  ///< one of branch_names
    std::optional<double> noise;        ///< L·σ²
    std::optional<std::vector<double>> sigma2;  ///< σ² instead: one value, or one per layer
    std::optional<std::string> activation;  ///< φ, by name
    std::optional<std::vector<double>> preactivation_variance;  ///< of h: one value, or one per layer
    std::optional<std::string> branch_law;  ///< a file
    std::optional<StreamWeights> pre;   ///< how a hyper-connection reads the streams
    std::optional<StreamWeights> post;  ///< how it writes them

    // theory
    /// Theories to solve.
    std::vector<dyson::Method> methods{dyson::Method::operator_valued, dyson::Method::scalar};
    bool methods_given = false;  ///< otherwise those that support the branch
    std::optional<double> eta;   ///< none: auto
    std::optional<dyson::Grid> grid;  ///< places of the density; none: adaptive
    std::vector<std::complex<double>> omega;  ///< where to evaluate g
    bool sensitivity = false;  ///< derivatives of the metrics too
    int average = 0;  ///< draws of the mixers; 0: no average

    // simulation
    int samples = 100;  ///< 0: no simulation
    bool samples_given = false;  ///< otherwise as many as until_error takes, within reason
    std::optional<double> until_error;  ///< relative error of the mean square to simulate to
    bool redrawn = false;  ///< mixers drawn anew for every sample
    montecarlo::Slopes slopes = montecarlo::Slopes::drawn;             ///< of an activation
    montecarlo::Method method = montecarlo::Method::automatic;         ///< how singular values are found
    bool resume = false;                                               ///< continue the samples of the result file
    double checkpoint_seconds = 60;                                    ///< between two savings of the samples
    montecarlo::Keep keep = montecarlo::Keep::automatic;               ///< what the file keeps of the samples
    montecarlo::Device device = montecarlo::Device::automatic;         ///< where to simulate
    montecarlo::Precision precision = montecarlo::Precision::f64;      ///< of the matrices

    // output
    std::optional<std::string> out;  ///< stem of the files to write
    bool force = false;  ///< replace files not written by spectra
    std::vector<std::string> plots{"png"};  ///< formats of the figures
    bool column = false;  ///< figures as wide as one of two columns of a page
    bool json = false;  ///< for programs: print JSON
    bool quiet = false;  ///< for programs: print errors only
    int threads = 0;  ///< 0: all
    int gpu = 0;      ///< GPU index, modulo the number of devices; set where ranks share a machine

    /// What was given, or the default. A file of mixers or a model has sizes of its own.
    int depth_or_default() const { return depth.value_or(default_depth); }
    /// The same for streams.
    int streams_or_default() const { return streams.value_or(default_streams); }
    /// The same for L·σ².
    double noise_or_default() const { return noise.value_or(default_noise); }
    /// The same for the kind of branch.
    std::string branch_or_default() const { return branch.value_or(default_branch); }
};

/// The search for the deepest network that keeps a share of its singular values. Of the network, depth and width
/// stay empty.
struct DepthLimitRequest {
    Request network;               ///< what grows
    double keep = 0.9;             ///< least share of the singular values that must stay
    double above = 0.1;            ///< at or above this singular value
    std::optional<int> max_depth;  ///< where the search ends; none: default_max_depth, or where a file ends
};

/// The names of all families.
std::vector<std::string> family_names();

/// The names of all branches.
const std::vector<std::string>& branch_names();

/// Throws std::invalid_argument for fields that contradict each other, whatever the files say. Messages put the
/// names of fields in backquotes: a program can show its own names instead.
void check_conflicts(const Request& request);
/// The same for a search.
void check_conflicts(const DepthLimitRequest& request);

/// Throws where a field was given that mixers of this family do not use.
void check_family_fields(const Request& request, mixers::Family family);

/// Takes out the fields that this request's mixers, or its branch, do not use; returns their names. For a grid of
/// networks, where a field is for those that use it.
std::vector<std::string> drop_unused_fields(Request& request);

}  // namespace spectra::study
