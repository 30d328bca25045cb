#include "weightfile/tensor_file.hpp"

#include "weightfile/checkpoint_files.hpp"
#include "support/expect_refused.hpp"
#include "support/temporary_folder.hpp"
#include "support/torch_script.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace spectra::weightfile {
namespace {

using namespace std::string_literals;
using spectra::testing::content;
using spectra::testing::expect_refused;
using spectra::testing::TemporaryFolder;
namespace pickled = tests::pickled;

const std::filesystem::path samples = std::filesystem::path(SPECTRA_DATA_DIR) / "checkpoints";

TensorFile opened(const std::string& file) {
    return TensorFile::from_bytes(as_bytes(file), "w.pt");
}

double number(const nlohmann::json& value) {
    if (!value.is_string()) return value.get<double>();
    return value == "nan" ? std::nan("") : value == "inf" ? INFINITY : -INFINITY;
}

void expect_tensor(const TensorFile& file, const std::string& key, const nlohmann::json& expected) {
    SCOPED_TRACE(key);
    const Tensor* tensor = file.find(key);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(name(tensor->dtype), expected["dtype"].get<std::string>());
    EXPECT_EQ(tensor->shape, expected["shape"].get<Shape>());
    EXPECT_EQ(tensor->strides, expected["strides"].get<Shape>());
    EXPECT_EQ(tensor->offset, expected["offset"].get<std::uint64_t>());
    if (!expected.contains("values")) {
        expect_refused([&] { file.read_doubles(*tensor); },
                       {key, std::string(name(tensor->dtype)), "unsupported dtype"});
        return;
    }
    const auto values = file.read_doubles(*tensor);
    const auto singles = file.read_floats(*tensor);
    ASSERT_EQ(values.size(), expected["values"].size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double wanted = number(expected["values"][k]);
        if (std::isnan(wanted)) {
            EXPECT_TRUE(std::isnan(values[k]) && std::isnan(singles[k]));
        } else {
            EXPECT_EQ(std::bit_cast<std::uint64_t>(values[k]), std::bit_cast<std::uint64_t>(wanted)) << k;
            EXPECT_EQ(singles[k], static_cast<float>(wanted)) << k;
        }
    }
}

/// Every file of expected.json holds what it says, and nothing else.
void expect_files(const std::filesystem::path& folder, std::size_t fewest) {
    const auto expected = nlohmann::json::parse(content(folder / "expected.json"));
    EXPECT_GE(expected.size(), fewest);
    for (const auto& [name, tensors] : expected.items()) {
        SCOPED_TRACE(name);
        const TensorFile file = TensorFile::open(folder / name);
        EXPECT_EQ(file.tensors().size(), tensors.size());
        for (const auto& [key, tensor] : tensors.items()) expect_tensor(file, key, tensor);
    }
}

TEST(TensorFile, FilesThatTorchWroteHoldWhatItSays) {
    expect_files(samples, 12);
}

TEST(TensorFile, FilesThatTorchWritesNow) {
    SPECTRA_NEEDS_PYTHON_TORCH();
    const TemporaryFolder folder;
    ASSERT_EQ(spectra::testing::run_torch_script("weightfile/write_checkpoints.py", folder.path()), "");
    expect_files(folder.path(), 12);
}

TEST(TensorFile, KindsAreRecognisedByContent) {
    EXPECT_EQ(TensorFile::open(samples / "state_dict.pt").kind(), Kind::torch_save);
    EXPECT_EQ(TensorFile::open(samples / "dtypes.safetensors").kind(), Kind::safetensors);
    const auto script = TensorFile::open(samples / "script.pt");
    EXPECT_EQ(script.kind(), Kind::torch_script);
    EXPECT_EQ(name(script.kind()), "a TorchScript module");
    EXPECT_TRUE(script.tensors().empty());
    EXPECT_EQ(script.value().kind(), Value::Kind::none);
    EXPECT_EQ(script.state_dict_prefix(), "");
    const TemporaryFolder folder;
    std::filesystem::copy_file(samples / "dtypes.safetensors", folder.path() / "x.pt");
    EXPECT_EQ(TensorFile::open(folder.path() / "x.pt").kind(), Kind::safetensors);
}

TEST(TensorFile, WeightFilesAreToldFromOthersByTheirBeginning) {
    const TemporaryFolder folder;
    EXPECT_TRUE(is_weight_file(samples / "state_dict.pt"));
    EXPECT_TRUE(is_weight_file(samples / "dtypes.safetensors"));
    EXPECT_FALSE(is_weight_file(folder.write("model.json", R"({"streams": 2, "depth": 3})")));
    EXPECT_FALSE(is_weight_file(folder.write("empty", "")));
    EXPECT_FALSE(is_weight_file(folder.path() / "absent"));
    EXPECT_TRUE(is_weight_file(folder.path())) << "folders hold models";
}

TEST(TensorFile, FilesThatAreNoneOfThese) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::filesystem::path& path, std::vector<std::string> words) {
        words.push_back(path.filename().string() + ": ");
        expect_refused([&] { TensorFile::open(path); }, words);
    };
    refused(samples / "legacy.pt", {"before 1.6", "save it again"});
    refused(folder.path() / "absent", {"no such file"});
    refused(folder.path(), {"is a folder"});
    refused("/dev/null", {"not a regular file"});
    refused(folder.write("empty", ""), {"is empty"});
    refused(folder.write("text", "hello"),
            {"neither a torch.save file, a TorchScript module, safetensors nor GGUF"});
    refused(folder.write("pointer", "version https://git-lfs.github.com/spec/v1\noid"), {"Git LFS"});
    refused(folder.write("pickle", "\x80\x04N."), {"is a pickle, but not from torch.save"});
    refused(folder.write("npz", tests::zip({{"weight.npy", "x"}})), {"NumPy archive", "`mixer`"});
    refused(folder.write("zip", tests::zip({{"weight", "x"}})), {"zip archive without data.pkl"});
    for (const auto* const record : {"serialized_exported_program.json", "model/archive_format", "model/models/model.json"})
        refused(folder.write("program.pt2", tests::zip({{record, "x"}})),
                {"exported program (.pt2)", "js.validate(model, inputs)"});
    refused(folder.write("npy", "\x93NUMPY\x01"), {"NumPy array", "`mixer`"});
    refused(folder.write("two", tests::zip({{"a/data.pkl", "x"}, {"b/data.pkl", "x"}})), {"two data.pkl"});
}

