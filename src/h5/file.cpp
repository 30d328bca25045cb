#include "h5/file.hpp"

#include "h5/trial.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace spectra::h5 {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or later");

/// The error printer is a per-thread setting.
void silence() {
    thread_local const int status = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    (void)status;
}

Handle space_of(const Shape& shape) {
    if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
}

std::string root_or(const std::string& path) {
    return path.empty() ? "/" : path;
}

/// Access properties that never follow a link to another file, not even through a soft link.
hid_t inside() {
    static const Handle access = [] {
        Handle list(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
        const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                               void*) -> herr_t { return -1; };
        H5Pset_elink_cb(list.get(), refuse, nullptr);
        return list;
    }();
    return access.get();
}

/// No file can make the library load code.
void without_plugins() {
    static const int status = H5PLset_loading_state(0);
    (void)status;
}

bool is_number(hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// A column's place in a row of a table.
struct Field {
    Handle type;
    std::size_t size = 0, offset = 0;
};

Field field_of(const std::vector<std::string>& texts) {
    std::size_t length = 1;
    for (const auto& text : texts) length = std::max(length, text.size());
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), length);
    H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    return {std::move(type), length};
}
Field field_of(const std::vector<double>&) {
    return {Handle(H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose), sizeof(double)};
}
Field field_of(const std::vector<int>&) {
    return {Handle(H5Tcopy(H5T_NATIVE_INT), H5Tclose), sizeof(int)};
}
Field field_of(const std::vector<std::uint64_t>&) {
    return {Handle(H5Tcopy(H5T_NATIVE_UINT64), H5Tclose), sizeof(std::uint64_t)};
}
Field field_of(const std::vector<std::uint8_t>&) {
    return {Handle(H5Tcopy(H5T_NATIVE_UINT8), H5Tclose), sizeof(std::uint8_t)};
}

void put(const std::string& text, char* place) {
    std::copy(text.begin(), text.end(), place);  // the rest is zero
}
template <class T>
void put(const T& value, char* place) {
    std::memcpy(place, &value, sizeof value);
}

void write_whole(const std::filesystem::path& path, std::span<const char> bytes) {
    const auto fail = [&](int error) {
        throw std::runtime_error(path.string() + ": cannot be written: " + std::strerror(error));
    };
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail(errno);
    int error = 0;
    while (!bytes.empty() && error == 0) {
        const ssize_t written = ::write(file, bytes.data(), bytes.size());
        if (written >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error == 0 && ::fsync(file) != 0) error = errno;
    if (::close(file) != 0 && error == 0) error = errno;
    if (error != 0) fail(error);
}

/// For HDF5's iterations: appends a name to the std::vector<std::string> at `out`; too many end the iteration.
template <class Info>
herr_t append_name(hid_t, const char* name, const Info*, void* out) {
    auto& all = *static_cast<std::vector<std::string>*>(out);
    if (all.size() >= File::most_names) return -1;
    all.emplace_back(name);
    return 0;
}

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
    silence();
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && H5Fis_hdf5(path.c_str()) > 0;
}

File File::open_read(const std::filesystem::path& path) {
    silence();
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) throw std::invalid_argument(path.string() + ": no such file");
    if (std::filesystem::is_directory(status)) {
        throw std::invalid_argument(path.string() + ": is a folder, not an HDF5 file");
    }
    if (!std::filesystem::is_regular_file(status)) {
        throw std::invalid_argument(path.string() + ": not an HDF5 file");
    }
    if (const htri_t looks = H5Fis_hdf5(path.c_str()); looks < 0) {
        // Either the file cannot be opened or it is too short to hold the signature.
        if (std::filesystem::file_size(path, error) > 8 && !error) {
            throw std::invalid_argument(path.string() + ": cannot be read (permissions?)");
        }
        throw std::invalid_argument(path.string() + ": not an HDF5 file");
    } else if (looks == 0) {
        throw std::invalid_argument(path.string() + ": not an HDF5 file");
    }
    without_plugins();
    const auto open = [&] {
        Handle handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
        if (!handle.valid()) throw std::invalid_argument(path.string() + ": damaged or locked HDF5 file");
        return File(path, std::move(handle), false);
    };
    if (!survives_trial(path, [&] { open().read_everything(); }))
        throw std::invalid_argument(path.string() +
                                    ": damaged HDF5 file (the HDF5 library crashes reading it)");
    return open();
}

