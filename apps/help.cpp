#include "help.hpp"

#include "console/help_page.hpp"
#include "exit_status.hpp"
#include "study/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace spectra::cli {

using console::Entry;

namespace {

/// The options of --help, with shorter descriptions than those of --help-all.
struct FrequentOptions {
    std::string group;
    std::vector<Entry> options;
};

const std::vector<FrequentOptions>& frequent_options() {
    static const std::vector<FrequentOptions> groups{
        {"Network",
         {{"--mixer NAME|FILE", "mixers: a family or a file of matrices"},
          {"--depth L", "layers [default: 10]"},
          {"--streams n", "residual streams [default: 4]"},
          {"--branch NAME", "the random branch [default: isotropic]"},
          {"--noise C", "total variance of the branch [default: 0.05]"},
          {"--seed N", "random seed [default: 1]"}}},
        {"Methods",
         {{"--theory LIST", "theories to solve, or none [default: ov,scalar]"},
          {"--samples S", "Jacobians to simulate, or 0 [default: 100]"},
          {"--device NAME", "auto, cpu or cuda [default: auto]"}}},
        {"Output",
         {{"--out STEM", "name of the files, without .h5 and .png"},
          {"--plot LIST", "png, svg, pdf, html or none [default: png]"},
          {"--json", "print JSON instead of a page"}}},
        {"About",
         {{"--help-all", "all options, examples and exit statuses"},
          {"--version", "version, git commit and features"}}},
    };
    return groups;
}

const std::vector<std::string> description{
    "spectra computes the singular values of the Jacobian J = Y_L ··· Y_2 Y_1, Y_l = A_l ⊗ I + X_l, of a "
    "deep "
    "residual network with n coupled streams: A_l is the n×n mixer of the skip connection, X_l a random "
    "branch. It solves the theory of infinite width, simulates networks of finite width, compares the two "
    "and "
    "draws both.",
    "Without a command it analyses one network, prints a page and writes a result file and a figure. A "
    "command comes first, followed by its own options.",
    "Progress goes to standard error, and only to a terminal. An error is one line: what was wrong, where, "
    "and what to use instead.",
};

const std::vector<Entry> environment{
    {"NO_COLOR", "if set and not empty, output has no colours"},
    {"LC_ALL, LC_CTYPE, LANG",
     "output is Unicode if the first of these that is set names UTF-8, otherwise ASCII"},
    {"OMP_NUM_THREADS", "number of threads without --threads; train on a GPU uses at most two"},
    {"OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME, OPENBLAS_THREAD_TIMEOUT",
     "how threads of train and validate wait for each other; without them they sleep after a few microseconds"},
    {"PATH", "where to look for gnuplot"},
    {"OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and _SIZE, SLURM_PROCID and SLURM_STEP_NUM_TASKS",
     "set by mpirun and srun: the rank of this process and the number of processes"},
};

const std::vector<Entry> files{
    {"STEM.h5", "all results of a run, in HDF5; --out sets STEM. spectra info describes the file"},
    {"STEM.png, STEM.svg, STEM.pdf, STEM.html", "figures and pages, see --plot and report"},
    {"STEM.md, STEM.csv, STEM.tex", "tables of compare; sweep and train write STEM.csv"},
    {"STEM.parts", "sweep: finished networks, until all are"},
    {"STEM.ckpt, STEM.ckpt.previous", "train: the last two checkpoints, as torch.save writes them"},
    {"spectra-torch",
     "next to the program: started by train, evaluate, cost and validate when they need Torch"},
};

}  // namespace

