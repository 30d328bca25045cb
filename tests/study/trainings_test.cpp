#include "study/trainings.hpp"

#include "claims/registry.hpp"
#include "h5/file.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

namespace spectra::study {
namespace {

namespace fs = std::filesystem;

class Trainings : public ::testing::Test {
protected:
    void SetUp() override {
        auto file = h5::File::create(folder_.path() / "log.h5");
        file.make_group("training");
        file.write_attribute("/", "program_version", "0.1.0");
        file.write_attribute("/", "git", "abc");
        file.write_attribute("training", "final_val_loss", 1.23456789e-6);
        file.write_attribute("training", "parameters", 1935328);
        file.write_attribute("training", "task", "stability");
        file.write("training/val_loss", {1.0, 0.5});
        file.make_group("training/diagnostics");
        const std::vector<double> gates{0.1, 0.2, 0.3, 0.4};
        file.write("training/diagnostics/gate", gates, {2, 2});
        file.write("training/diagnostics/beta_negative", gates, {2, 2});
        file.close();
    }

    /// Trains by copying that log; `after` runs before it.
    TrainingsRequest request(const std::string& before) {
        TrainingsRequest out;
        out.trainings = claims::Series{"test", "stability", {{"architecture", "gpt"}}, 1}.trainings();
        out.folder = folder_.path() / "results";
        out.program = "/bin/sh";
        out.machine = "a test";
        out.at_once = 2;
        out.arguments = [this, before](const claims::Training& training, const fs::path& stem) {
            return std::vector<std::string>{
                "-c",
                before + "; echo x >> \"$1\"; cp \"$2\" \"$3.h5\"; touch \"$3.ckpt\" \"$3.ckpt.previous\"",
                "sh",
                (folder_.path() / ("calls-" + training.name)).string(),
                (folder_.path() / "log.h5").string(),
                stem.string()};
        };
        return out;
    }

    std::uintmax_t calls(const std::string& name) const {
        const auto file = folder_.path() / ("calls-" + name);
        return fs::exists(file) ? fs::file_size(file) / 2 : 0;
    }