TEST(TensorFile, OtherThanPlainDataIsRefusedByName) {
    const std::map<std::string, std::string> names{{"gadget.pt", "'posix.system'"},
                                                   {"namespace.pt", "'argparse.Namespace'"},
                                                   {"dataclass.pt", "'__main__.Config'"},
                                                   {"numpy_scalar.pt", "'numpy.core.multiarray.scalar'"},
                                                   {"module.pt", "'torch.nn.modules.linear.Linear'"},
                                                   {"sparse.pt", "'torch._utils._rebuild_sparse_tensor'"}};
    for (const auto& [file, asked] : names)
        expect_refused([&, name = file] { TensorFile::open(samples / name); },
                       {file, "uses " + asked, "only tensors and plain data are supported"});
}

TEST(TensorFile, TheRestOfATrainingFileIsThereToo) {
    for (const char* name : {"training.pt", "protocol4.pt"}) {
        SCOPED_TRACE(name);
        const auto file = TensorFile::open(samples / name);
        EXPECT_EQ(file.value().find("iter_num")->integer(), 7);
        const Value config = file.value().find("config").value();
        EXPECT_EQ(config.find("n_streams")->integer(), 4);
        EXPECT_EQ(config.find("lr")->number(), 3e-4);
        EXPECT_EQ(config.find("betas")->item(1).number(), 0.95);
        EXPECT_EQ(config.find("name")->text(), "tiny");
        EXPECT_EQ(config.find("compile")->boolean(), false);
        EXPECT_EQ(config.find("resume")->kind(), Value::Kind::none);
        EXPECT_EQ(config.find("tags")->item(0).text(), "a");
        EXPECT_EQ(config.find("raw")->kind(), Value::Kind::bytes);
        EXPECT_EQ(config.find("nothing")->kind(), Value::Kind::bytes);
        EXPECT_EQ(config.find("big")->number(), std::ldexp(1.0, 70));
        EXPECT_EQ(config.find("seed")->integer(), INT64_MAX);
        EXPECT_EQ(config.find("negative")->integer(), -(INT64_C(1) << 40));
        EXPECT_EQ(config.find("dtype")->kind(), Value::Kind::dtype);
        EXPECT_EQ(config.find("device")->text(), "cuda");
        EXPECT_EQ(config.find("size")->item(1).integer(), 3);
    }
    const auto file = TensorFile::open(samples / "training.pt");
    EXPECT_EQ(file.read_doubles(file.at("best_val_loss")), std::vector<double>{1.25});
    EXPECT_NE(file.find("optimizer.state.0.exp_avg"), nullptr);
}

