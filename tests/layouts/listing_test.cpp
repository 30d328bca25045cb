#include "layouts/listing.hpp"

#include "layouts/samples.hpp"
#include "weightfile/checkpoint_files.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace spectra::layouts {
namespace {

using weightfile::TensorFile;

std::string of_keys(const std::vector<std::string>& keys) {
    nlohmann::ordered_json header;
    for (const auto& key : keys)
        header[key] = {{"dtype", "F32"}, {"shape", {0, 3}}, {"data_offsets", {0, 0}}};
    const auto bytes = tests::safetensors(header.dump());
    return listing(TensorFile::from_bytes(weightfile::as_bytes(bytes), "w.st"), 80);
}

bool has_line(const std::string& text, const std::string& begin) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(begin)) return true;
    return false;
}

TEST(Listing, SaysKindLayoutPrefixTensorsAndValues) {
    const auto text = listing(TensorFile::open(samples / "tokenbender.pt"));
    EXPECT_NE(text.find("tokenbender.pt: a torch.save file, "), std::string::npos) << text;
    EXPECT_TRUE(has_line(text, "layout: tokenbender"));
    EXPECT_TRUE(has_line(text, "state dict: under 'model.'"));
    EXPECT_TRUE(has_line(text, "tensors: 99"));
    EXPECT_TRUE(has_line(text, "  model.transformer.h.{0..10}.hc_attn.H_res_logits  ")) << text;
    EXPECT_NE(text.find("float32  4×4"), std::string::npos);
    EXPECT_TRUE(has_line(text, "  config.sinkhorn_tau = 0.05"));
    EXPECT_TRUE(has_line(text, "  config.mhc_h_res_proj = 'sinkhorn'"));
    EXPECT_TRUE(has_line(text, "  config.bias = false"));
    EXPECT_TRUE(has_line(text, "  config.ns_coeffs = [3.0,-3.2,1.2]"));
}

TEST(Listing, OfNoLayoutSaysWhy) {
    EXPECT_TRUE(has_line(listing(TensorFile::open(samples / "trm.pt")), "layout: none; a TRM model"));
    const auto script = std::filesystem::path(SPECTRA_DATA_DIR) / "checkpoints" / "script.pt";
    EXPECT_TRUE(has_line(listing(TensorFile::open(script)), "layout: none; a TorchScript module"));
}

TEST(Listing, FoldsNumbersAndNothingElse) {
    const auto text = of_keys({"a.0.w", "a.1.w", "a.2.w", "a.5.w", "a.10.w", "b.0.e.0", "b.0.e.1", "b.1.e.0",
                               "b.1.e.1", "b.2.e.0", "lone", "c.07.x", "d.3.x"});
    EXPECT_TRUE(has_line(text, "  a.{0..2,5,10}.w ")) << text;
    EXPECT_TRUE(has_line(text, "  b.{0,1}.e.{0,1} ")) << text;  // the grid that is whole
    EXPECT_TRUE(has_line(text, "  b.2.e.0 ")) << text;
    EXPECT_TRUE(has_line(text, "  lone ")) << text;
    EXPECT_TRUE(has_line(text, "  c.07.x ")) << text;  // "07" is no number that could be put back
    EXPECT_TRUE(has_line(text, "  d.3.x ")) << text;
    EXPECT_NE(text.find("tensors: 13"), std::string::npos);
}

TEST(Listing, BreaksLongLinesAndKeepsKeysWhole) {
    const std::string long_key(100, 'k');
    const auto text = of_keys({"short", long_key});
    EXPECT_NE(text.find("  " + long_key + "\n"), std::string::npos) << text;
    EXPECT_TRUE(has_line(text, "  short  float32  0×3")) << text;
}

TEST(Listing, ShowsNoControlCharacters) {
    EXPECT_TRUE(has_line(of_keys({"a\x1b[31m.w"}), "  a\\u001b[31m.w "));
}

TEST(Listing, ManyNumbersInAKeyDoNotRecurseFar) {
    std::string key = "0";
    for (int k = 0; k < 20000; ++k) key += ".0";
    EXPECT_NE(of_keys({key}).find(key), std::string::npos);
}

TEST(Listing, AsJson) {
    const auto json = listing_json(TensorFile::open(samples / "deepseek.safetensors"));
    EXPECT_EQ(json["kind"], "a safetensors file");
    EXPECT_EQ(json["layout"], "deepseek-v4");
    EXPECT_EQ(json["state_dict_prefix"], "");
    EXPECT_EQ(json["bytes"], std::filesystem::file_size(samples / "deepseek.safetensors"));
    EXPECT_EQ(json["tensors"].size(), 18U);
    EXPECT_EQ(json["values"]["format"], "pt");
    bool found = false;
    for (const auto& tensor : json["tensors"])
        if (tensor["key"] == "layers.1.hc_ffn_fn") {
            EXPECT_EQ(tensor["dtype"], "bfloat16");
            EXPECT_EQ(tensor["shape"], (std::vector<int>{24, 12}));
            found = true;
        }
    EXPECT_TRUE(found);
    const auto none = listing_json(TensorFile::open(samples / "trm.pt"));
    EXPECT_TRUE(none["layout"].is_null());
    EXPECT_EQ(none["why_not"].get<std::string>().find("a TRM model"), 0U);
}

}  // namespace
}  // namespace spectra::layouts
