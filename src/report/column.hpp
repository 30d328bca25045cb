#pragma once

#include <vector>

namespace spectra::report {

/// One number of every row.
template <class Rows, class Get>
std::vector<double> column(const Rows& rows, const Get& get) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(get(row));
    return values;
}

}  // namespace spectra::report
