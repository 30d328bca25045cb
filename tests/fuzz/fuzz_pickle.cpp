#include "weightfile/pickle.hpp"

#include "weightfile/torch_file.hpp"
#include "target.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] {
        const auto made = weightfile::unpickle(fuzz::bytes(data, size), "input: data.pkl");
        for (const auto& tensor : weightfile::tensors_with_keys(made.objects, made.tensors, "input"))
            if (weightfile::extent(tensor).value() > made.storages.at(tensor.storage).size) std::abort();
    });
    return 0;
}

/// The pickle of a torch.save file, or a pickle.
std::string fuzz_input(const std::string& file) {
    const auto bytes = weightfile::as_bytes(file);
    if (file.starts_with('\x80')) return file;
    if (!weightfile::looks_like_zip(bytes)) return "";
    const weightfile::ZipArchive archive(bytes, "sample");
    const auto* entry = archive.find(weightfile::torch_root(archive, "sample") + "data.pkl");
    return entry != nullptr ? std::string(weightfile::as_text(archive.bytes(*entry))) : "";
}