File::Below File::below(const std::string& path) const {
    Below found;
    const auto visit = [](hid_t, const char* name, const H5L_info_t* link, void* out) -> herr_t {
        auto& all = *static_cast<Below*>(out);
        if (all.objects.size() >= most_names) return -1;
        (link->type == H5L_TYPE_HARD ? all.objects : all.links).emplace_back(name);
        return 0;
    };
    if (H5Lvisit_by_name(handle_.get(), root_or(path).c_str(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found,
                         inside()) < 0)
        refuse(path, "cannot be listed");
    return found;
}

/// Reads everything that the other functions could read, for a trial.
void File::read_everything() const {
    // Each object is tried separately: the program may not need what is refused here.
    const auto attempt = [](const auto& read) {
        try {
            read();
        } catch (const std::exception&) {
        }
    };
    std::vector<std::string> paths{""};
    attempt([&] {
        const auto found = below("").objects;
        paths.insert(paths.end(), found.begin(), found.end());
    });
    for (const auto& path : paths) {
        attempt([&] {
            // Only strings contain anything that can be damaged.
            for (const auto& name : attributes(path)) string_attribute(path, name);
        });
        attempt([&] { children(path); });
        if (!is_dataset(path)) continue;
        attempt([&] {
            const Handle opened = dataset(path);
            const Handle creation(H5Dget_create_plist(opened.get()), H5Pclose);
            Shape shape;
            // Contiguous numbers are only copied.
            if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS) read_doubles(path, shape);
        });
        attempt([&] {
            for (const auto& name : columns(path)) {
                attempt([&] { read_column(path, name); });
                attempt([&] { read_texts(path, name); });
            }
        });
    }
}

File File::from_image(std::span<const std::byte> image, const std::filesystem::path& name) {
    silence();
    without_plugins();
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    std::vector<std::byte> own(image.begin(), image.end());  // the library's interface is not const
    Handle handle;
    if (!own.empty() && H5Pset_fapl_core(access.get(), 1 << 16, false) >= 0 &&
        H5Pset_file_image(access.get(), own.data(), own.size()) >= 0)
        handle = Handle(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    if (!handle.valid()) throw std::invalid_argument(name.string() + ": damaged HDF5 file");
    return {name, std::move(handle), false};
}

File File::create(const std::filesystem::path& path) {
    silence();
    constexpr std::size_t increment = 1 << 20;
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.get(), increment, false);
    Handle handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    if (!handle.valid()) throw std::runtime_error(path.string() + ": cannot be created");
    return {path, std::move(handle), true};
}

std::vector<char> File::image() const {
    silence();
    if (H5Fflush(handle_.get(), H5F_SCOPE_GLOBAL) < 0) fail("", "cannot be flushed");
    const ssize_t size = H5Fget_file_image(handle_.get(), nullptr, 0);
    if (size < 0) fail("", "cannot be copied to memory");
    std::vector<char> bytes(static_cast<std::size_t>(size));
    if (H5Fget_file_image(handle_.get(), bytes.data(), bytes.size()) != size)
        fail("", "cannot be copied to memory");
    return bytes;
}

void File::close() {
    silence();
    if (created_) write_whole(path_, image());
    handle_.reset();
}

/// Every prefix must exist before H5Oexists_by_name may be called for the whole path.
bool File::link_exists(const std::string& path) const {
    std::size_t end = 0;
    while (end < path.size()) {
        const std::size_t begin = path.find_first_not_of('/', end);
        if (begin == std::string::npos) break;
        end = std::min(path.find('/', begin), path.size());
        const std::string prefix = path.substr(0, end);
        if (found_.contains(prefix)) continue;
        if (H5Lexists(handle_.get(), prefix.c_str(), inside()) <= 0) return false;
        H5L_info_t link{};
        if (H5Lget_info(handle_.get(), prefix.c_str(), &link, inside()) < 0) return false;
        if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
            refuse(prefix, "is an external link; data must be inside the file");
        if (H5Oexists_by_name(handle_.get(), prefix.c_str(), inside()) <= 0) return false;
        if (!created_ && found_.size() < most_found) found_.insert(prefix);
    }
    return true;
}

