// The module spectra_mpi: Ranks by MPI.

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include "parallel/ranks.hpp"

#include <mpi.h>

#include <chrono>
#include <list>
#include <thread>
#include <utility>

namespace spectra::parallel {
namespace {

class MpiRanks final : public Ranks {
public:
    MpiRanks() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
        MPI_Comm_rank(node, &local_rank_);
        MPI_Comm_size(node, &local_size_);
        MPI_Comm_free(&node);
        staying_ = rank_ == 0 ? size_ - 1 : 1;
    }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    /// Ranks communicate only with the first rank: each side tells the other when it leaves.
    ~MpiRanks() override {
        for (int to = 0; to < (rank_ == 0 ? size_ : 1); ++to)
            if (to != rank_) post(to, {});
        while (staying_ > 0 || !outgoing_.empty())
            if (!receive()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        MPI_Finalize();
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }

    void send(int to, std::vector<std::byte> bytes) override { post(to, std::move(bytes)); }

    std::optional<Message> receive() override {
        clear_sent();
        int there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &message, &status);
        if (there == 0) return {};
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        Message out{status.MPI_SOURCE, std::vector<std::byte>(static_cast<std::size_t>(count))};
        MPI_Mrecv(out.bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        if (count == 0) --staying_;
        return out;
    }

private:
    struct Sent {
        std::vector<std::byte> bytes;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void post(int to, std::vector<std::byte> bytes) {
        auto& sent = outgoing_.emplace_back(Sent{std::move(bytes)});
        MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD,
                  &sent.request);
        clear_sent();
    }

    void clear_sent() {
        outgoing_.remove_if([](Sent& sent) {
            int done = 0;
            MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
            return done != 0;
        });
    }

    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    int staying_ = 0;           // ranks that have not sent their last message
    std::list<Sent> outgoing_;  // a buffer must not move until it is sent
};

}  // namespace
}  // namespace spectra::parallel

// May be called before MPI is initialised.
extern "C" __attribute__((visibility("default"))) void spectra_mpi_version(std::string& version) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    version = text;
}

extern "C" __attribute__((visibility("default"))) spectra::parallel::Ranks* spectra_open_ranks(
    std::string& why_not) {
    int before = 0, provided = 0;
    MPI_Initialized(&before);
    if (before != 0) {
        why_not = "MPI is already in use";
        return nullptr;
    }
    // All calls come from this thread; others only compute.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) {
        why_not = "this MPI does not support threads";
        MPI_Finalize();
        return nullptr;
    }
    return new spectra::parallel::MpiRanks();
}
