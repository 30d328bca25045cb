#include <jacobian_spectra/mixers/mixer.hpp>

#include <cmath>

// An orthogonal mixer preserves the norm of a vector.
int main() {
    spectra::random::Stream stream(1, spectra::random::Purpose::mixer);
    spectra::mixers::Recipe recipe;
    recipe.family = spectra::mixers::Family::orthogonal;
    const spectra::Mixer a = spectra::mixers::draw(recipe, 4, stream);
    return std::abs(a.col(0).norm() - 1) < 1e-14 ? 0 : 1;
}
