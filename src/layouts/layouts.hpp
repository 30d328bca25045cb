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

/// A file whose keys belong to no known layout.
class UnknownLayout : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The layout that a file's keys belong to, whatever stands before them ("model.", "module.", "_orig_mod.",
/// "core."). Refuses (UnknownLayout, one line) a file of none, naming the layouts, and
/// (std::invalid_argument) a model known to have no mixers.
std::string recognise(const weightfile::TensorFile& file);

/// How a file is read.
struct LayoutOptions {
    std::string layout;            ///< of layout_names(); empty: recognised
    std::optional<LayoutMap> map;  ///< in place of a layout
    InputPoint input;              ///< where the input-dependent part is taken
};

/// The connections of the file's model. Reads the tensors it needs and no others; at zero input these are the
/// biases, and not the projections whose input is 0. Stack::input is "every input" where nothing depends on
/// it. Whatever is missing, of another shape or not finite is refused: std::invalid_argument, one line that
/// begins with the file's name and has key and shape.
Stack read_stack(const weightfile::TensorFile& file, const LayoutOptions& options = {});

}  // namespace spectra::layouts
