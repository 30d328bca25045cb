#include "train/evaluate_text.hpp"

#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "tasks/tasks.hpp"
#include "train/checkpoint_file.hpp"
#include "train/model_description.hpp"
#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <numeric>

/// Losses of trained models on texts, and the command evaluate as users type it.
namespace spectra::train {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

/// Words of a few kinds in an irregular order.
std::string words(std::size_t bytes, unsigned seed) {
    static const Words known{"to", "be", "or", "not", "that", "is", "the", "question"};
    std::string text;
    while (text.size() < bytes) {
        seed = seed * 1103515245U + 12345U;
        text += known[(seed >> 16U) % known.size()] + ((seed >> 24U) % 9 == 0 ? "\n" : " ");
    }
    return text.substr(0, bytes);
}

class EvaluateText : public ::testing::Test {
protected:
    EvaluateText() {
        folder_.write("learned.txt", words(3000, 1));
        folder_.write("other.txt", words(1000, 2));
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    testing::ProcessResult run(Words line) const {
        line.insert(line.begin(), SPECTRA_BINARY);
        return testing::run_process(line, {.folder = folder_.path()});
    }
    /// A checkpoint named `stem`.ckpt, of this task's file.
    void train(const std::string& stem, const Words& more) {
        Words line{"train",     "text", "--text",     "learned.txt", "--architecture", "gpt",
                   "--layers",  "1",    "--channels", "16",          "--steps",        "3",
                   "--batch",   "4",    "--context",  "8",           "--device",       "cpu",
                   "--threads", "1",    "--plot",     "none",        "--out",          stem};
        line.insert(line.end(), more.begin(), more.end());
        const auto result = run(line);
        ASSERT_EQ(result.status, 0) << result.err;
    }
    TextEvaluation evaluated(const std::string& stem, const std::string& text) const {
        study::EvaluateRequest request;
        request.checkpoint = path(stem + ".ckpt");
        request.text = path(text);
        request.device = "cpu";
        study::Observer silent;
        return evaluate_text(request, silent);
    }
    testing::TemporaryFolder folder_;
};

// With a table of zeros every token has the same probability: −ln p = ln V.
TEST_F(EvaluateText, AUniformModelHasTheEntropyOfItsVocabulary) {
    for (const int vocabulary : {0, 270}) {
        train("uniform", {"--vocabulary", std::to_string(vocabulary), "--force"});
        auto checkpoint = load_checkpoint(path("uniform.ckpt"));
        checkpoint.model.at("core.transformer.wte.weight").zero_();
        save_checkpoint(path("uniform.ckpt"), checkpoint);
        const auto e = evaluated("uniform", "other.txt");
        const auto size = static_cast<double>(e.vocabulary);
        const auto tokens = static_cast<double>(e.tokens), bytes = static_cast<double>(e.bytes);
        EXPECT_EQ(e.tokens, e.windows * 8);
        EXPECT_NEAR(e.loss, std::log(size), 1e-6);  // logits are floats
        EXPECT_NEAR(e.loss_error, 0, 1e-7);
        EXPECT_NEAR(e.perplexity, size, 1e-3);
        EXPECT_NEAR(e.bits_per_byte, std::log2(size) * tokens / bytes, 1e-5);
        if (vocabulary == 0) {
            EXPECT_EQ(e.tokens, 992);  // 124 windows of 8 of 1000 bytes with a target after each
            EXPECT_EQ(e.bytes, 992);
            EXPECT_NEAR(e.bits_per_byte_error, 0, 1e-7);
        } else {
            EXPECT_EQ(e.vocabulary, 270);
            EXPECT_GT(e.bytes, e.tokens);
            EXPECT_GT(e.bits_per_byte_error, 0) << "windows differ in bytes";
        }
    }
}

TEST_F(EvaluateText, AgreesWithTheTrainersLossAndPlainSums) {
    train("model", {"--vocabulary", "260"});
    const auto e = evaluated("model", "other.txt");
    auto trained = trained_model(load_checkpoint(path("model.ckpt")), "model.ckpt", path("other.txt"));
    const auto all = tensors_of(trained.data, trained.data.validation, torch::kCPU);
    EXPECT_NEAR(e.loss, evaluate(*trained.learner, all, 7), 1e-6);
    EXPECT_NEAR(e.bits_per_byte, tasks::bits_per_byte(trained.data, e.loss), 1e-9);

    // The errors, window by window.
    const auto bytes = tasks::window_bytes(trained.data);
    const auto count = static_cast<double>(bytes.size());
    double token_square = 0, byte_square = 0, sum = 0;
    for (int64_t w = 0; w < all.x.size(0); ++w) {
        const double loss = evaluate(*trained.learner, {all.x.narrow(0, w, 1), all.y.narrow(0, w, 1)}, 1);
        const auto size = static_cast<double>(bytes[static_cast<std::size_t>(w)]);
        token_square += std::pow(loss - e.loss, 2);
        byte_square += std::pow(8 * loss / std::log(2.0) - e.bits_per_byte * size, 2);
        sum += size;
    }
    EXPECT_NEAR(e.loss_error, std::sqrt(token_square / (count * (count - 1))), 1e-5 * e.loss_error);
    EXPECT_NEAR(e.bits_per_byte_error, std::sqrt(count / (count - 1) * byte_square) / sum,
                1e-5 * e.bits_per_byte_error);
}

TEST_F(EvaluateText, TheCheckpointHasTheTokens) {
    train("model", {"--vocabulary", "264"});
    const auto checkpoint = load_checkpoint(path("model.ckpt"));
    const auto text = words(3000, 1);
    EXPECT_EQ(described_tokeniser(checkpoint.tokeniser), tasks::learn_tokeniser(text.substr(0, 2700), 264));
    std::filesystem::remove(path("learned.txt"));
    EXPECT_GT(evaluated("model", "other.txt").tokens, 100) << "without the text that it learned";
    EXPECT_THROW(described_tokeniser("{}"), std::invalid_argument);
    EXPECT_THROW(described_tokeniser(R"({"symbols": [300], "merges": []})"), std::invalid_argument);
    EXPECT_THROW(described_tokeniser(R"({"symbols": [1], "merges": [[0, 5]]})"), std::invalid_argument);
}

TEST_F(EvaluateText, ResumingTakesTheSameText) {
    train("model", {"--vocabulary", "264", "--stop-after", "2"});
    train("model", {"--vocabulary", "264", "--resume"});
    folder_.write("learned.txt", words(3000, 9));
    const auto other = run({"train",        "text", "--text",     "learned.txt", "--architecture", "gpt",
                            "--layers",     "1",    "--channels", "16",          "--steps",        "3",
                            "--batch",      "4",    "--context",  "8",           "--device",       "cpu",
                            "--threads",    "1",    "--plot",     "none",        "--out",          "model",
                            "--vocabulary", "264",  "--resume"});
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.err.find("its text had other tokens"), std::string::npos) << other.err;
}

TEST_F(EvaluateText, TheLogHasPerplexityAndBitsPerByte) {
    const auto result = run({"train",        "text", "--text",     "learned.txt", "--architecture", "gpt",
                             "--layers",     "1",    "--channels", "16",          "--steps",        "3",
                             "--batch",      "4",    "--context",  "8",           "--device",       "cpu",
                             "--threads",    "1",    "--plot",     "none",        "--out",          "again",
                             "--vocabulary", "264",  "--json"});
    const auto object = json::parse(result.out);
    const double loss = object.at("final_val_loss");
    EXPECT_NEAR(object.at("perplexity").get<double>(), std::exp(loss), 1e-9 * std::exp(loss));
    tasks::TaskOptions options;
    options.text_file = path("learned.txt");
    options.context = 8;
    options.vocabulary = 264;
    EXPECT_NEAR(object.at("bits_per_byte").get<double>(),
                tasks::bits_per_byte(tasks::make_dataset("text", options), loss), 1e-9);
}

TEST_F(EvaluateText, TheProgramRefusesInOneLine) {
    train("bytes", {});
    folder_.write("foreign.txt", words(500, 3) + "\xC3\xA9" + words(500, 4));
    folder_.write("short.txt", "to be");
    const auto refused = [&](const Words& line, const std::string& why) {
        const auto result = run(line);
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
    };
    refused({"evaluate"}, "no checkpoint given; use spectra evaluate");
    refused({"evaluate", "bytes.ckpt"}, "no text given");
    refused({"evaluate", "missing.ckpt", "--text", "other.txt"}, "missing.ckpt: no such file");
    refused({"evaluate", "bytes.ckpt", "--text", "missing.txt"}, "missing.txt");
    refused({"evaluate", "bytes.ckpt", "--text", "short.txt"}, "short.txt: 5 bytes; must be at least 9");
    refused({"evaluate", "bytes.ckpt", "--text", "foreign.txt"}, "foreign.txt: byte 195 (0xc3) at 500");
    refused({"evaluate", "other.txt", "--text", "other.txt"}, "not a checkpoint of spectra train");
    refused({"train", "text", "--text", "learned.txt", "--vocabulary", "100"}, "--vocabulary 100: must be 0");
    refused({"train", "text", "--text", "learned.txt", "--vocabulary", "60000", "--out", "x"},
            "--vocabulary 60000");
    refused({"train", "copy", "--vocabulary", "300"}, "only apply to the task text");

    const auto result = run({"evaluate", "bytes.ckpt", "--text", "other.txt", "--json", "--device", "cpu"});
    ASSERT_EQ(result.status, 0) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object.at("tokens"), 992);
    EXPECT_EQ(object.at("own_text"), false);
    EXPECT_NEAR(object.at("bits_per_byte").get<double>(), object.at("loss").get<double>() / std::log(2.0),
                1e-9);
    EXPECT_NE(run({"evaluate", "bytes.ckpt", "--text", "learned.txt"}).out.find("except its last tenth"),
              std::string::npos);
}

}  // namespace
}  // namespace spectra::train