TEST(TensorFile, TheStateDictIsFound) {
    const auto prefix = [](const char* name) { return TensorFile::open(samples / name).state_dict_prefix(); };
    EXPECT_EQ(prefix("state_dict.pt"), "");
    EXPECT_EQ(prefix("one_key.pt"), "model.");
    EXPECT_EQ(prefix("training.pt"), "model.");
    EXPECT_EQ(prefix("nested.pt"), "state_dict.model.");
    EXPECT_EQ(prefix("tensor.pt"), "");
    EXPECT_EQ(prefix("dtypes.safetensors"), "");
    EXPECT_EQ(prefix("cycle.pt"), "");
    const auto bare = TensorFile::open(samples / "state_dict.pt").state_dict();
    const auto inner = TensorFile::open(samples / "training.pt").state_dict();
    ASSERT_EQ(inner.size(), bare.size());
    for (std::size_t k = 0; k < bare.size(); ++k) EXPECT_EQ(inner[k].key, bare[k].key);
    EXPECT_EQ(bare.front().key, "H_res_logits");

    const std::string w = pickled::tensor(1, {}, {}), dict = pickled::dict({{"w", w}});
    const auto of = [](const std::string& value) {
        const std::string file = tests::torch_file(pickled::whole(value), std::string(4, '\0'));
        return opened(file).state_dict_prefix();
    };
    EXPECT_EQ(of(pickled::dict({{"net", dict}, {"epoch", "K\1"}})), "net.") << "the only one";
    EXPECT_EQ(of(pickled::dict({{"encoder", dict}, {"decoder", dict}})), "") << "all of it";
    EXPECT_EQ(of(pickled::dict({{"net", dict}, {"w", w}})), "") << "a tensor beside";
    EXPECT_EQ(of(pickled::dict({{"model", w}, {"w", w}})), "") << "a tensor of that name";
    EXPECT_EQ(of(pickled::dict({{"model", pickled::dict({})}, {"module", dict}})), "module.")
        << "an empty model";
    EXPECT_EQ(of("}q\0"s + pickled::text("model") + "h\0s"s + pickled::text("w") + w + "s"), "") << "itself";
}

TEST(TensorFile, TheStepOfTrainingIsFound) {
    const std::string w = pickled::tensor(1, {}, {});
    const auto of = [](const std::string& value) {
        const std::string file = tests::torch_file(pickled::whole(value), std::string(4, '\0'));
        return opened(file).training_step();
    };
    EXPECT_EQ(of(pickled::dict({{"model", pickled::dict({{"w", w}})}, {"iter_num", "K\7"}})), 7);
    EXPECT_EQ(of(pickled::dict({{"w", w}, {"step", pickled::text("12")}, {"steps", "K\1"}})), 12);
    EXPECT_EQ(of(pickled::dict({{"w", w}, {"step", pickled::text("12a")}})), std::nullopt);
    EXPECT_EQ(of(pickled::dict({{"w", w}, {"step", w}})), std::nullopt) << "a tensor";
    EXPECT_EQ(of(pickled::dict({{"model", pickled::dict({{"w", w}, {"step", "K\7"}})}})), std::nullopt);
    EXPECT_EQ(of(w), std::nullopt);
    const std::string tensors = tests::safetensors(R"({"__metadata__":{"step":"300"}})");
    EXPECT_EQ(opened(tensors).training_step(), 300);
}

TEST(TensorFile, SharedWeightsShareAStorage) {
    const auto file = TensorFile::open(samples / "state_dict.pt");
    EXPECT_EQ(file.at("H_res_logits").storage, file.at("again").storage);
    EXPECT_NE(file.at("H_res_logits").storage, file.at("proj.weight").storage);
    EXPECT_EQ(file.read_doubles(file.at("H_res_logits")), file.read_doubles(file.at("again")));
    expect_refused([&] { file.at("H_pre_logits"); }, {"state_dict.pt", "has no tensor 'H_pre_logits'"});
}

TEST(TensorFile, BigEndianStorages) {
    const std::string pickle = pickled::whole(pickled::dict({{"w", pickled::tensor(2, {2}, {1})}}));
    const std::string big("\x3F\xC0\x00\x00\xC0\x20\x00\x00", 8);
    const std::string file = tests::torch_file(pickle, big, {{"archive/byteorder", "big"}});
    const auto read = opened(file);
    EXPECT_EQ(read.read_doubles(read.at("w")), (std::vector<double>{1.5, -2.5}));
    const std::string odd = tests::torch_file(pickle, big, {{"archive/byteorder", "middle"}});
    expect_refused([&] { opened(odd); }, {"w.pt: ", "'middle'", "little or big"});
}

