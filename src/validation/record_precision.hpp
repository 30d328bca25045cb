#pragma once

#include "validation/connection_record.hpp"

#include <functional>

/// How exactly two computations of a hyper-connection can agree.
namespace spectra::validation {

/// Unit roundoff of the formats that numbers may be kept in.
inline constexpr double double_unit = 0x1p-53, float_unit = 0x1p-24, bfloat_unit = 0x1p-8,
                        half_unit = 0x1p-11;

/// Whether single precision holds the number exactly.
bool is_float(double x);
/// Whether bfloat16 does.
bool is_bfloat(double x);

/// One result of a token, in a row.
using Get = std::function<Eigen::VectorXd(const ConnectionOutput&)>;
Eigen::VectorXd get_pre(const ConnectionOutput& output);
Eigen::VectorXd get_post(const ConnectionOutput& output);
Eigen::VectorXd get_mixer(const ConnectionOutput& output);
Eigen::VectorXd get_output(const ConnectionOutput& output);

/// Does it hold for all numbers of a result?
bool all_of(const std::vector<ConnectionOutput>& outputs, const Get& get, bool (*holds)(double));

/// The unit of pre, mixer and post, which are computed in single precision at least.
double unit_of(const std::vector<ConnectionOutput>& outputs);
/// The unit of the output, which is that of what models compute in, whatever their mixers are in.
double output_unit(const std::vector<ConnectionOutput>& outputs);

/// What rounding to a unit u changes in pre, mixer and post at most: u √K |Φ| in every raw number, a sum of K terms, and
/// their derivatives are at most 2; 32 u for sums of a normalisation. Four times that, for the order of operations.
double tolerance_of(const ConnectionInput& input, double unit);

}  // namespace spectra::validation
