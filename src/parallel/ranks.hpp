#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spectra::parallel {

struct Message {
    int from = 0;
    std::vector<std::byte> bytes;  ///< empty: that rank has left and will send no more
};

/// The processes of a run that was started several times (mpirun, srun), from the view of one of them. All
/// calls come from one thread.
class Ranks {
public:
    /// Tells the others that this one leaves (Message), and waits for them to leave too.
    virtual ~Ranks() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// The rank among the processes of this machine.
    virtual int local_rank() const = 0;
    virtual int local_size() const = 0;

    /// Does not wait; messages from one rank to another arrive in order. `bytes` must not be empty.
    virtual void send(int to, std::vector<std::byte> bytes) = 0;
    /// A message that has arrived, or none. Does not wait.
    virtual std::optional<Message> receive() = 0;
};

/// Threads for one rank where the user asks for no number: a launcher may have bound it to cores of its own, or let it share
/// all cores with the other ranks of this machine.
int threads_of(const Ranks& ranks);

/// The function that the module exports. Returns null if there are no ranks; why_not then gives the reason in
/// one line.
using OpenRanks = Ranks* (*)(std::string& why_not);
inline constexpr char open_ranks_name[] = "spectra_open_ranks";

}  // namespace spectra::parallel
