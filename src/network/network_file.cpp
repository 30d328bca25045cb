#include "network/network_file.hpp"

#include "base/refuse.hpp"
#include "h5/file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spectra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t most_numbers = std::size_t{1} << 28;  // of one dataset: 2 GiB

std::string layer_group(const std::string& group, int layer) {
    return fmt::format("{}/layers/{}", group, layer + 1);
}

void write(h5::File& file, const std::string& path, const VectorXd& values) {
    file.write(path, std::span(values.data(), static_cast<std::size_t>(values.size())),
               {static_cast<std::size_t>(values.size())});
}

/// Columns of a matrix as rows of a dataset.
void write_vectors(h5::File& file, const std::string& path, const MatrixXd& vectors) {
    file.write(path, std::span(vectors.data(), static_cast<std::size_t>(vectors.size())),
               {static_cast<std::size_t>(vectors.cols()), static_cast<std::size_t>(vectors.rows())});
}

void write_triplets(h5::File& file, const std::string& path, const Triplets& triplets) {
    file.make_group(path);
    write(file, path + "/values", triplets.values);
    write_vectors(file, path + "/left", triplets.left);
    write_vectors(file, path + "/right", triplets.right);
}

/// Numbers of a dataset that must have this shape; a dimension of 0 may have any size.
std::vector<double> numbers(const h5::File& file, const std::string& path, const h5::Shape& expected,
                            h5::Shape& shape, const std::string& where) {
    if (!file.is_dataset(path)) refuse(where, fmt::format("has no {}", path));
    auto out = file.read_doubles(path, shape, most_numbers);
    const bool fits =
        shape.size() == expected.size() &&
        std::equal(shape.begin(), shape.end(), expected.begin(),
                   [](std::size_t is, std::size_t should) { return should == 0 || is == should; });
    if (!fits)
        refuse(where, fmt::format("{} has shape ({}); must be ({})", path, fmt::join(shape, ", "),
                                  fmt::join(expected, ", ")));
    return out;
}

MatrixXd read_vectors(const h5::File& file, const std::string& path, std::size_t count, std::size_t rows,
                      const std::string& where) {
    h5::Shape shape;
    const auto values = numbers(file, path, {count, rows}, shape, where);
    return Eigen::Map<const MatrixXd>(values.data(), static_cast<Index>(rows), static_cast<Index>(count));
}

VectorXd read_values(const h5::File& file, const std::string& path, const std::string& where) {
    h5::Shape shape;
    const auto values = numbers(file, path, {0}, shape, where);
    return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

Triplets read_triplets(const h5::File& file, const std::string& path, int rows, const std::string& where) {
    Triplets out;
    out.values = read_values(file, path + "/values", where);
    const auto count = static_cast<std::size_t>(out.values.size()), length = static_cast<std::size_t>(rows);
    out.left = read_vectors(file, path + "/left", count, length, where);
    out.right = read_vectors(file, path + "/right", count, length, where);
    return out;
}

/// One column per layer.
std::vector<VectorXd> read_connections(const h5::File& file, const std::string& path, const Network& network,
                                       const std::string& where) {
    const MatrixXd all = read_vectors(file, path, static_cast<std::size_t>(network.depth()),
                                      static_cast<std::size_t>(network.streams), where);
    std::vector<VectorXd> out;
    for (Index l = 0; l < all.cols(); ++l) out.emplace_back(all.col(l));
    return out;
}

void write_connections(h5::File& file, const std::string& path, const std::vector<VectorXd>& connections) {
    MatrixXd all(connections.front().size(), static_cast<Index>(connections.size()));
    for (std::size_t l = 0; l < connections.size(); ++l) all.col(static_cast<Index>(l)) = connections[l];
    write_vectors(file, path, all);
}

int positive(const h5::File& file, const std::string& group, const char* name, int largest,
             const std::string& where) {
    const auto value = file.integer_attribute(group, name);
    if (!value || *value < 1 || *value > largest)
        refuse(where, fmt::format("{}: {} must be a whole number from 1 to {}", group, name, largest));
    return static_cast<int>(*value);
}

}  // namespace

void write_network(h5::File& file, const std::string& group, const Network& network) {
    const auto& branch = std::get<AlignedBranch>(network.branch);
    file.make_group(group);
    file.write_attribute(group, "streams", network.streams);
    file.write_attribute(group, "width", network.width);
    const auto n = static_cast<std::size_t>(network.streams);
    std::vector<double> mixers;
    for (const auto& mixer : network.mixers)
        for (Index i = 0; i < mixer.rows(); ++i)
            for (Index j = 0; j < mixer.cols(); ++j) mixers.push_back(mixer(i, j));
    file.write(group + "/mixers", mixers, {network.mixers.size(), n, n});
    if (branch.hyper_connection()) {
        write_connections(file, group + "/pre", branch.pre);
        write_connections(file, group + "/post", branch.post);
    }
    if (!branch.weights.empty()) file.write(group + "/weights", branch.weights, {branch.weights.size()});
    file.make_group(group + "/layers");
    for (int l = 0; l < network.depth(); ++l) {
        const auto k = static_cast<std::size_t>(l);
        const std::string here = layer_group(group, l);
        file.make_group(here);
        write_triplets(file, here + "/kept", branch.kept[k]);
        file.write(here + "/rest", branch.rest[k]);
        if (!branch.derivative.empty()) write_triplets(file, here + "/derivative", branch.derivative[k]);
    }
}

Network read_network(const h5::File& file, const std::string& group, const std::string& where) {
    Network network;
    network.streams = positive(file, group, "streams", max_streams, where);
    network.width = positive(file, group, "width", max_width, where);
    const auto n = static_cast<std::size_t>(network.streams);
    h5::Shape shape;
    const auto mixers = numbers(file, group + "/mixers", {0, n, n}, shape, where);
    if (shape[0] < 1 || shape[0] > static_cast<std::size_t>(max_depth))
        refuse(where, fmt::format("{} layers; must be 1 to {}", shape[0], max_depth));
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (std::size_t l = 0; l < shape[0]; ++l)
        network.mixers.emplace_back(
            Eigen::Map<const Rows>(mixers.data() + l * n * n, static_cast<Index>(n), static_cast<Index>(n)));
    AlignedBranch branch;
    if (file.is_dataset(group + "/pre")) {
        branch.pre = read_connections(file, group + "/pre", network, where);
        branch.post = read_connections(file, group + "/post", network, where);
    }
    if (file.is_dataset(group + "/weights")) {
        for (const auto set : file.read_integers(group + "/weights", shape, max_depth))
            branch.weights.push_back(static_cast<int>(set));
    }
    const int rows = branch.hyper_connection() ? network.width : network.size();
    for (int l = 0; l < network.depth(); ++l) {
        const std::string here = layer_group(group, l);
        branch.kept.push_back(read_triplets(file, here + "/kept", rows, where));
        const VectorXd rest = read_values(file, here + "/rest", where);
        branch.rest.emplace_back(rest.begin(), rest.end());
        if (file.is_group(here + "/derivative"))
            branch.derivative.push_back(read_triplets(file, here + "/derivative", network.size(), where));
    }
    network.branch = std::move(branch);
    try {
        check(network);
    } catch (const std::invalid_argument& error) {
        refuse(where, error.what());
    }
    return network;
}

}  // namespace spectra