Handle File::object(const std::string& path) const {
    if (!link_exists(path)) return {};
    return {H5Oopen(handle_.get(), root_or(path).c_str(), inside()), H5Oclose};
}

int File::kind_of(const std::string& path) const {
    const Handle opened = object(path);
    return opened.valid() ? H5Iget_type(opened.get()) : H5I_BADID;
}

bool File::exists(const std::string& path) const {
    silence();
    return link_exists(path);
}

bool File::is_group(const std::string& path) const {
    silence();
    return kind_of(path) == H5I_GROUP;
}

bool File::is_dataset(const std::string& path) const {
    silence();
    return kind_of(path) == H5I_DATASET;
}

std::vector<std::string> File::children(const std::string& group) const {
    silence();
    std::vector<std::string> names;
    const Handle opened = object(group);
    if (!opened.valid() || H5Iget_type(opened.get()) != H5I_GROUP) return names;
    hsize_t start = 0;
    if (H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, &start, append_name<H5L_info_t>, &names) < 0) {
        refuse(group, "cannot be listed");
    }
    return names;
}

Handle File::dataset(const std::string& path) const {
    if (!link_exists(path)) refuse(path, "no such dataset");
    Handle opened = object(path);
    if (!opened.valid()) refuse(path, "cannot be opened");
    if (H5Iget_type(opened.get()) != H5I_DATASET) refuse(path, "not a dataset");
    refuse_foreign_data(opened, path);
    return opened;
}

void File::refuse_foreign_data(const Handle& dataset, const std::string& path) const {
    const Handle creation(H5Dget_create_plist(dataset.get()), H5Pclose);
    if (!creation.valid()) refuse(path, "has no valid storage layout");
    const auto layout = H5Pget_layout(creation.get());
    if (layout == H5D_VIRTUAL) refuse(path, "is a virtual dataset; data must be inside the file");
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
        refuse(path, "has no valid storage layout");
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation.get()) != 0)
        refuse(path, "stores its data in another file; data must be inside the file");
}

Shape File::shape(const std::string& path) const {
    silence();
    const Handle opened = dataset(path);
    const Handle space(H5Dget_space(opened.get()), H5Sclose);
    if (!space.valid() || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
        refuse(path, "is empty");
    }
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 0) refuse(path, "has no shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) < 0) {
        refuse(path, "has no shape");
    }
    return {sizes.begin(), sizes.end()};
}

