#pragma once

/// \file
/// What a study was asked: the command as typed, and the settings that are not the default.

#include <string>
#include <utility>
#include <vector>

namespace spectra::study {

/// Fields that results depend on and that are not the default, with their values as text: {"noise", "0.5"}.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How a study was started. Result files store it: the command for readers, the settings so that a study replaces
/// its own earlier result and no other (check_writable()).
struct Invocation {
    std::string command;  ///< as typed
    Settings settings;    ///< none: the study does not distinguish its results

    /// From a command alone.
    Invocation(const char* typed) : command(typed) {}  // NOLINT(google-explicit-constructor): a command is one
    /// The same, with settings.
    Invocation(std::string typed, Settings given = {}) : command(std::move(typed)), settings(std::move(given)) {}

    /// This invocation with one more setting.
    Invocation with(const std::string& field, const std::string& value) const;
};

/// For a default file name: "-noise0.5-seed2". Leaves out the fields in `except`, which the name has already, and the
/// device, on which results depend by rounding only. Values that are files are shortened to their names, and long ones
/// to a number.
std::string file_name_suffix(const Settings& settings, const std::vector<std::string>& except);

/// The settings as JSON, as files store them.
std::string to_json(const Settings& settings);

/// What differs, one entry per field: "`noise` 0.05 there, 0.5 here". `there` is what to_json() wrote. Leaves out the
/// fields in `except`, and the device.
std::vector<std::string> differences(const std::string& there, const Settings& here,
                                     const std::vector<std::string>& except = {});

}  // namespace spectra::study
