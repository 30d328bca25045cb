#include "study/output_files.hpp"

#include "base/atomic_file.hpp"
#include "report/result_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace spectra::study {

OutputFiles output_files(const std::string& stem, const std::vector<std::string>& formats) {
    std::string base = stem;
    if (base.size() > 3 && base.ends_with(".h5")) base.resize(base.size() - 3);
    const auto name = std::filesystem::path(base).filename().string();
    if (name.empty() || name == "." || name == "..")
        throw std::invalid_argument(fmt::format("`out` '{}': must be a file name without extension", stem));
    OutputFiles files{base + ".h5", {}};
    for (const auto& format : formats) files.figures.emplace_back(base + "." + format);
    return files;
}

void refuse_symbolic_link(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored))
        throw std::invalid_argument(
            fmt::format("`out`: {}: is a symbolic link, and its target would be replaced; use another `out`, "
                        "or `force`",
                        path.string()));
}

namespace {

/// How the result differs that is there; nothing if it is of the same settings.
std::vector<std::string> differences_from(const std::filesystem::path& result, const Settings& settings,
                                          const std::vector<std::string>& except) {
    const auto there = report::stored_settings(result);
    if (!there) return {"an earlier version wrote it"};
    return differences(*there, settings, except);
}

}  // namespace

void check_writable(const OutputFiles& files, const Settings& settings, bool force,
                    const std::vector<std::string>& except) {
    std::error_code ignored;
    const auto folder =
        files.result.has_parent_path() ? files.result.parent_path() : std::filesystem::path(".");
    if (!std::filesystem::is_directory(folder, ignored))
        throw std::invalid_argument(fmt::format("`out`: {}: no such folder", folder.string()));
    std::string probe = (folder / ".spectra-XXXXXX").string();
    const int descriptor = mkstemp(probe.data());
    if (descriptor < 0)
        throw std::invalid_argument(fmt::format("`out`: {}: cannot write to this folder ({})",
                                                folder.string(), std::strerror(errno)));
    close(descriptor);
    unlink(probe.c_str());
    remove_leftovers(files.result);
    for (const auto& figure : files.figures) remove_leftovers(figure);

    const auto refuse_folder = [&](const std::filesystem::path& path) {
        if (std::filesystem::is_directory(path, ignored))
            throw std::invalid_argument(fmt::format("`out`: {}: is a folder", path.string()));
    };
    refuse_folder(files.result);
    for (const auto& figure : files.figures) refuse_folder(figure);
    if (force) return;
    refuse_symbolic_link(files.result);
    for (const auto& figure : files.figures) refuse_symbolic_link(figure);
    if (report::is_result_file(files.result)) {
        const auto differing = differences_from(files.result, settings, except);
        if (differing.empty()) return;
        throw std::invalid_argument(
            fmt::format("`out`: {}: holds another result ({}); use another `out`, or `force` to replace it",
                        files.result.string(), fmt::join(differing, "; ")));
    }
    const auto refuse = [&](const std::filesystem::path& path, const char* what) {
        if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
            throw std::invalid_argument(fmt::format(
                "`out`: {}: exists and {}; use another `out`, or `force`", path.string(), what));
    };
    refuse(files.result, "is not a result file of spectra");
    for (const auto& figure : files.figures) refuse(figure, "has no result file of spectra beside it");
}

std::vector<std::filesystem::path> stale_figures(const OutputFiles& files, const Settings& settings) {
    std::vector<std::filesystem::path> stale;
    std::error_code ignored;
    if (!report::is_result_file(files.result) || differences_from(files.result, settings, {}).empty()) return stale;
    for (const char* format : {".png", ".svg", ".pdf", ".html"}) {
        const auto path = std::filesystem::path(files.result).replace_extension(format);
        if (std::find(files.figures.begin(), files.figures.end(), path) == files.figures.end() &&
            std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
            stale.push_back(path);
    }
    return stale;
}

}  // namespace spectra::study
