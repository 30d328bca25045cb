#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint_file.hpp"

/// The command validate for models that are run.
namespace spectra {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

class ValidateProgram : public ::testing::Test {
protected:
    testing::ProcessResult run(const Words& words) {
        Words all{SPECTRA_BINARY};
        all.insert(all.end(), words.begin(), words.end());
        testing::ProcessOptions options;
        options.folder = folder_.path();
        return testing::run_process(all, options);
    }
    void train(const std::string& out, const Words& more = {}, const std::string& channels = "32") {
        Words words{"train",  "near-pi-single", "--layers",  "2",       "--channels", channels,   "--samples",
                    "8",      "--steps",        "4",         "--batch", "2",          "--device", "cpu",
                    "--plot", "none",           "--threads", "1",       "--out",      out};
        words.insert(words.end(), more.begin(), more.end());
        const auto result = run(words);
        ASSERT_EQ(result.status, 0) << result.err;
    }
    testing::TemporaryFolder folder_;
};

TEST_F(ValidateProgram, CheckpointsThatMakeNoModelAreRefusedInALine) {
    const auto refused = [&](const std::string& file, const std::string& why) {
        const auto result = run({"validate", file, "--plot", "none"});
        EXPECT_EQ(result.status, 2) << result.out;
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
        EXPECT_EQ(result.err.find("json.exception"), std::string::npos) << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    };
    refused(SPECTRA_DATA_DIR "/layouts/spectra_cayley.ckpt", "key 'heads' not found");
    train("run", {"--mixer", "orthogonal"});
    const auto whole = train::load_checkpoint(folder_.path() / "run.ckpt");
    const auto changed = [&](const std::string& name, const auto& change) {
        auto copy = whole;
        change(copy);
        train::save_checkpoint(folder_.path() / name, copy);
        return name;
    };
    const auto configured = [&](const char* key, std::int64_t value) {
        return changed("changed.ckpt", [&](auto& c) {
            auto config = json::parse(c.config);
            config[key] = value;
            c.config = config.dump();
        });
    };
    refused(configured("layers", 1000000), "1000000 blocks of 32 channels are more than its");
    refused(configured("streams", 0), "a size is 0");
    refused(configured("layers", 3), "it has no parameter '");
    refused(changed("turned.ckpt", [](auto& c) { c.config.resize(1); }), "its config: ");
    refused(changed("cut.ckpt", [](auto& c) { c.model.begin()->second = torch::zeros({7}); }),
            "is of shape (7); its model has (");
}

TEST_F(ValidateProgram, JudgesACheckpoint) {
    train("run", {"--mixer", "orthogonal"});
    const auto result =
        run({"validate", "run.ckpt", "--inputs", "2", "--token", "5", "--json", "--threads", "1"});
    ASSERT_EQ(result.status, 0) << result.err << result.out;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object["layout"], "spectra");
    EXPECT_EQ(object["layers"], 4);
    EXPECT_EQ(object["streams"], 4);
    EXPECT_EQ(object["step"], 4);
    EXPECT_EQ(object["verdict"], "PASS");
    EXPECT_LT(object["agreement"]["wasserstein1"].get<double>(), 0.02);
    EXPECT_LT(object["mixers"]["orthogonality_defect"].get<double>(), 1e-6);
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "spectra-validate-run.h5"));

    const auto strict = run({"validate", "run.ckpt", "--inputs", "1", "--token", "5", "--require",
                             "largest<=0.5", "--plot", "none", "--quiet", "--threads", "1"});
    EXPECT_EQ(strict.status, 1);
    EXPECT_NE(strict.out.find("required largest <= 0.5"), std::string::npos) << strict.out;

    // The mixers alone need no model.
    const auto at_zero = run({"validate", "run.ckpt", "--at", "zero", "--json", "--plot", "none"});
    ASSERT_EQ(at_zero.status, 0) << at_zero.err;
    EXPECT_TRUE(json::parse(at_zero.out)["measured"].is_null());
}

TEST_F(ValidateProgram, SeveralCheckpointsAreATable) {
    train("a", {"--mixer", "cayley"});
    train("b", {"--mixer", "cayley", "--seed", "7"});
    const auto result = run({"validate", "a.ckpt", "b.ckpt", "--inputs", "1", "--token", "3", "--plot",
                             "none", "--out", "both", "--threads", "1"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.out.find("verdict"), std::string::npos) << result.out;
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "both-1.h5"));
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "both-2.h5"));
}

