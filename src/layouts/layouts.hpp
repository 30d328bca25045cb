#pragma once

/// \file
/// From the weight files people have to the mixers of a trained model, without Torch. docs/layouts.md lists
/// the layouts.

#include "weightfile/tensor_file.hpp"
#include "layouts/input_point.hpp"
#include "layouts/layout_map.hpp"
#include "layouts/stack.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::layouts {

/// The built-in layouts, named after the code whose tensor names they read: "spectra", "edelta",
/// "tokenbender", ….
std::vector<std::string> layout_names();

/// The keys of a file match no known layout.
class UnknownLayout : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The tensor-name layout of a file's keys, with any prefix ("model.", "module.", "_orig_mod.", "core.").
/// Throws, in one line, UnknownLayout with the known layouts if none matches, and std::invalid_argument for a
/// model known to have no mixers.
std::string recognise(const weightfile::TensorFile& file);

/// How a file is read.
struct LayoutOptions {
    std::string layout;            ///< one of layout_names(); empty: recognised
    std::optional<LayoutMap> map;  ///< in place of a layout
    InputPoint input;              ///< where the dynamic part is evaluated
};

/// The connections of the file's model. Reads only the tensors it needs; at zero input these are the biases,
/// not the projections. Stack::input is "every input" if nothing depends on it. Refuses tensors that are
/// missing, have another shape or are not finite: std::invalid_argument, one line that begins with the file's
/// name and gives key and shape.
Stack read_stack(const weightfile::TensorFile& file, const LayoutOptions& options = {});

}  // namespace spectra::layouts
