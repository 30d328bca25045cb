#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <future>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint_file.hpp"

/// Several processes train one model: what comes out is what one process trains.
namespace spectra {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

/// A port that nobody listens at just now.
int free_port() {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(s, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        getsockname(s, reinterpret_cast<sockaddr*>(&address), &length) != 0)
        throw std::runtime_error("no free port");
    close(s);
    return ntohs(address.sin_port);
}

class DataParallelProgram : public ::testing::Test {
protected:
    void SetUp() override {
#if !SPECTRA_GLOO
        GTEST_SKIP() << "built without the headers of gloo";
#endif
    }

    static Words small(const std::string& out, const Words& more = {}, const std::string& batch = "7") {
        Words words{SPECTRA_BINARY,
                    "train",
                    "near-pi-single",
                    "--mixer",
                    "cayley",
                    "--layers",
                    "1",
                    "--channels",
                    "16",
                    "--streams",
                    "2",
                    "--samples",
                    "32",
                    "--validation-samples",
                    "4",
                    "--steps",
                    "12",
                    "--log-every",
                    "4",
                    "--threads",
                    "1",
                    "--plot",
                    "none",
                    "--json",
                    "--batch",
                    batch,
                    "--out",
                    out};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    testing::ProcessResult alone(const Words& words) {
        testing::ProcessOptions options;
        options.folder = folder_.path();
        return testing::run_process(words, options);
    }

    /// As torchrun starts them.
    std::vector<testing::ProcessResult> together(int count, const Words& words, int interrupted = -1,
                                                 int signal = SIGTERM) {
        const auto port = std::to_string(free_port());
        std::vector<std::future<testing::ProcessResult>> running;
        for (int k = 0; k < count; ++k) {
            testing::ProcessOptions options;
            options.folder = folder_.path();
            options.environment = {{"RANK", std::to_string(k)},
                                   {"LOCAL_RANK", std::to_string(k)},
                                   {"WORLD_SIZE", std::to_string(count)},
                                   {"MASTER_ADDR", "127.0.0.1"},
                                   {"MASTER_PORT", port}};
            if (k == interrupted) {
                options.interrupt_when = [this] {
                    return std::filesystem::exists(folder_.path() / "run.ckpt");
                };
                options.interrupt_by = signal;
            }
            running.push_back(
                std::async(std::launch::async, [=] { return testing::run_process(words, options); }));
        }
        std::vector<testing::ProcessResult> out;
        for (auto& one : running) out.push_back(one.get());
        return out;
    }

    /// The rows of a log.
    std::vector<std::vector<double>> rows(const std::string& stem) const {
        const auto c = train::load_checkpoint(folder_.path() / (stem + ".ckpt"));
        std::vector<std::vector<double>> out;
        for (int64_t i = 0; i < c.log.size(0); ++i) {
            const auto row = c.log[i].contiguous();
            out.emplace_back(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
        }
        return out;
    }

    /// Equal but for the order of sums, in parameters and moments.
    void expect_same_model(const std::string& a, const std::string& b) const {
        const auto one = train::load_checkpoint(folder_.path() / (a + ".ckpt"));
        const auto two = train::load_checkpoint(folder_.path() / (b + ".ckpt"));
        EXPECT_EQ(one.config, two.config);
        EXPECT_EQ(one.step, two.step);
        for (const auto& [name, value] : one.model)
            EXPECT_LT((value - two.model.at(name)).abs().max().item<double>(), 2e-5) << name;
        EXPECT_LT((one.first_moment - two.first_moment).abs().max().item<double>(), 1e-6);
        ASSERT_EQ(one.log.sizes(), two.log.sizes());
    }

    testing::TemporaryFolder folder_;
};

TEST_F(DataParallelProgram, TwoAndThreeProcessesTrainTheModelOfOne) {
    const auto one = alone(small("one"));
    ASSERT_EQ(one.status, 0) << one.err;
    for (const int count : {2, 3}) {  // 7 sequences are 3 + 4, and 2 + 2 + 3
        const auto stem = "of" + std::to_string(count);
        const auto several = together(count, small(stem));
        for (const auto& process : several) ASSERT_EQ(process.status, 0) << process.err;
        for (std::size_t k = 1; k < several.size(); ++k) EXPECT_EQ(several[k].out, "");
        const auto object = json::parse(several[0].out);
        EXPECT_EQ(object["device"].get<std::string>().rfind(std::to_string(count) + " processes", 0), 0U);
        EXPECT_NEAR(object["final_val_loss"].get<double>(),
                    json::parse(one.out)["final_val_loss"].get<double>(), 1e-6);
        expect_same_model("one", stem);
        const auto a = rows("one"), b = rows(stem);
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < 5; ++j) {
                if (std::isnan(a[i][j])) continue;
                EXPECT_NEAR(a[i][j], b[i][j], 1e-5 * std::max(1e-2, std::abs(a[i][j])));
            }
    }
}

// Without this, the test above would pass if every process trained on the whole batch.
TEST_F(DataParallelProgram, AnotherBatchIsAnotherModel) {
    ASSERT_EQ(alone(small("seven")).status, 0);
    ASSERT_EQ(alone(small("three", {}, "3")).status, 0);
    EXPECT_GT(std::abs(rows("seven").back()[1] - rows("three").back()[1]), 1e-4 * rows("seven").back()[1]);
}

TEST_F(DataParallelProgram, StoppedAndResumedByAnyNumberOfProcesses) {
    for (const auto& process : together(2, small("whole"))) ASSERT_EQ(process.status, 0) << process.err;
    for (const auto& process : together(2, small("parts", {"--stop-after", "5"})))
        ASSERT_EQ(process.status, 0);
    std::filesystem::copy(folder_.path() / "parts.ckpt", folder_.path() / "alone.ckpt");
    for (const auto& process : together(2, small("parts", {"--resume"})))
        ASSERT_EQ(process.status, 0) << process.err;
    EXPECT_EQ(testing::content(folder_.path() / "whole.csv"), testing::content(folder_.path() / "parts.csv"));
    const auto one = alone(small("alone", {"--resume"}));
    ASSERT_EQ(one.status, 0) << one.err;
    expect_same_model("whole", "alone");
}

TEST_F(DataParallelProgram, ASignalToOneStopsAll) {
    Words words = small("run", {"--checkpoint", "0.01"});
    words[static_cast<std::size_t>(std::find(words.begin(), words.end(), "12") - words.begin())] = "100000";
    const auto several = together(2, words, 1);
    for (const auto& process : several) EXPECT_EQ(process.status, 130) << process.err;
    const auto c = train::load_checkpoint(folder_.path() / "run.ckpt");
    EXPECT_GT(c.step, 0);
}

TEST_F(DataParallelProgram, AProcessThatDiesEndsTheOthersAndLosesNothing) {
    Words words = small("run", {"--checkpoint", "0.01"});
    words[static_cast<std::size_t>(std::find(words.begin(), words.end(), "12") - words.begin())] = "100000";
    const auto several = together(2, words, 1, SIGKILL);
    EXPECT_EQ(several[0].status, 3) << several[0].err;
    EXPECT_NE(several[0].err.find("another of the 2 processes ended"), std::string::npos) << several[0].err;
    EXPECT_NE(several[0].err.find("--resume continues it"), std::string::npos) << several[0].err;
    EXPECT_GT(train::load_checkpoint(folder_.path() / "run.ckpt").step, 0);
}

TEST_F(DataParallelProgram, RefusesMoreProcessesThanSequences) {
    const auto several = together(2, small("run", {}, "1"));
    for (const auto& process : several) EXPECT_EQ(process.status, 2) << process.err;
    EXPECT_NE(several[0].err.find("--batch: 1, but 2 processes were started"), std::string::npos)
        << several[0].err;
    EXPECT_EQ(folder_.entries(), 0U);
}

TEST_F(DataParallelProgram, StartedByMpirun) {
    if (std::string(SPECTRA_MPIEXEC).empty()) GTEST_SKIP() << "built without MPI";
    for (const auto& process : together(2, small("torchrun"))) ASSERT_EQ(process.status, 0) << process.err;
    Words words{SPECTRA_MPIEXEC, "-n", "2"};
    const auto command = small("mpirun");
    words.insert(words.end(), command.begin(), command.end());
    testing::ProcessOptions options;
    options.folder = folder_.path();
    options.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                           {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                           {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
    const auto result = testing::run_process(words, options);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(testing::content(folder_.path() / "torchrun.csv"),
              testing::content(folder_.path() / "mpirun.csv"));
}

}  // namespace
}  // namespace spectra
