#include "train/data_parallel.hpp"

#include "parallel/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#if SPECTRA_GLOO
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#if SPECTRA_GLOO || SPECTRA_NCCL
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <unistd.h>

#include <chrono>
#include <thread>
#endif

namespace spectra::train {

bool DataParallel::any(bool here) {
    auto count = torch::tensor(here ? 1.0 : 0.0, torch::kDouble);
    sum(count);
    return count.item<double>() > 0;
}

torch::Device DataParallel::own_gpu() {
    const auto count = static_cast<int>(torch::cuda::device_count());
    return {torch::kCUDA, static_cast<c10::DeviceIndex>(parallel::launch().local_rank % std::max(count, 1))};
}

#if SPECTRA_GLOO || SPECTRA_NCCL

namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

const char* variable(const char* name) {
    const char* const text = std::getenv(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
}

/// Where processes find each other.
struct Place {
    StorePointer store;
    bool one_machine = false;  ///< all of them are here
};

StorePointer tcp_store(const std::string& host, std::uint16_t port, bool server) {
    c10d::TCPStoreOptions options;
    options.port = port;
    options.isServer = server;
    options.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>(host, options);
}

/// As torchrun announces it. Its own store is at that port already, except where processes are to bring theirs.
Place place_of_torchrun(const parallel::Launch& launch, const std::string& host) {
    const char* const port = variable("MASTER_PORT");
    if (port == nullptr) throw std::runtime_error("MASTER_ADDR is set, but MASTER_PORT is not");
    const char* const theirs = variable("TORCHELASTIC_USE_AGENT_STORE");
    const bool server = launch.rank == 0 && (theirs == nullptr || std::string(theirs) != "True");
    const char* const restart = variable("TORCHELASTIC_RESTART_COUNT");
    const auto store = tcp_store(host, static_cast<std::uint16_t>(std::atoi(port)), server);
    return {c10::make_intrusive<c10d::PrefixStore>(fmt::format("spectra/{}", restart ? restart : "0"), store),
            host == "localhost" || host == "127.0.0.1"};
}

/// By MPI: the first process opens a port and tells the others.
Place place_of_mpi() {
    const auto ranks = parallel::open_ranks();
    const bool one_machine = ranks->local_size() == ranks->size();
    if (ranks->rank() == 0) {
        std::string host = "127.0.0.1";
        if (!one_machine) {
            host.assign(256, '\0');
            if (gethostname(host.data(), host.size() - 1) != 0)
                throw std::runtime_error("this machine's name cannot be found");
            host.resize(host.find('\0'));
        }
        auto store = tcp_store(host, 0, true);
        const auto port = static_cast<c10d::TCPStore&>(*store).getPort();
        const auto words = fmt::format("{} {}", port, host);
        const auto* const bytes = reinterpret_cast<const std::byte*>(words.data());
        for (int other = 1; other < ranks->size(); ++other) ranks->send(other, {bytes, bytes + words.size()});
        return {std::move(store), one_machine};
    }
    for (;;) {
        if (const auto message = ranks->receive()) {
            if (message->bytes.empty()) throw std::runtime_error("the first process ended");
            const std::string words(reinterpret_cast<const char*>(message->bytes.data()),
                                    message->bytes.size());
            const auto space = words.find(' ');
            return {tcp_store(words.substr(space + 1), static_cast<std::uint16_t>(std::stoi(words)), false),
                    one_machine};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

/// Sums and broadcasts by a process group of Torch, which works on `device`.
template <class Engine>
class Group : public DataParallel {
public:
    Group(const parallel::Launch& launch, Place place, c10::intrusive_ptr<Engine> group, torch::Device device)
        : launch_(launch), place_(std::move(place)), group_(std::move(group)), device_(device) {}

    int rank() const override { return launch_.rank; }
    int size() const override { return launch_.size; }

    void sum(torch::Tensor& tensor) override {
        there(tensor, [&](std::vector<torch::Tensor>& whole) { group_->allreduce(whole)->wait(); });
    }
    void broadcast(torch::Tensor& tensor) override {
        there(tensor, [&](std::vector<torch::Tensor>& whole) { group_->broadcast(whole)->wait(); });
    }

private:
    template <class Call>
    void there(torch::Tensor& tensor, const Call& call) {
        std::vector<torch::Tensor> whole{tensor.to(device_).contiguous()};
        try {
            call(whole);
        } catch (const std::exception&) {
            throw ProcessLost(
                fmt::format("another of the {} processes ended or cannot be reached", launch_.size));
        }
        if (!whole.front().is_same(tensor)) tensor.copy_(whole.front());
    }

    parallel::Launch launch_;
    Place place_;  ///< the first process serves it as long as others may read
    c10::intrusive_ptr<Engine> group_;
    torch::Device device_;
};

#if SPECTRA_GLOO
std::unique_ptr<DataParallel> by_gloo(const parallel::Launch& launch, Place place) {
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->devices.push_back(place.one_machine
                                   ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(place.store, launch.rank, launch.size, options);
    return std::make_unique<Group<c10d::ProcessGroupGloo>>(launch, std::move(place), std::move(group),
                                                           torch::kCPU);
}
#endif

#if SPECTRA_NCCL
std::unique_ptr<DataParallel> by_nccl(const parallel::Launch& launch, Place place) {
    // A lost process is reported to the one that waits for it, instead of ending all of them at once.
    setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 0);
    setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 0);
    // NCCL takes a GPU once on a machine. Where processes have to share one, it is told that they are on several.
    if (place.one_machine && launch.size > static_cast<int>(torch::cuda::device_count()))
        setenv("NCCL_HOSTID", fmt::format("spectra-{}", launch.rank).c_str(), 0);
    auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(place.store, launch.rank, launch.size);
    return std::make_unique<Group<c10d::ProcessGroupNCCL>>(launch, std::move(place), std::move(group),
                                                           DataParallel::own_gpu());
}
#endif

std::unique_ptr<DataParallel> connected(const parallel::Launch& launch, bool on_gpus) {
    const auto place = [&] {
        const char* const host = variable("MASTER_ADDR");
        return host ? place_of_torchrun(launch, host) : place_of_mpi();
    };
#if SPECTRA_NCCL
    if (on_gpus) return by_nccl(launch, place());
#else
    static_cast<void>(on_gpus);
#endif
#if SPECTRA_GLOO
    return by_gloo(launch, place());
#else
    throw std::runtime_error(
        "without GPUs that needs the headers of gloo (Debian: libgloo-dev), which were missing when "
        "spectra was built");
#endif
}

}  // namespace

std::unique_ptr<DataParallel> DataParallel::open(bool on_gpus) {
    const auto launch = parallel::launch();
    if (launch.size < 2) return nullptr;
    try {
        return connected(launch, on_gpus);
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("{} processes were started, but they cannot train together: {}",
                                             launch.size, error.what()));
    }
}

#else

std::unique_ptr<DataParallel> DataParallel::open(bool) {
    const auto launch = parallel::launch();
    if (launch.size < 2) return nullptr;
    throw std::runtime_error(fmt::format(
        "{} processes were started, but they cannot train together: spectra was built without the headers "
        "of gloo (Debian: libgloo-dev)",
        launch.size));
}

#endif

}  // namespace spectra::train
