#include "train/operations.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace spectra::train {

namespace {

using torch::Tensor;

enum class Kind {
    open,       ///< what it dispatches counts; if that is nothing, one per element
    none,       ///< neither computes nor moves anything
    movement,   ///< no floating-point operation
    elements,   ///< a number per element of the largest operand or result
    first,      ///< one per element of the first operand
    product,    ///< of the last two tensors among the operands
    solution,   ///< of A X = B from A and B
    factored,   ///< the same from a factorisation: LU, pivots, B
    factors,    ///< LU factors of A
    inverse,    ///< of A
    attention,  ///< of queries, keys and values
    attention_backward,
};

struct Operator {
    Kind kind = Kind::open;
    double each = 1;  ///< per element
};

const std::unordered_map<std::string_view, Operator>& operators() {
    static const std::unordered_map<std::string_view, Operator> all = [] {
        std::unordered_map<std::string_view, Operator> known;
        const auto add = [&](Operator op, std::initializer_list<const char*> names) {
            for (const auto* name : names) known.emplace(name, op);
        };
        add({Kind::none},
            {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_",
             "as_strided_", "set_", "result_type", "is_same_size", "item", "_local_scalar_dense",
             "scalar_tensor", "detach", "lift_fresh", "_unsafe_view", "_reshape_alias"});
        add({Kind::movement}, {"copy_", "fill_", "zero_", "cat", "index_select", "index", "gather",
                               "index_copy_", "index_fill_", "masked_fill_", "masked_select", "nonzero",
                               "where", "flip", "triu", "tril", "arange", "eye"});
        // Those that dispatch conversions of numbers or fills, which are part of them.
        add({Kind::elements},
            {"add", "add_", "sub", "sub_", "rsub", "mul", "mul_",   "div",   "div_",      "pow",      "pow_",
             "eq",  "ne",   "ge",  "gt",   "le",   "lt",  "cumsum", "clamp", "clamp_min", "clamp_max"});
        add({Kind::elements, 5}, {"_softmax", "_log_softmax"});
        add({Kind::elements, 4}, {"_softmax_backward_data", "_log_softmax_backward_data"});
        add({Kind::elements, 7}, {"native_layer_norm"});
        add({Kind::elements, 12}, {"native_layer_norm_backward"});
        add({Kind::first}, {"sum", "amax", "amin", "max", "min", "all", "any", "embedding_dense_backward"});
        add({Kind::product}, {"mm", "bmm", "addmm", "addmm_", "baddbmm", "baddbmm_"});
        add({Kind::solution}, {"linalg_solve_ex", "_linalg_solve_ex"});
        add({Kind::factored}, {"linalg_lu_solve"});
        add({Kind::factors}, {"linalg_lu_factor_ex"});
        add({Kind::inverse}, {"linalg_inv_ex"});
        add({Kind::attention},
            {"_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu",
             "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention"});
        add({Kind::attention_backward}, {"_scaled_dot_product_flash_attention_backward",
                                         "_scaled_dot_product_flash_attention_for_cpu_backward",
                                         "_scaled_dot_product_efficient_attention_backward",
                                         "_scaled_dot_product_cudnn_attention_backward"});
        return known;
    }();
    return all;
}

/// Of all tensors in a value.
void add_tensors(const c10::IValue& value, std::vector<Tensor>& tensors) {
    if (value.isTensor() && value.toTensor().defined()) tensors.push_back(value.toTensor());
    if (value.isTensorList())
        for (const auto& tensor : value.toTensorVector()) tensors.push_back(tensor);
    if (value.isTuple())
        for (const auto& part : value.toTupleRef().elements()) add_tensors(part, tensors);
}

template <class Values>
std::vector<Tensor> tensors_in(const Values& values) {
    std::vector<Tensor> tensors;
    for (const auto& value : values) add_tensors(value, tensors);
    return tensors;
}

double largest_of(const std::vector<Tensor>& tensors) {
    double most = 0;
    for (const auto& tensor : tensors) most = std::max(most, static_cast<double>(tensor.numel()));
    return most;
}

/// The matrices (…, n, n) of a tensor: how many, and n.
struct Matrices {
    explicit Matrices(const Tensor& tensor)
        : size(static_cast<double>(tensor.size(-1))),
          count(static_cast<double>(tensor.numel()) / (size * size)) {}
    double size, count;
};

/// Floating-point operations of the kinds that depend on shapes; 0 of the others.
double shaped_flops(Kind kind, const std::vector<Tensor>& in) {
    const auto elements = [](const Tensor& tensor) { return static_cast<double>(tensor.numel()); };
    switch (kind) {
        case Kind::product: {
            const auto& left = in[in.size() - 2];
            return 2 * elements(left) * static_cast<double>(in.back().size(-1));
        }
        case Kind::solution: {
            const Matrices a(in[0]);
            return a.count * 2 * a.size * a.size * a.size / 3 + 2 * a.size * elements(in[1]);
        }
        case Kind::factored:
            return 2 * Matrices(in[0]).size * elements(in[2]);
        case Kind::factors: {
            const Matrices a(in[0]);
            return a.count * 2 * a.size * a.size * a.size / 3;
        }
        case Kind::inverse: {
            const Matrices a(in[0]);
            return a.count * 2 * a.size * a.size * a.size;
        }
        case Kind::attention:
            return 4 * elements(in[0]) * static_cast<double>(in[1].size(-2));
        // Queries and keys come after the gradient.
        case Kind::attention_backward:
            return 10 * elements(in[1]) * static_cast<double>(in[2].size(-2));
        default:
            return 0;
    }
}

/// An operator that has begun and not ended.
struct Frame final : at::ObserverContext {
    Frame* outer = nullptr;
    bool ignored = false;  ///< part of an operator that counts as a whole
    bool counted = false;  ///< something inside of it was
    Operator op = {};
    double product = 0, added = 0, largest = 0;  ///< added: elements of a product's summand
};

struct Counter {
    std::mutex mutex;
    OperationCount count;
};

Counter* current = nullptr;  ///< set while no other thread computes
thread_local Frame* innermost = nullptr;

/// Whether the result is a view of an operand.
bool makes_view(const at::RecordFunction& function) {
    const auto schema = function.operator_schema();
    if (!schema || schema->returns().empty()) return false;
    const auto* const alias = schema->returns().front().alias_info();
    return alias != nullptr && !alias->isWrite();
}

/// Kinds other than open: what they dispatch is part of them.
Operator operator_of(const at::RecordFunction& function) {
    const std::string_view name = function.name(), prefix = "aten::";
    if (!name.starts_with(prefix)) return {Kind::none};  // a node of the graph: its operators count
    const auto found = operators().find(name.substr(prefix.size()));
    if (found != operators().end()) return found->second;
    return {makes_view(function) ? Kind::none : Kind::open};
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    auto frame = std::make_unique<Frame>();
    frame->outer = innermost;
    innermost = frame.get();
    const auto* const outer = frame->outer;
    frame->ignored = outer != nullptr &&
                     (outer->ignored || (outer->op.kind != Kind::open && outer->op.kind != Kind::none));
    if (frame->ignored) return frame;
    frame->op = operator_of(function);
    const auto in = tensors_in(function.inputs());
    frame->product = shaped_flops(frame->op.kind, in);
    if (frame->op.kind == Kind::product && in.size() == 3)
        frame->added = static_cast<double>(in[1].numel()) * static_cast<double>(in[2].size(-1)) /
                       static_cast<double>(in[1].size(-1));
    const bool one_operand = frame->op.kind == Kind::first && !in.empty();
    frame->largest = one_operand ? static_cast<double>(in.front().numel()) : largest_of(in);
    if (std::string_view(function.name()) == "aten::native_layer_norm" && in.size() == 3) frame->op.each = 8;
    return frame;
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
    auto& frame = *static_cast<Frame*>(context);
    innermost = frame.outer;
    const auto kind = frame.op.kind;
    const bool counts = !frame.ignored && kind != Kind::none && !(kind == Kind::open && frame.counted);
    if (frame.outer != nullptr && (counts || frame.counted)) frame.outer->counted = true;
    if (!counts) return;
    if (kind == Kind::open || kind == Kind::elements)
        frame.largest = std::max(frame.largest, largest_of(tensors_in(function.outputs())));
    const bool per_element = kind == Kind::open || kind == Kind::elements || kind == Kind::first;
    const std::lock_guard guard(current->mutex);
    auto& count = current->count;
    ++count.operations;
    count.product_flops += frame.product;
    count.other_flops += frame.added;
    if (per_element) count.other_flops += frame.op.each * frame.largest;
}

/// The type in which this version of Torch reports totals.
template <class Total>
Total totals_of(void (c10::MemoryReportingInfoBase::*)(void*, int64_t, Total, Total, c10::Device));
using Total = decltype(totals_of(&c10::MemoryReportingInfoBase::reportMemoryUsage));

/// Counts the bytes that this thread has allocated on a device and not freed.
struct MemoryCount final : c10::MemoryReportingInfoBase {
    explicit MemoryCount(torch::Device where) : device(where) {}
    bool memoryProfilingEnabled() const override { return true; }
    void reportMemoryUsage(void* /*pointer*/, int64_t bytes, Total, Total, c10::Device where) override {
        if (where.type() == device.type()) held += bytes;
    }
    torch::Device device;
    int64_t held = 0;
};

}  // namespace

