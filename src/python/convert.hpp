#pragma once

/// \file
/// Between C++ and Python: structs as dictionaries, vectors of numbers as arrays. Of the package's files, this one alone
/// includes pybind11.

#include "python/members.hpp"

#include <pybind11/complex.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace spectra::python {

namespace py = pybind11;

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <class T, template <class...> class Template>
constexpr bool is = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool is<Template<Arguments...>, Template> = true;

template <class T>
py::object to_python(const T& x);

template <class S>
py::dict members_of(const S& x) {
    py::dict out;
    std::apply([&](const auto&... member) { ((out[member.name] = to_python(x.*member.pointer)), ...); },
               Members<S>::list);
    return out;
}

template <class T>
py::object to_python(const T& x) {
    if constexpr (HasMembers<T>) {
        return members_of(x);
    } else if constexpr (std::is_enum_v<T>) {
        return py::int_(static_cast<int>(x));
    } else if constexpr (is<T, std::optional>) {
        return x ? to_python(*x) : py::none();
    } else if constexpr (std::is_same_v<T, Branch>) {
        return py::make_tuple(x.index(), std::visit([](const auto& branch) { return to_python(branch); }, x));
    } else if constexpr (is<T, std::vector>) {
        using V = typename T::value_type;
        if constexpr (is_number<V> || is<V, std::complex>) {
            return py::array_t<V>(static_cast<py::ssize_t>(x.size()), x.data());
        } else {
            py::list out;
            for (const auto& one : x) out.append(to_python(one));
            return out;
        }
    } else {
        return py::cast(x);
    }
}

template <class T>
T from_python(const py::handle& x);

template <class S>
S from_members(const py::dict& fields) {
    S out;
    std::apply(
        [&](const auto&... member) {
            ((fields.contains(member.name)
                  ? void(out.*member.pointer =
                             from_python<std::decay_t<decltype(out.*member.pointer)>>(fields[member.name]))
                  : void()),
             ...);
        },
        Members<S>::list);
    return out;
}

template <std::size_t... I>
Branch branch_from(std::size_t index, const py::handle& fields, std::index_sequence<I...>) {
    Branch out;
    ((index == I ? void(out = from_python<std::variant_alternative_t<I, Branch>>(fields)) : void()), ...);
    return out;
}

template <class T>
T from_python(const py::handle& x) {
    if constexpr (HasMembers<T>) {
        return from_members<T>(py::cast<py::dict>(x));
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<T>(py::cast<int>(x));
    } else if constexpr (is<T, std::optional>) {
        if (x.is_none()) return std::nullopt;
        return from_python<typename T::value_type>(x);
    } else if constexpr (std::is_same_v<T, Branch>) {
        const auto pair = py::cast<py::tuple>(x);
        return branch_from(py::cast<std::size_t>(pair[0]), pair[1],
                           std::make_index_sequence<std::variant_size_v<Branch>>{});
    } else if constexpr (is<T, std::vector>) {
        using V = typename T::value_type;
        T out;
        if constexpr (is_number<V> || is<V, std::complex>) {
            const auto array = py::array_t<V, py::array::c_style | py::array::forcecast>::ensure(x);
            if (!array) throw py::error_already_set();
            out.assign(array.data(), array.data() + array.size());
        } else {
            for (const auto& one : x) out.push_back(from_python<V>(one));
        }
        return out;
    } else {
        return py::cast<T>(x);
    }
}

/// A vector as a read-only array that shares its memory; `owner` lives as long as the array.
template <class T>
py::array view(const std::vector<T>& values, const py::handle& owner) {
    py::array_t<T> out({static_cast<py::ssize_t>(values.size())}, {static_cast<py::ssize_t>(sizeof(T))}, values.data(),
                       owner);
    out.attr("setflags")(py::arg("write") = false);
    return out;
}

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

}  // namespace spectra::python