    spectra::testing::TemporaryFolder folder_;
    Observer observer_;
};

TEST_F(Trainings, AreRunOnceAndLeaveTheirResultsAlone) {
    const auto asked = request("true");
    auto done = run_trainings(asked, observer_);
    EXPECT_EQ(done.trained, 3);
    EXPECT_TRUE(done.failures.empty());
    const auto results = claims::read_trainings(asked.folder);
    ASSERT_EQ(results.all().size(), 3U);
    EXPECT_EQ(results.all()[0].at("final_val_loss"), 1.23457e-6);
    EXPECT_EQ(results.all()[0].at("parameters"), 1935328);
    EXPECT_EQ(results.all()[0].version, "0.1.0 (abc)");
    EXPECT_EQ(results.all()[0].column("final_gate"), (std::vector<double>{0.3, 0.4}));
    EXPECT_EQ(results.all()[0].column("gate"), (std::vector<double>{0.1, 0.2, 0.3, 0.4})) << "row by row";
    EXPECT_EQ(results.all()[0].column("final_beta_negative"), (std::vector<double>{0.3, 0.4}));
    EXPECT_EQ(std::distance(fs::directory_iterator(asked.folder), {}), 3) << "logs and checkpoints are gone";
    fs::remove(asked.folder / (asked.trainings[1].name + ".json"));
    done = run_trainings(asked, observer_);
    EXPECT_EQ(done.trained, 1);
    EXPECT_EQ(done.there, 2);
    EXPECT_EQ(calls(asked.trainings[0].name), 1U);
    EXPECT_EQ(calls(asked.trainings[1].name), 2U);
}

TEST_F(Trainings, NoneIsStartedAfterAFailure) {
    auto asked = request("echo out of memory >&2; exit 3");
    asked.at_once = 1;
    const auto done = run_trainings(asked, observer_);
    EXPECT_EQ(done.trained, 0);
    ASSERT_EQ(done.failures.size(), 1U);
    EXPECT_EQ(done.failures[0], asked.trainings[0].name + ": ended with 3: out of memory");
}

TEST_F(Trainings, ThatMustBeAloneAreRunAloneAtTheEnd) {
    auto asked = request("true");
    asked.trainings[0].alone = asked.trainings[1].alone = true;
    asked.at_once = 3;
    const auto arguments = asked.arguments;
    std::mutex mutex;
    std::vector<std::string> started;
    asked.arguments = [&](const claims::Training& training, const fs::path& stem) {
        const std::lock_guard lock(mutex);
        started.push_back(training.name);
        // Every training that was started before this one has its result.
        for (const auto& name : started) {
            const bool done = fs::exists(asked.folder / (name + ".json"));
            EXPECT_TRUE(done || name == training.name || !training.alone)
                << name << " beside " << training.name;
        }
        return arguments(training, stem);
    };
    EXPECT_EQ(run_trainings(asked, observer_).trained, 3);
    EXPECT_EQ(started, (std::vector<std::string>{"test-456", "test-42", "test-123"}));
}

TEST_F(Trainings, ThatDivergeAreResults) {
    const auto asked = request(
        "echo 'spectra: training diverged at step 37: loss nan, gradient norm nan; block 3' >&2; exit 3");
    const auto done = run_trainings(asked, observer_);
    EXPECT_EQ(done.trained, 3);
    EXPECT_TRUE(done.failures.empty());
    const auto results = claims::read_trainings(asked.folder);
    ASSERT_EQ(results.all().size(), 3U);
    EXPECT_TRUE(results.all()[0].diverged());
    EXPECT_EQ(results.all()[0].at("diverged_at"), 37);
    EXPECT_TRUE(claims::known_version(results.all()[0].version, "0.1.0")) << results.all()[0].version;
}

TEST_F(Trainings, ALogThatIsNotFinishedIsNoResult) {
    auto file = h5::File::create(folder_.path() / "half.h5");
    file.make_group("training");
    file.close();
    EXPECT_THROW(training_result(folder_.path() / "half.h5", "a", "a test"), std::invalid_argument);
}

TEST_F(Trainings, AreStoppedAndLeftForTheNextRun) {
    class Stopping : public Observer {
    public:
        const std::atomic<bool>& stop() const override { return flag; }
        std::atomic<bool> flag{false};
    } stopping;
    const auto asked = request("exec sleep 60");
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stopping.flag = true;
    });
    const auto done = run_trainings(asked, stopping);
    later.join();
    EXPECT_TRUE(done.stopped);
    EXPECT_EQ(done.trained, 0);
    EXPECT_TRUE(done.failures.empty()) << done.failures[0];
    EXPECT_EQ(missing_trainings(asked.trainings, asked.folder).size(), 3U);
    for (const auto& stored : claims::stored_trainings().all()) {
        const std::vector<claims::Training> wanted{{stored.name, "stability", {}, 1}};
        EXPECT_TRUE(missing_trainings(wanted, asked.folder).empty()) << stored.name;
        EXPECT_EQ(missing_trainings(wanted, asked.folder, true).size(), 1U) << stored.name;
    }
}

TEST(TrainingsOf, ClaimsAreRunOnce) {
    claims::Claim first, second, other;
    first.id = "C93";
    second.id = "C96";
    other.id = "C9";
    const auto both = trainings_of({first, second, other});
    EXPECT_EQ(both.size(), 18U) << "mHC, bistochastic stack, GPT; hybrid, JPmHC by two maps, and GPT again";
    EXPECT_TRUE(trainings_of({other}).empty());
    EXPECT_EQ(both.front().name, "stability-mhc-42");
    EXPECT_EQ(trainings_of({second, first}).front().name, "stability-edelta-published-42")
        << "those of the claim that is named first";
}

TEST(TrainingsOf, AClaimOnATextIsItsSeriesAndSeeds) {
    claims::Claim claim;
    claim.id = "C140";
    const auto all = trainings_of({claim});
    ASSERT_EQ(all.size(), 12U) << "four depths, three seeds";
    EXPECT_EQ(all.back().name, "text-post-ln-100-456");
    EXPECT_EQ(all.back().task, "text");
    EXPECT_TRUE(all.back().on_gpu());
    const std::pair<std::string, std::string> layers{"layers", "100"}, seed{"seed", "456"};
    EXPECT_NE(std::find(all.back().fields.begin(), all.back().fields.end(), layers), all.back().fields.end());
    EXPECT_EQ(all.back().fields.back(), seed);
    claim.id = "C99";
    for (const auto& training : trainings_of({claim})) EXPECT_FALSE(training.on_gpu());
}

}  // namespace
}  // namespace spectra::study