const std::vector<Entry>& examples() {
    static const std::vector<Entry> all{
        {"spectra --mixer cayley --depth 10", "theory, simulation, spectra-cayley-L10.h5 and .png"},
        {"spectra --mixer bistochastic --depth 10 --noise 0.1 --samples 500 --out run1",
         "more noise, more samples, files run1.h5 and run1.png"},
        {"spectra --mixer my-mixers.csv --sigma2 0.01 --theory ov", "your own matrices"},
        {"spectra --mixer orthogonal --branch activation --activation gelu",
         "the slopes of an activation in the branch"},
        {"spectra --mixer bistochastic --branch hyper-connection --depth 20",
         "a branch that reads one mix of the streams"},
        {"spectra --mixer orthogonal --theory none --samples 0 --omega \"0.3+0.05i,1+0.01i\" --json",
         "g at two points, as JSON"},
        {"spectra --mixer cayley --sensitivity --average 20",
         "what the metrics depend on, and how much they vary between draws of the mixers"},
        {"spectra compare", "six mixers at three depths: two figures, a ranked table, spectra-compare.h5"},
        {"spectra compare --mixers cayley,my-mixers.csv --depths 10,50 --plot pdf --table tex",
         "your own mixers, for a paper; networks already in the file are not recomputed"},
        {"spectra figure bands",
         "one of eleven pictures, with its numbers beside it; spectra figure lists them"},
        {"spectra depth-limit --mixer bistochastic --sigma2 0.005", "how deep these mixers can go"},
        {"spectra sweep --mixers bistochastic,cayley --depths 1,2,10 --noises 0.05,0.2 --seeds 1:5",
         "sixty networks in one file, with a table; rerun the same command to resume"},
        {"spectra train gyroscope --architecture edelta",
         "a model of the EΔ paper on its task, with trivial predictors beside its loss"},
        {"spectra evaluate spectra-text-gpt.ckpt --text other.txt",
         "perplexity and bits per byte of a model of text on another text"},
        {"spectra cost --architecture mhc-lite,shc --mixer bistochastic --streams 2:8",
         "parameters, operations, memory and time of three models, over the number of streams"},
        {"spectra validate spectra-gyroscope-edelta.ckpt",
         "is the trained model still an isometry, and does theory explain it"},
        {"spectra validate model.safetensors --require \"norm<=1.05\"",
         "the mixers of a weight file; exit status 1 if they fail"},
        {"spectra validate models/Example-Flash", "the same for a published model, given its folder"},
        {"spectra conform reference.safetensors mine.safetensors",
         "is your hyper-connection the published one? If not, what differs"},
        {"spectra info run1.h5", "describes a result file"},
        {"spectra report run1.h5", "an HTML page, run1.html; several files go into one page"},
        {"spectra explore",
         "a page for your browser with controls for depth, noise and mixer; the law follows them"},
        {"spectra reproduce",
         "recompute the claims of the papers; exit status 1 if a result no longer agrees"},
        {"spectra reproduce C9 C13", "two of them; docs/claims.md lists all"},
        {"spectra doctor",
         "what works on this machine, and what to install; include it when you report a problem"},
        {"spectra man | man -l -", "the manual page, if it is not installed"},
    };
    return all;
}

const std::vector<Entry>& exit_statuses() {
    static const std::vector<Entry> statuses{
        {std::to_string(done), "done"},
        {std::to_string(verdict_negative),
         "done, and the verdict of validate or conform is negative, or a result of reproduce no longer agrees with its "
         "claim"},
        {std::to_string(bad_input), "bad command line or input; nothing was computed or written"},
        {std::to_string(not_finished),
         "could not finish: points left uncertified (the file marks them), out of memory, disk full; "
         "doctor: something required does not work"},
        {std::to_string(was_interrupted),
         "interrupted by Ctrl-C; finished samples are kept (press twice to stop at once)"},
    };
    return statuses;
}

std::string overview_page(const console::Command& program) {
    constexpr std::size_t group_column = 10, option_column = 31, command_column = 28, width = 80;
    std::string page =
        fmt::format("{}\n\nUsage: {}\n\nCommands ({} COMMAND --help shows the options of one):\n",
                    program.description, fmt::join(program.usage, ", or "), program.name);
    for (const auto& command : program.commands)
        page += console::help_entry(console::name_with_positionals(command), command.description,
                                    command_column, width);
    page += "\nOptions of an analysis:\n";
    for (const auto& [group, options] : frequent_options())
        for (const auto& option : options) {
            const std::string head = &option == &options.front() ? group : "";
            page += console::help_entry(console::padded(head, group_column) + option.name, option.text,
                                        option_column, width);
        }
    return page;
}

std::string start_page(const console::Command& program) {
    constexpr std::size_t text_column = 45;
    static const std::vector<Entry> commands{
        {"--mixer cayley --depth 10", "analyse one network"},
        {"compare", "six mixers at three depths, ranked"},
        {"depth-limit --mixer bistochastic", "how deep a mixer can go"},
        {"validate FILE", "is a trained model still isometric?"},
        {"doctor", "what works on this machine"},
    };
    std::string page = program.description + "\n\nCommands to start with:\n";
    for (const auto& command : commands)
        page += console::padded("  " + program.name + " " + command.name, text_column) + command.text + "\n";
    return page + fmt::format("\n{0} --help shows the most used options, {0} --help-all all of them.\n",
                              program.name);
}

console::Manual manual() {
    return {.version = version::number,
            .origin = "Written by spectra man, from the words of spectra --help-all.",
            .description = description,
            .environment = environment,
            .files = files,
            .programs = {"gnuplot", "mpirun", "h5dump"},
            .elsewhere = "a tutorial, the theory and the formats of files in the folder docs of the source"};
}

const console::OptionFiles& option_files() {
    static const console::OptionFiles rules{
        .option = "config",
        .not_settable = {"help", "version"},
        .not_kept = {"out", "force", "json", "quiet", "threads", "resume"},
        .without_command = "analysing a network",
        .example = "mixer = \"cayley\""};
    return rules;
}

}  // namespace spectra::cli