TEST(TensorFile, StoragesThatAreNotAsAnnounced) {
    const std::string pickle = pickled::whole(pickled::dict({{"w", pickled::tensor(4, {4}, {1})}}));
    const std::string shorter = tests::torch_file(pickle, std::string(12, '\0'));
    expect_refused([&] { opened(shorter); },
                   {"w.pt: ", "'archive/data/0' has 12 bytes, but data.pkl declares 16"});
    const std::string without = tests::zip({{"archive/data.pkl", pickle}});
    expect_refused([&] { opened(without); }, {"w.pt: ", "has no storage 'archive/data/0'"});
    const std::string packed =
        tests::zip({{"archive/data.pkl", pickle}, {"archive/data/0", std::string(16, '\0'), 8}});
    const auto file = opened(packed);
    expect_refused([&] { file.read_doubles(file.at("w")); }, {"'archive/data/0'", "compressed"});
    const std::string flat = tests::zip({{"archive/data.pkl", pickle, 8}});
    expect_refused([&] { opened(flat); }, {"'archive/data.pkl'", "compressed"});
    std::string damaged = tests::torch_file(pickle, std::string(16, '\0'));
    damaged[damaged.find("storage")] = 'S';
    expect_refused([&] { opened(damaged); }, {"'archive/data.pkl'", "checksum"});
}

TEST(TensorFile, KeysAreUnique) {
    const std::string w = pickled::tensor(1, {}, {});
    const std::string twice =
        tests::torch_file(pickled::whole(pickled::dict({{"w", w}, {"w", w}})), std::string(4, '\0'));
    expect_refused([&] { opened(twice); }, {"w.pt: ", "duplicate key 'w'"});
    const std::string header =
        R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})";
    const std::string file = tests::safetensors(header);
    expect_refused([&] { opened(file); }, {"w.pt: ", "duplicate key 'a'"});
}

TEST(TensorFile, AnExpandedTensorIsReadUpToALimit) {
    const std::string pickle =
        pickled::whole(pickled::dict({{"w", pickled::tensor(1, {std::int64_t{1} << 50}, {0})}}));
    const std::string bytes = tests::torch_file(pickle, std::string(4, '\0'));
    const auto file = opened(bytes);
    expect_refused([&] { file.read_doubles(file.at("w")); },
                   {"w.pt: 'w'", "1125899906842624 elements", "at most 268435456"});
    Tensor foreign = file.at("w");
    foreign.shape = {2};
    foreign.strides = {1};
    expect_refused([&] { file.read_floats(foreign); }, {"exceeds its storage"});
    foreign.storage = 7;
    expect_refused([&] { file.read_floats(foreign); }, {"not a tensor of this file"});
}

// ---- large files, whose holes take no disk
// -------------------------------------------------------------------

void write_at(const std::filesystem::path& path, const std::vector<tests::ZipImage::Piece>& pieces,
              std::uint64_t size) {
    std::ofstream(path, std::ios::binary).close();
    std::filesystem::resize_file(path, size);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    for (const auto& piece : pieces) {
        file.seekp(static_cast<std::streamoff>(piece.at));
        file << piece.bytes;
    }
}

template <class T>
std::string raw(const std::vector<T>& values) {
    return std::string(as_text(std::as_bytes(std::span(values))));
}

double resident_megabytes() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    file >> pages >> pages;
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

