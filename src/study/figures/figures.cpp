#include "study/figures/figures.hpp"

namespace spectra::study {

const std::vector<FigureKind>& figure_kinds() {
    static const std::vector<std::string> depth_curves{"mixers", "depths", "max_depth", "streams",
                                                       "noise"};
    static const std::vector<std::string> simulated{"mixers", "depths", "streams",
                                                    "width",  "noise",  "samples"};
    static const std::vector<std::string> drawn_mixers{
        "mixers", "depths", "max_depth", "streams", "sinkhorn_iterations", "logit_scale"};
    static const std::vector<FigureKind> kinds{
        {"bands", "quantiles of the singular values against depth, by theory", depth_curves, draw_bands},
        {"collapse", "share of singular values below 0.1 against depth, by theory", depth_curves,
         draw_collapse},
        {"rank",
         "effective rank of the Jacobian against depth, by theory; of states in FILE.h5 by spectra train",
         depth_curves, draw_rank, true},
        {"printed", "the source paper's equation as printed, the corrected one, and simulation", simulated,
         draw_printed},
        {"composite",
         "the mixers' product alone against depth: sums, norm, smallest singular value; of FILE.h5 by spectra validate",
         drawn_mixers, draw_composite, true, false, true},
        {"mixers", "heat maps of mixers and of their product: drawn, or of FILE.h5 by spectra validate",
         drawn_mixers, draw_mixers, true, false, true},
        {"entries", "histogram of the entries of all mixers: drawn, or of FILE.h5 by spectra validate",
         drawn_mixers, draw_entries, true, false, true},
        {"gate",
         "cayley-hybrid: quantiles of the singular values against the gate, by theory",
         {"depths", "streams", "noise"},
         draw_gate},
        {"midpoint",
         "penalties of the gate, their slopes, and how a gate at ½ gets away from it",
         {},
         draw_midpoint},
        {"sphere",
         "spectral-sphere: quantiles of the singular values against the bound, by theory",
         {"depths", "streams", "noise"},
         draw_sphere},
        {"rollout", "growth of random vectors from layer to layer: simulation, and its mean square by theory",
         simulated, draw_rollout},
        {"width", "distance of simulation to theory against the width of a stream", simulated, draw_width},
        {"cost", "time against accuracy of theory and simulation, measured on this machine", simulated,
         draw_cost},
        {"training",
         "curves of trained models: loss, gate, β, cosine, gradient norm, ranks, norms (of FILE.h5 by spectra train)",
         {},
         draw_training,
         true,
         true},
        {"streams",
         "mixers and streams during training: row maxima, diagonals, sums, cosines (of FILE.h5 by spectra train)",
         {},
         draw_streams,
         true,
         true},
        {"synergy",
         "MGT's synergy coefficient, of four or more FILE.h5: post-ln (or gpt), mgt-mhc, mgt-ddl, mgt",
         {},
         draw_synergy,
         true,
         true},
        {"generators",
         "sets of K permutations with the largest spectral gap, by exhaustive search",
         {"streams"},
         draw_generators},
    };
    return kinds;
}

}  // namespace spectra::study
