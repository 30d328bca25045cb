#include "train/models/recompute.hpp"

namespace spectra::train {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace {

using Map = std::function<Connection::Output(const Tensor&)>;

/// Carries f and its precision through the context, which holds only tensors and plain values.
struct Held : torch::CustomClassHolder {
    explicit Held(Map held) : f(std::move(held)) {}
    Map f;
    at::ThreadLocalState state;
};

struct Recompute : torch::autograd::Function<Recompute> {
    static variable_list forward(AutogradContext* context, const Variable& x, const Map* f) {
        context->save_for_backward({x});
        context->saved_data["f"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(*f));
        const auto out = (*f)(x);  // autograd is off in here
        return {out.state, out.penalty.defined() ? out.penalty : torch::zeros({}, x.options())};
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto held = c10::static_intrusive_pointer_cast<Held>(context->saved_data["f"].toCapsule());
        const auto x = context->get_saved_variables()[0].detach().requires_grad_();
        const at::ThreadLocalStateGuard as_before(held->state);
        const torch::AutoGradMode on(true);
        const auto out = held->f(x);
        variable_list roots{out.state}, seeds{gradients[0]};
        if (out.penalty.defined()) {
            roots.push_back(out.penalty);
            seeds.push_back(gradients[1]);
        }
        torch::autograd::backward(roots, seeds);
        return {x.grad(), Variable()};
    }
};

}  // namespace

Connection::Output recompute(const Map& f, const Tensor& x) {
    const auto outputs = Recompute::apply(x, &f);
    return {outputs[0], outputs[1]};
}

}  // namespace spectra::train