TEST(TensorFile, SixtyLayersOfTenGigabytesAreListedAndTheirSmallTensorsRead) {
    constexpr int layers = 60;
    constexpr std::uint64_t weight = std::uint64_t{160} << 20, small = 64;
    nlohmann::json header;
    std::vector<tests::ZipImage::Piece> pieces;
    std::uint64_t at = 0;
    for (int l = 0; l < layers; ++l) {
        header[fmt::format("layers.{}.weight", l)] = {
            {"dtype", "BF16"}, {"shape", {weight / 2}}, {"data_offsets", {at, at + weight}}};
        at += weight;
        header[fmt::format("layers.{}.hc_attn_base", l)] = {
            {"dtype", "F32"}, {"shape", {4, 4}}, {"data_offsets", {at, at + small}}};
        std::vector<float> values(16);
        std::iota(values.begin(), values.end(), static_cast<float>(100 * l));
        pieces.push_back({at, raw(values)});
        at += small;
    }
    const std::string text = header.dump();
    const std::uint64_t start = 8 + text.size();
    for (auto& piece : pieces) piece.at += start;
    pieces.push_back({0, tests::safetensors(text)});
    const TemporaryFolder folder;
    const auto path = folder.path() / "large.safetensors";
    write_at(path, pieces, start + at);
    EXPECT_GT(std::filesystem::file_size(path), std::uint64_t{10'000'000'000});

    const double before = resident_megabytes();
    const auto began = std::chrono::steady_clock::now();
    const auto file = TensorFile::open(path);
    EXPECT_EQ(file.tensors().size(), 2u * layers);
    for (int l = 0; l < layers; ++l) {
        const auto values = file.read_doubles(file.at(fmt::format("layers.{}.hc_attn_base", l)));
        ASSERT_EQ(values.size(), 16u);
        EXPECT_EQ(values.front(), 100 * l);
        EXPECT_EQ(values.back(), 100 * l + 15);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    EXPECT_LT(seconds.count(), 2);
    EXPECT_LT(resident_megabytes() - before, 200);
    RecordProperty("milliseconds", fmt::format("{:.2f}", 1e3 * seconds.count()));
    RecordProperty("megabytes", fmt::format("{:.2f}", resident_megabytes() - before));
}

TEST(TensorFile, AnArchiveBeyondFourGigabytes) {
    constexpr std::int64_t elements = std::int64_t{3} << 29;  // 6 GiB of float32
    const std::string far_view = pickled::tensor(elements, {2}, {1}, elements - 2);
    const std::string behind = pickled::name("torch._utils", "_rebuild_tensor_v2") + "(" +
                               pickled::storage("DoubleStorage", "1", 1) + "K\0)"s + ")\x89" +
                               pickled::name("collections", "OrderedDict") + ")RtR";
    auto image = tests::zip_image(
        {{"large/data.pkl", pickled::whole(pickled::dict({{"end", far_view}, {"behind", behind}}))},
         {"large/data/0", "", 0, 0, 4 * static_cast<std::uint64_t>(elements), false},
         {"large/data/1", raw<double>({0.1})}},
        true);
    // The last elements lie before the header of what follows.
    const auto next = std::find_if(image.pieces.begin(), image.pieces.end(), [](const auto& piece) {
        return piece.bytes.find("large/data/1") != std::string::npos;
    });
    image.pieces.push_back({next->at - 8, raw<float>({1.5F, -2.5F})});
    const TemporaryFolder folder;
    write_at(folder.path() / "large.pt", image.pieces, image.size);
    const auto file = TensorFile::open(folder.path() / "large.pt");
    EXPECT_EQ(file.read_doubles(file.at("end")), (std::vector<double>{1.5, -2.5}));
    EXPECT_EQ(file.read_doubles(file.at("behind")), std::vector<double>{0.1});
}

// ---- damage
// --------------------------------------------------------------------------------------------------

/// Everything a caller may do; whatever is wrong is said, once.
bool survives(const std::string& bytes) {
    try {
        const auto file = opened(bytes);
        for (const auto& tensor : file.tensors())
            if (readable(tensor.dtype)) file.read_doubles(tensor, 1 << 16);
        file.state_dict();
        return true;
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        EXPECT_TRUE(std::string(error.what()).starts_with("w.pt: ")) << error.what();
        return false;
    }
}

TEST(TensorFile, CutShortAnywhereItIsRefused) {
    for (const char* name : {"views.pt", "protocol4.pt", "dtypes.safetensors"}) {
        const std::string whole = content(samples / name);
        ASSERT_TRUE(survives(whole));
        for (std::size_t length = 0; length < whole.size(); ++length)
            EXPECT_FALSE(survives(whole.substr(0, length))) << name << " of " << length << " bytes";
    }
}

TEST(TensorFile, ABitFlippedAnywhereIsRefusedOrRead) {
    for (const char* name : {"views.pt", "dtypes.safetensors"}) {
        const std::string whole = content(samples / name);
        std::size_t refused = 0;
        for (std::size_t k = 0; k < 8 * whole.size(); k += 3) {
            std::string damaged = whole;
            damaged[k / 8] = static_cast<char>(damaged[k / 8] ^ (1 << (k % 8)));
            refused += survives(damaged) ? 0 : 1;
        }
        EXPECT_GT(refused, whole.size() / 2);
    }
}

}  // namespace
}  // namespace spectra::weightfile