TEST_F(ValidateProgram, WholeSequencesAndMistakes) {
    train("run", {"--architecture", "gpt"}, "8");
    const auto all = run({"validate", "run.ckpt", "--token", "all", "--inputs", "1", "--json", "--plot",
                          "none", "--threads", "1"});
    ASSERT_TRUE(all.status == 0 || all.status == 1) << all.err;
    const auto object = json::parse(all.out);
    EXPECT_NE(object["measured_at"].get<std::string>().find("N = 1016"), std::string::npos) << all.out;
    EXPECT_TRUE(object["predicted"].is_null());

    const auto far = run({"validate", "run.ckpt", "--token", "500"});
    EXPECT_EQ(far.status, 2);
    EXPECT_NE(far.err.find("--token 500: accepted: 0 to 126"), std::string::npos) << far.err;
    const auto contradiction = run({"validate", "run.ckpt", "--at", "zero", "--inputs", "3"});
    EXPECT_EQ(contradiction.status, 2);
    folder_.write("broken.ckpt", "not a checkpoint");
    const auto broken = run({"validate", "broken.ckpt"});
    EXPECT_EQ(broken.status, 2);
    EXPECT_EQ(std::count(broken.err.begin(), broken.err.end(), '\n'), 1) << broken.err;
}

TEST_F(ValidateProgram, AnyScriptedModule) {
    testing::ProcessOptions options;
    options.folder = folder_.path();
    const auto python = testing::run_process(
        {"/usr/bin/python3", "-c",
         "import torch\n"
         "torch.manual_seed(1)\n"
         "m = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh(), torch.nn.Linear(6, 6))\n"
         "torch.jit.script(m).save('m.ts')\n"
         "class Scale(torch.nn.Module):\n"
         "    def forward(self, x):\n"
         "        return x * torch.linspace(0.5, 1.5, 5000, dtype=x.dtype)\n"
         "torch.jit.trace(Scale(), torch.randn(1, 5000)).save('scale.ts')\n"
         "x = torch.randn(1, 6, dtype=torch.float64)\n"
         "torch.save(x, 'x.pt')\n"
         "m = m.double()\n"
         "j = torch.autograd.functional.jacobian(m, x).reshape(6, 6)\n"
         "print(torch.linalg.svdvals(j)[0].item())\n"},
        options);
    ASSERT_EQ(python.status, 0) << python.err;
    const auto result =
        run({"validate", "m.ts", "--input", "x.pt", "--json", "--plot", "none", "--threads", "1"});
    EXPECT_EQ(result.status, 1) << result.err;
    const auto object = json::parse(result.out);
    EXPECT_EQ(object["layout"], "TorchScript");
    EXPECT_NEAR(object["measured"]["largest"].get<double>(), std::stod(python.out), 1e-9);
    const auto drawn = run({"validate", "m.ts", "--shape", "1,6", "--inputs", "3", "--plot", "none",
                            "--quiet", "--threads", "1"});
    EXPECT_EQ(drawn.status, 1) << drawn.err;
    // Too large to form: probes, of their own for every input, with errors.
    const auto probed = run({"validate", "scale.ts", "--shape", "1,5000", "--inputs", "2", "--json", "--plot",
                             "none", "--threads", "1"});
    EXPECT_EQ(probed.status, 1) << probed.err;
    const auto law = json::parse(probed.out);
    EXPECT_NEAR(law["measured"]["window"].get<double>(), 0.5, 0.01);
    EXPECT_GT(law["measured_error"]["window"].get<double>(), 1e-4);
    EXPECT_LT(law["measured_error"]["window"].get<double>(), 0.01);
    EXPECT_NE(law["measured_note"].get<std::string>().find("probes of"), std::string::npos) << probed.out;
    EXPECT_NEAR(law["measured"]["largest"].get<double>(), 1.5, 1e-3);
    const auto without = run({"validate", "m.ts"});
    EXPECT_EQ(without.status, 2);
    EXPECT_NE(without.err.find("--shape"), std::string::npos) << without.err;
}

}  // namespace
}  // namespace spectra