OperationCount count_operations(const std::function<void()>& work) {
    if (current != nullptr) throw std::logic_error("operations are being counted already");
    Counter counter;
    current = &counter;
    const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                                  .needsInputs(true)
                                                  .needsOutputs(true)
                                                  .scopes({at::RecordScope::FUNCTION}));
    const auto stop = [&] {
        at::removeCallback(handle);
        current = nullptr;
    };
    try {
        work();
    } catch (...) {
        stop();
        throw;
    }
    stop();
    return counter.count;
}

std::int64_t graph_nodes(const torch::autograd::variable_list& outputs) {
    std::unordered_set<torch::autograd::Node*> seen;
    std::vector<torch::autograd::Node*> open;
    const auto visit = [&](torch::autograd::Node* node) {
        if (node != nullptr && seen.insert(node).second) open.push_back(node);
    };
    for (const auto& output : outputs) visit(output.grad_fn().get());
    std::int64_t count = 0;
    while (!open.empty()) {
        auto* const node = open.back();
        open.pop_back();
        if (node->num_outputs() > 0) ++count;  // collectors of gradients have none
        for (const auto& edge : node->next_edges()) visit(edge.function.get());
    }
    return count;
}

std::int64_t kept_bytes(const std::function<torch::autograd::variable_list()>& forward,
                        torch::Device device) {
    const auto count = std::make_shared<MemoryCount>(device);
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, count);
    std::vector<std::shared_ptr<torch::autograd::Node>> graph;
    for (const auto& output : forward()) graph.push_back(output.grad_fn());
    return count->held;
}

}  // namespace spectra::train
