#pragma once

#include "dyson/law/theory.hpp"
#include "mixers/mixer.hpp"
#include "montecarlo/run/simulate.hpp"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spectra::study {

/// How a hyper-connection's weights of the streams are chosen.
struct StreamWeights {
    enum class Choice { drawn, mean, given } choice = Choice::drawn;
    std::vector<double> values = {};  ///< where given: one per stream
};

/// The analysis of one network. Empty optionals were not given: their defaults are applied where they are used,
/// since they may come from a file.
struct Request {
    // network
    std::optional<std::string> mixer;  ///< a family's name or a file
    std::optional<std::string> model;
    std::optional<int> depth, streams, width;
    std::optional<bool> shared_draws;
    std::uint64_t seed = 1;
    mixers::Recipe recipe;                    ///< but for the family
    std::vector<std::string> family_fields;   ///< those of the recipe that were given, by name: "logit_scale"

    // branch
    std::optional<std::string> branch;  ///< one of branch_names
    std::optional<double> noise;        ///< L·σ²
    std::optional<std::vector<double>> sigma2;
    std::optional<std::string> activation;
    std::optional<std::vector<double>> preactivation_variance;
    std::optional<std::string> branch_law;  ///< a file
    std::optional<StreamWeights> pre, post;

    // theory
    std::vector<dyson::Method> methods{dyson::Method::operator_valued, dyson::Method::scalar};
    bool methods_given = false;  ///< otherwise those that know the branch
    std::optional<double> eta;   ///< none: auto
    std::optional<dyson::Grid> grid;
    std::vector<std::complex<double>> omega;
    bool sensitivity = false;
    int average = 0;  ///< draws of the mixers; 0: no average

    // simulation
    int samples = 100;
    bool samples_given = false;  ///< otherwise as many as until_error takes, within reason
    std::optional<double> until_error;
    bool redrawn = false;
    montecarlo::Slopes slopes = montecarlo::Slopes::drawn;
    montecarlo::Method method = montecarlo::Method::automatic;
    bool resume = false;
    double checkpoint_seconds = 60;
    montecarlo::Keep keep = montecarlo::Keep::automatic;
    montecarlo::Device device = montecarlo::Device::automatic;
    montecarlo::Precision precision = montecarlo::Precision::f64;

    // output
    std::optional<std::string> out;
    bool force = false;
    std::vector<std::string> plots{"png"};
    bool json = false;
    bool quiet = false;
    int threads = 0;  ///< 0: all
    int gpu = 0;      ///< of a machine's several, counted round; set where ranks share it
};

/// The search for the deepest network that keeps a share of its singular values. Of the network, depth and width
/// stay empty.
struct DepthLimitRequest {
    Request network;
    double keep = 0.9;
    double above = 0.1;
    std::optional<int> max_depth;
};

inline constexpr int default_max_depth = 1000;
inline constexpr int default_depth = 10;
inline constexpr int default_streams = 4;
inline constexpr int default_width = 25;
inline constexpr double default_noise = 0.05;
inline constexpr const char* default_branch = "isotropic";
inline constexpr const char* default_activation = "relu";

/// The names of all families.
std::vector<std::string> family_names();

/// The names of all branches.
const std::vector<std::string>& branch_names();

/// Throws std::invalid_argument for fields that contradict each other, whatever the files say. Messages put the
/// names of fields in backquotes: a program can show its own names instead.
void check_conflicts(const Request& request);
void check_conflicts(const DepthLimitRequest& request);

/// Throws where a field was given that mixers of this family do not use.
void check_family_fields(const Request& request, mixers::Family family);

/// Takes out the fields that this request's mixers, or its branch, do not use; returns their names. For a grid of
/// networks, where a field is for those that use it.
std::vector<std::string> drop_unused_fields(Request& request);

}  // namespace spectra::study
