#include "study/conform.hpp"

#include <stdexcept>

namespace spectra::study {

validation::Conformity conform(const ConformRequest& r) {
    if (r.files.size() != 2)
        throw std::invalid_argument("conform: two files are required: spectra conform REFERENCE CANDIDATE");
    const auto read = [](const std::string& name) {
        return validation::read_connection_record(weightfile::TensorFile::open(name));
    };
    const auto reference = read(r.files[0]);
    return validation::conform(reference, read(r.files[1]));
}

}  // namespace spectra::study
