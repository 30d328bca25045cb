#pragma once

#include <filesystem>
#include <functional>

namespace spectra::h5 {

/// Does `read` of the file come to its end in a process of its own? The HDF5 library crashes on some damaged files
/// (and on crafted ones), where a reader of files must refuse: so a file is read once where nothing is lost. Exceptions
/// count as an end; crashes, aborts and more than half a minute of processor time do not. A file that has not changed
/// since it was tried is not tried again. Throws std::runtime_error where no process can be started.
bool survives_trial(const std::filesystem::path& path, const std::function<void()>& read);

}  // namespace spectra::h5
