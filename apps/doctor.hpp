#pragma once

namespace spectra::cli {

/// `spectra doctor`: examines this machine and prints a page or, if asked, JSON. Returns the exit status:
/// ExitStatus::not_finished if something required does not work.
int doctor(bool json);

}  // namespace spectra::cli
