#pragma once

#include <cstddef>
#include <optional>
#include <string>

/// How much memory a run may use.
namespace spectra::study {

/// Bytes of memory this machine has.
std::size_t physical_memory();

/// The limit on this process's address space in bytes (`ulimit -v`); nothing if there is none.
std::optional<std::size_t> address_space_limit();

/// Throws std::runtime_error if the limit leaves too little for the program itself: what is mapped already, and for every
/// thread its stack and a buffer of OpenBLAS. OpenBLAS waits for ever for a buffer that it cannot get, and OpenMP ends the
/// program if it cannot start a thread. To be called before anything is computed; with a limit, all threads then take
/// their memory from one place.
void check_address_space();

/// Throws std::invalid_argument if `bytes` exceed the machine's memory, or what the limit leaves of it:
/// "<what> would need 31 GiB, …".
void check_memory(const std::string& what, double bytes, const std::string& remedy);

}  // namespace spectra::study
