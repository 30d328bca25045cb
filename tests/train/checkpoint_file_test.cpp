#include "train/checkpoint_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.hpp"
#include "support/torch_script.hpp"

namespace spectra::train {
namespace {

using spectra::testing::content;

Checkpoint example(int64_t step) {
    torch::manual_seed(9);
    Checkpoint c;
    c.config = R"({"task":"gyroscope"})";
    c.step = step;
    c.best_val_loss = 0.25;
    c.model = {{"a.weight", torch::randn({3, 2})}, {"b", torch::randn({4}).t()}};
    c.first_moment = torch::randn({10});
    c.second_moment = torch::rand({10});
    c.log = torch::rand({2, 5}, torch::kDouble);
    c.log_columns = "[]";
    c.pending = torch::zeros({3}, torch::kDouble);
    return c;
}

class CheckpointFile : public ::testing::Test {
protected:
    spectra::testing::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "run.ckpt";

    std::string refusal() const {
        try {
            load_checkpoint(path_);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
    const auto written = example(400);
    save_checkpoint(path_, written);
    const auto read = load_checkpoint(path_);
    EXPECT_EQ(read.config, written.config);
    EXPECT_EQ(read.step, 400);
    EXPECT_EQ(read.best_val_loss, 0.25);
    ASSERT_EQ(read.model.size(), 2U);
    for (const auto& [name, tensor] : written.model) EXPECT_TRUE(torch::equal(read.model.at(name), tensor));
    EXPECT_TRUE(torch::equal(read.first_moment, written.first_moment));
    EXPECT_TRUE(torch::equal(read.second_moment, written.second_moment));
    EXPECT_TRUE(torch::equal(read.log, written.log));
}

TEST_F(CheckpointFile, TruncatedIsRefusedByNameAndThePreviousKept) {
    save_checkpoint(path_, example(100));
    save_checkpoint(path_, example(200));
    const auto whole = content(path_);
    const auto previous = path_.string() + ".previous";
    EXPECT_EQ(load_checkpoint(previous).step, 100);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 1}) {
        std::ofstream(path_, std::ios::binary) << whole.substr(0, size);
        const auto message = refusal();
        EXPECT_EQ(message.rfind(path_.string(), 0), 0U) << message;
        EXPECT_NE(message.find("truncated or damaged"), std::string::npos) << message;
        EXPECT_NE(message.find(previous + " is intact"), std::string::npos) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_EQ(load_checkpoint(previous).step, 100);
    }
}

TEST_F(CheckpointFile, ADamagedNumberIsFound) {
    save_checkpoint(path_, example(100));
    auto bytes = content(path_);
    // The tensors lie between the pickle and the directory: flip a bit in every hundredth byte, one at a
    // time.
    int refused = 0, tried = 0;
    for (std::size_t at = 64; at + 64 < bytes.size(); at += 101, ++tried) {
        auto damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        std::ofstream(path_, std::ios::binary) << damaged;
        refused += refusal().empty() ? 0 : 1;
    }
    // Padding between records, and fields of headers that nobody reads, are all that may be anything.
    EXPECT_GT(refused, tried / 4);
    EXPECT_GT(tried, 20);
}

TEST_F(CheckpointFile, OthersAreRefused) {
    EXPECT_NE(refusal().find("no such file"), std::string::npos);
    std::ofstream(path_) << "hello";
    EXPECT_NE(refusal().find("not a checkpoint"), std::string::npos);
}

TEST_F(CheckpointFile, EarlierFilesWithALossThatIsANumberAreRead) {
    const Checkpoint c = example(400);
    const auto dict = [] { return c10::impl::GenericDict(c10::StringType::get(), c10::AnyType::get()); };
    auto model = dict(), optimizer = dict(), top = dict();
    for (const auto& [name, tensor] : c.model) model.insert(name, tensor);
    optimizer.insert("first_moment", c.first_moment);
    optimizer.insert("second_moment", c.second_moment);
    for (const auto& [name, value] : std::vector<std::pair<std::string, c10::IValue>>{
             {"format", "spectra-training"}, {"version", 1}, {"config", c.config}, {"iter_num", c.step},
             {"best_val_loss", 0.125}, {"model", model}, {"optimizer", optimizer}, {"log", c.log},
             {"log_columns", c.log_columns}, {"pending", c.pending}})
        top.insert(name, value);
    const auto bytes = torch::pickle_save(top);
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    EXPECT_EQ(load_checkpoint(path_).best_val_loss, 0.125);
}

TEST_F(CheckpointFile, PythonOpensIt) {
    SPECTRA_NEEDS_PYTHON_TORCH();
    save_checkpoint(path_, example(400));
    const auto command = spectra::testing::python_with_torch() + " -c \"import torch; c = torch.load('" + path_.string() +
                         "', weights_only=True); assert c['iter_num'] == 400 and c['best_val_loss'] == 0.25 "
                         "and c['model']['a.weight'].shape == (3, 2)\"";
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace spectra::train
