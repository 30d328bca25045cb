#pragma once

#include <filesystem>
#include <functional>

namespace spectra::h5 {

/// Does `read` of the file finish in a separate process? The HDF5 library crashes on some damaged or crafted
/// files, which must be refused instead. So each file is read once in a process that may crash. Exceptions
/// count as finishing; crashes, aborts and more than half a minute of processor time do not. A file that has
/// not changed since its trial is not tried again. Throws std::runtime_error if no process can be started.
bool survives_trial(const std::filesystem::path& path, const std::function<void()>& read);

}  // namespace spectra::h5
