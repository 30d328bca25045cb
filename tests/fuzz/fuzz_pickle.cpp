#include "checkpoint/pickle.hpp"

#include "checkpoint/torch_file.hpp"
#include "target.hpp"

using namespace spectra;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::must_read_or_refuse([&] {
        const auto made = checkpoint::unpickle(fuzz::bytes(data, size), "input: data.pkl");
        for (const auto& tensor : checkpoint::tensors_with_keys(made.objects, made.tensors, "input"))
            if (checkpoint::extent(tensor).value() > made.storages.at(tensor.storage).size) std::abort();
    });
    return 0;
}

/// The pickle of a torch.save file, or a pickle.
std::string fuzz_input(const std::string& file) {
    const auto bytes = checkpoint::as_bytes(file);
    if (file.starts_with('\x80')) return file;
    if (!checkpoint::looks_like_zip(bytes)) return "";
    const checkpoint::ZipArchive archive(bytes, "sample");
    const auto* entry = archive.find(checkpoint::torch_root(archive, "sample") + "data.pkl");
    return entry != nullptr ? std::string(checkpoint::as_text(archive.bytes(*entry))) : "";
}