template <class T>
std::vector<T> File::read_as(const std::string& path, Shape& shape_out, std::size_t max_elements,
                             std::int64_t type) const {
    shape_out = shape(path);
    const Handle opened = dataset(path);
    const Handle stored(H5Dget_type(opened.get()), H5Tclose);
    if (!stored.valid() || !is_number(stored.get())) refuse(path, "not a dataset of numbers");
    std::size_t count = 1;
    for (const std::size_t size : shape_out) {
        if (size != 0 && count > max_elements / size)
            refuse(path, "too large to read: more than " + std::to_string(max_elements) + " numbers");
        count *= size;
    }
    // No compression reaches a thousandth: such data were never written.
    constexpr std::uint64_t best_compression = 1024;
    if (count > free_bytes / sizeof(T) &&
        count / best_compression * H5Tget_size(stored.get()) > H5Dget_storage_size(opened.get()))
        refuse(path, "too large to read: most of it was never written");
    std::vector<T> values(count);
    if (count > 0 && H5Dread(opened.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        refuse(path, "cannot be read (damaged, or compressed by a filter that is not built in)");
    }
    return values;
}

std::vector<double> File::read_doubles(const std::string& path, Shape& shape_out,
                                       std::size_t max_elements) const {
    silence();
    return read_as<double>(path, shape_out, max_elements, H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> File::read_integers(const std::string& path, Shape& shape_out,
                                              std::size_t max_elements) const {
    silence();
    return read_as<std::int64_t>(path, shape_out, max_elements, H5T_NATIVE_INT64);
}

std::vector<std::uint8_t> File::read_bytes(const std::string& path, Shape& shape_out,
                                           std::size_t max_elements) const {
    silence();
    return read_as<std::uint8_t>(path, shape_out, max_elements, H5T_NATIVE_UINT8);
}

Handle File::table(const std::string& path) const {
    Handle opened = dataset(path);
    const Handle stored(H5Dget_type(opened.get()), H5Tclose);
    if (H5Tget_class(stored.get()) != H5T_COMPOUND || shape(path).size() != 1) refuse(path, "not a table");
    return opened;
}

std::vector<std::string> File::columns(const std::string& path) const {
    silence();
    const Handle opened = table(path);
    const Handle stored(H5Dget_type(opened.get()), H5Tclose);
    std::vector<std::string> names;
    for (int k = 0; k < H5Tget_nmembers(stored.get()); ++k) {
        char* const name = H5Tget_member_name(stored.get(), static_cast<unsigned>(k));
        names.emplace_back(name);
        H5free_memory(name);
    }
    return names;
}

std::size_t File::rows_of(const std::string& path) const {
    const std::size_t rows = shape(path).front();
    if (rows > most_rows) refuse(path, "too large to read: more than " + std::to_string(most_rows) + " rows");
    return rows;
}

Handle File::column_type(const Handle& table, const std::string& path, const std::string& column) const {
    const Handle stored(H5Dget_type(table.get()), H5Tclose);
    const int index = H5Tget_member_index(stored.get(), column.c_str());
    if (index < 0) refuse(path, "no column " + column);
    return {H5Tget_member_type(stored.get(), static_cast<unsigned>(index)), H5Tclose};
}

std::vector<double> File::read_column(const std::string& path, const std::string& column) const {
    silence();
    const Handle opened = table(path);
    const Handle own = column_type(opened, path, column);
    if (!is_number(own.get())) refuse(path, "column " + column + " is not numeric");
    const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(double)), H5Tclose);
    H5Tinsert(type.get(), column.c_str(), 0, H5T_NATIVE_DOUBLE);
    std::vector<double> values(rows_of(path));
    if (!values.empty() &&
        H5Dread(opened.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
        refuse(path, "cannot be read (damaged, or compressed by a filter that is not built in)");
    return values;
}

std::vector<std::string> File::read_texts(const std::string& path, const std::string& column) const {
    silence();
    const Handle opened = table(path);
    const Handle own = column_type(opened, path, column);
    if (H5Tget_class(own.get()) != H5T_STRING || H5Tis_variable_str(own.get()) != 0)
        refuse(path, "column " + column + " does not hold fixed-length strings");
    const std::size_t length = H5Tget_size(own.get()), rows = rows_of(path);
    if (length == 0 || length > longest_text || rows > default_max_elements / length)
        refuse(path, "column " + column + " is too large to read");
    const Handle type(H5Tcreate(H5T_COMPOUND, length), H5Tclose);
    H5Tinsert(type.get(), column.c_str(), 0, own.get());
    std::vector<char> bytes(rows * length);
    if (rows > 0 && H5Dread(opened.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0)
        refuse(path, "cannot be read (damaged, or compressed by a filter that is not built in)");
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < rows; ++row) {
        std::string text(&bytes[row * length], length);
        text.resize(std::min(text.find('\0'), text.size()));
        texts.push_back(std::move(text));
    }
    return texts;
}

Handle File::attribute(const std::string& owner, const std::string& name) const {
    const Handle opened = object(owner);
    if (!opened.valid() || H5Aexists(opened.get(), name.c_str()) <= 0) return {};
    Handle found(H5Aopen(opened.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!found.valid()) return {};
    const Handle space(H5Aget_space(found.get()), H5Sclose);
    if (!space.valid() || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
    return found;
}

std::optional<std::string> File::string_attribute(const std::string& owner, const std::string& name) const {
    silence();
    const Handle found = attribute(owner, name);
    if (!found.valid()) return std::nullopt;
    const Handle stored(H5Aget_type(found.get()), H5Tclose);
    if (!stored.valid() || H5Tget_class(stored.get()) != H5T_STRING) return std::nullopt;
    if (H5Tis_variable_str(stored.get()) > 0) {
        char* text = nullptr;
        if (H5Aread(found.get(), stored.get(), &text) < 0) return std::nullopt;
        std::string value = text == nullptr ? "" : std::string(text, strnlen(text, longest_text));
        H5free_memory(text);
        return value;
    }
    if (H5Tget_size(stored.get()) > longest_text) return std::nullopt;
    std::string value(H5Tget_size(stored.get()), '\0');
    if (H5Aread(found.get(), stored.get(), value.data()) < 0) return std::nullopt;
    value.resize(std::min(value.find('\0'), value.size()));
    return value;
}

std::optional<double> File::double_attribute(const std::string& owner, const std::string& name) const {
    silence();
    const Handle found = attribute(owner, name);
    if (!found.valid()) return std::nullopt;
    const Handle stored(H5Aget_type(found.get()), H5Tclose);
    double value = 0;
    if (!is_number(stored.get()) || H5Aread(found.get(), H5T_NATIVE_DOUBLE, &value) < 0) return std::nullopt;
    return value;
}

std::optional<std::int64_t> File::integer_attribute(const std::string& owner, const std::string& name) const {
    silence();
    const Handle found = attribute(owner, name);
    if (!found.valid()) return std::nullopt;
    const Handle stored(H5Aget_type(found.get()), H5Tclose);
    std::int64_t value = 0;
    if (H5Tget_class(stored.get()) != H5T_INTEGER) return std::nullopt;
    if (H5Aread(found.get(), H5T_NATIVE_INT64, &value) < 0) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> File::unsigned_attribute(const std::string& owner,
                                                      const std::string& name) const {
    silence();
    const Handle found = attribute(owner, name);
    if (!found.valid()) return std::nullopt;
    const Handle stored(H5Aget_type(found.get()), H5Tclose);
    std::uint64_t value = 0;
    if (H5Tget_class(stored.get()) != H5T_INTEGER) return std::nullopt;
    if (H5Aread(found.get(), H5T_NATIVE_UINT64, &value) < 0) return std::nullopt;
    return value;
}

std::vector<std::string> File::attributes(const std::string& owner) const {
    silence();
    std::vector<std::string> names;
    const Handle opened = object(owner);
    if (!opened.valid()) return names;
    hsize_t start = 0;
    if (H5Aiterate2(opened.get(), H5_INDEX_NAME, H5_ITER_INC, &start, append_name<H5A_info_t>, &names) < 0) {
        refuse(owner, "cannot be listed");
    }
    return names;
}

void File::make_group(const std::string& path) {
    silence();
    if (kind_of(path) == H5I_GROUP) return;
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    const Handle made(H5Gcreate2(handle_.get(), path.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
                      H5Gclose);
    if (!made.valid()) fail(path, "group cannot be created");
}

void File::write_dataset(const std::string& path, const void* values, std::size_t count, const Shape& shape,
                         std::int64_t file_type, std::int64_t memory_type) {
    silence();
    std::size_t wanted = 1;
    for (const std::size_t size : shape) {
        if (size != 0 && wanted > std::numeric_limits<std::size_t>::max() / size) fail(path, "too large");
        wanted *= size;
    }
    if (wanted != count) fail(path, "shape does not match the number of values");
    const Handle space = space_of(shape);
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.get(), false);  // equal results are equal files
    const Handle made(H5Dcreate2(handle_.get(), path.c_str(), file_type, space.get(), links.get(),
                                 creation.get(), H5P_DEFAULT),
                      H5Dclose);
    if (!made.valid()) fail(path, "dataset cannot be created");
    if (count > 0 && H5Dwrite(made.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
        fail(path, "cannot be written (disk full?)");
    }
}

void File::write(const std::string& path, std::span<const double> values, const Shape& shape) {
    write_dataset(path, values.data(), values.size(), shape, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE);
}

void File::write(const std::string& path, std::span<const int> values, const Shape& shape) {
    write_dataset(path, values.data(), values.size(), shape, H5T_STD_I32LE, H5T_NATIVE_INT);
}

void File::write(const std::string& path, std::span<const std::uint8_t> values, const Shape& shape) {
    write_dataset(path, values.data(), values.size(), shape, H5T_STD_U8LE, H5T_NATIVE_UINT8);
}

void File::write_table(const std::string& path, const std::vector<Column>& columns) {
    silence();
    std::vector<Field> fields;
    std::size_t rows = 0, width = 0;
    for (const auto& column : columns) {
        const std::size_t count = std::visit([](const auto& values) { return values.size(); }, column.values);
        if (fields.empty()) rows = count;
        if (count != rows) fail(path, "columns have different lengths");
        Field field = std::visit([](const auto& values) { return field_of(values); }, column.values);
        field.offset = width;
        width += field.size;
        fields.push_back(std::move(field));
    }
    if (fields.empty()) fail(path, "table has no columns");

    const Handle type(H5Tcreate(H5T_COMPOUND, width), H5Tclose);
    std::vector<char> bytes(rows * width);
    for (std::size_t k = 0; k < fields.size(); ++k) {
        const Field& field = fields[k];
        if (H5Tinsert(type.get(), columns[k].name.c_str(), field.offset, field.type.get()) < 0)
            fail(path, "column " + columns[k].name + " cannot be created");
        for (std::size_t row = 0; row < rows; ++row)
            std::visit([&](const auto& values) { put(values[row], &bytes[row * width + field.offset]); },
                       columns[k].values);
    }
    write_dataset(path, bytes.data(), rows, {rows}, type.get(), type.get());
}

void File::refuse_foreign_below(const std::string& path) const {
    if (!link_exists(path)) refuse(path, "no such group or dataset");
    const std::string begin = path.empty() ? "" : path + "/";
    if (kind_of(path) == H5I_DATASET) {
        dataset(path);
        return;
    }
    const auto found = below(path);
    if (!found.links.empty()) refuse(begin + found.links.front(), "is a link; data must be inside the file");
    for (const auto& name : found.objects)
        if (kind_of(begin + name) == H5I_DATASET) dataset(begin + name);
}

void File::copy(const File& from, const std::string& path, const std::string& to) {
    silence();
    from.refuse_foreign_below(path);
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    if (H5Ocopy(from.handle_.get(), root_or(path).c_str(), handle_.get(), to.c_str(), H5P_DEFAULT,
                links.get()) < 0)
        fail(to, "cannot be copied from " + from.path_.string());
}

void File::write_scalar(const std::string& owner, const std::string& name, std::int64_t file_type,
                        std::int64_t memory_type, const void* value) {
    silence();
    const Handle opened = object(owner);
    if (!opened.valid()) fail(owner, "no such group or dataset");
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    if (H5Aexists(opened.get(), name.c_str()) > 0) H5Adelete(opened.get(), name.c_str());
    const Handle made(
        H5Acreate2(opened.get(), name.c_str(), file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!made.valid() || H5Awrite(made.get(), memory_type, value) < 0) {
        fail(root_or(owner) + " @" + name, "attribute cannot be written");
    }
}

void File::write_attribute(const std::string& owner, const std::string& name, std::string_view value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), H5T_VARIABLE);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    const std::string terminated(value);
    const char* text = terminated.c_str();
    write_scalar(owner, name, type.get(), type.get(), &text);
}

void File::write_attribute(const std::string& owner, const std::string& name, double value) {
    write_scalar(owner, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void File::write_signed(const std::string& owner, const std::string& name, std::int64_t value) {
    write_scalar(owner, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void File::write_unsigned(const std::string& owner, const std::string& name, std::uint64_t value) {
    write_scalar(owner, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

void File::fail(const std::string& path, const std::string& what) const {
    throw std::runtime_error(path_.string() + ": " + root_or(path) + ": " + what);
}

void File::refuse(const std::string& path, const std::string& what) const {
    throw std::invalid_argument(path_.string() + ": " + root_or(path) + ": " + what);
}

}  // namespace spectra::h5
