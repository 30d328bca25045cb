#include "command_line.hpp"

#include "analyse.hpp"
#include "console/completion.hpp"
#include "conform.hpp"
#include "console/option_file.hpp"
#include "console/terminal.hpp"
#include "depth_limit.hpp"
#include "describe.hpp"
#include "doctor.hpp"
#include "exit_status.hpp"
#include "figure.hpp"
#include "help.hpp"
#include "console/help_page.hpp"
#include "info.hpp"
#include "console/man_page.hpp"
#include "base/nearest.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "reproduce.hpp"
#include "sweep.hpp"
#include "console/values.hpp"
#include "study/analysis.hpp"
#include "study/memory.hpp"
#include "study/page.hpp"
#include "study/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectra::cli {

using namespace console;

namespace {

/// The program's command line and the requests that its options fill.
struct CommandLine {
    study::Request request;
    study::DepthLimitRequest depth_request;
    study::SweepRequest sweep_request;
    study::CompareRequest compare_request;
    study::FigureRequest figure_request;
    study::TrainRequest train_request;
    study::ValidateRequest validate_request;
    study::CostRequest cost_request;
    study::EvaluateRequest evaluate_request;
    study::PageRequest page_request;
    study::ExplorerRequest explorer_request;
    ReproduceOptions reproduce_options;
    study::ConformRequest conform_request;
    std::string info_file, shell, page;
    std::optional<std::string> config;  ///< a file of options
    bool info_config = false, doctor_json = false;
    CLI::App app{"Singular values of deep residual networks' Jacobians: theory, simulation, plot.",
                 "spectra"};
    CLI::App* depth = nullptr;
    CLI::App* sweep = nullptr;
    CLI::App* compare = nullptr;
    CLI::App* figure = nullptr;
    CLI::App* train = nullptr;
    CLI::App* validate = nullptr;
    CLI::App* cost = nullptr;
    CLI::App* evaluate = nullptr;
    CLI::App* conform = nullptr;
    CLI::App* info = nullptr;
    CLI::App* report = nullptr;
    CLI::App* explore = nullptr;
    CLI::App* reproduce = nullptr;
    CLI::App* doctor = nullptr;
    CLI::App* completion = nullptr;
    CLI::App* man = nullptr;

    explicit CommandLine(const TorchCommands& torch) {
        // Unknown words are kept, so that the error message can suggest the nearest name.
        app.allow_extras();
        app.require_subcommand(0, 1);
        app.set_help_flag();
        add_options(app, request);
        add_config(app);
        app.set_help_flag("--help,-h", "the most used options, on one screen")->group("About");
        app.set_help_all_flag("--help-all", "all options, examples and exit statuses")->group("About");
        app.set_version_flag(
               "--version",
               [&torch] {
                   return fmt::format("spectra {} ({})\n{}{}", version::number, version::git, version::features,
                                      torch.version ? "\n" + torch.version() : "");
               },
               "version, git commit and features")
            ->group("About");

        compare = add_command("compare", "mixers at several depths in one figure and one file");
        add_options(*compare, compare_request);
        add_config(*compare);
        figure = add_command("figure", "other pictures of theory, simulation and training");
        add_options(*figure, figure_request);
        depth = add_command("depth-limit", "how deep a mixer can go");
        add_options(*depth, depth_request);
        add_config(*depth);
        sweep = add_command("sweep", "analyse a grid of networks; can be resumed");
        add_options(*sweep, sweep_request);
        add_config(*sweep);
        train = add_command("train", "train a model, write checkpoints and a log");
        add_options(*train, train_request);
        validate = add_command("validate", "measure a trained model's isometry against theory");
        add_options(*validate, validate_request);
        evaluate = add_command("evaluate", "how well a trained model predicts a text");
        add_options(*evaluate, evaluate_request);
        cost = add_command("cost", "what models cost: parameters, operations, memory, time");
        add_options(*cost, cost_request);
        conform = add_command("conform", "check a hyper-connection against the published one");
        conform->add_option("FILES", conform_request.files, "what both computed from the same numbers (docs/conform.md)")
            ->type_name("REFERENCE CANDIDATE")
            ->expected(0, 10000);
        OptionGroup(*conform, "Output").flag("--json", "print one JSON object and nothing else", conform_request.json);
        info = add_command("info", "describe a result file");
        info->add_option("FILE.h5", info_file, "the file")->type_name("FILE.h5");
        info->add_flag("--config", info_config, "print the options that produced it, as a file for --config")
            ->group("Output");
        report = add_command("report", "make an HTML page from result files");
        report->add_option("FILE.h5", page_request.files, "result files of any command")
            ->type_name("FILE.h5…")
            ->expected(0, 10000);
        const OptionGroup output(*report, "Output");
        output("--output,--out", "PAGE.html", "",
               "file to write [default: FILE.html, or spectra-report.html for several]",
               [this](const auto&, const auto& text) { page_request.output = text; });
        output.flag("--force", "replace the file even if it is not a page of these results", page_request.force);
        explore = add_command("explore", "make a page to change a network and watch its law");
        const OptionGroup explorer(*explore, "Output");
        explorer("--output,--out", "PAGE.html", "", "file to write [default: spectra-explore.html]",
                 [this](const auto&, const auto& text) { explorer_request.output = text; });
        explorer.flag("--force", "replace the file even if it is not an explorer", explorer_request.force);
        reproduce = add_command("reproduce", "recompute the claims of the papers");
        add_reproduce();
        doctor = add_command("doctor", "what is installed, whether it works, what to install");
        OptionGroup(*doctor, "Output").flag("--json", "print one JSON object and nothing else", doctor_json);
        completion = add_command("completion", "print a shell completion script");
        completion->add_option("SHELL", shell, "the shell")->type_name("bash|zsh");
        man = add_command("man", "print the manual page of spectra or of one command");
        man->add_option("[COMMAND]", page, "the command")
            ->type_name(fmt::format("{}", fmt::join(command_names(), "|")));
        for (auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
            add_help(*command);
    }

    std::vector<std::string> command_names() const {
        std::vector<std::string> names;
        for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
            names.push_back(command->get_name());
        return names;
    }

    /// Null for the program itself.
    const CLI::App* command() const {
        const auto parsed = app.get_subcommands();
        return parsed.empty() ? nullptr : parsed.front();
    }

private:
    void add_config(CLI::App& target) {
        const OptionGroup add(target, "Configuration");
        add("--config", "FILE.toml", "",
            "read options from this file; those on the command line override it (spectra info --config writes one)",
            [this](const auto&, const auto& text) { config = text; });
    }

    void add_reproduce() {
        auto& asked = reproduce_options.request;
        reproduce->add_option("ID", asked.ids, "numbers of claims, C1 to C150; without any, all of them")
            ->type_name("ID…")
            ->expected(0, 1000);
        const OptionGroup which(*reproduce, "Claims");
        which("--paper", "NAME", "", "only the claims of jpmhc, edelta, shc, mgt or edelta-explainer",
              [&asked](const auto&, const auto& text) { asked.paper = text; });
        which("--claims", "FOLDER", "", "read the ledger from this folder instead of the built-in one",
              [&asked](const auto&, const auto& text) { asked.ledger = text; });
        const OptionGroup long_ones(*reproduce, "Trainings");
        long_ones.flag("--gpu",
                       "first run the trainings that claims rest on and that are not done yet, in the order of the "
                       "claims, on the GPU (reflection: on the CPU); what is finished is kept, and the same command "
                       "goes on",
                       reproduce_options.gpu);
        long_ones.flag("--afresh", "with --gpu: also those that the program itself has results of",
                       reproduce_options.afresh);
        long_ones("--trainings", "FOLDER", "spectra-trainings",
                  "their results: written by --gpu, used before those of the program itself",
                  [&asked](const auto&, const auto& text) { asked.trainings = text; });
        long_ones("--text", "FILE", "", "the text that trainings of mgt, shc and recursive models learn: tiny Shakespeare",
                  [this](const auto&, const auto& text) { reproduce_options.text = text; });
        long_ones.integer("--jobs", "N", "7 where processes can share the GPU, else 4", "trainings at a time",
                          reproduce_options.jobs, 1);
        const OptionGroup output(*reproduce, "Output");
        output.flag("--json", "print one JSON object and nothing else", reproduce_options.json);
        output.flag("--markdown", "print the ledger as a document (docs/claims.md); compute nothing",
                    reproduce_options.markdown);
        output("--record", "FOLDER", "",
               "write the numbers found into the claims of this folder (data/claims of a checkout); verdicts are not changed",
               [&asked](const auto&, const auto& text) { asked.record = text; });
    }

    /// A command has one page; --help-all is accepted and not shown.
    static void add_help(CLI::App& command) {
        command.set_help_flag("--help,-h", "this page")->group("About");
        command.set_help_all_flag("--help-all", "this page")->group("");
    }

    CLI::App* add_command(const std::string& name, const std::string& description) {
        auto* const command = app.add_subcommand(name, description);
        command->allow_extras();
        return command;
    }
};

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options([](const CLI::Option* o) { return o->nonpositional(); }))
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

[[noreturn]] void refuse_word(const CommandLine& line, const CLI::App& app, const std::string& word) {
    const bool is_main = &app == &line.app;
    const std::string where = is_main ? "" : app.get_name() + ": ";
    if (word.size() > 1 && word[0] == '-') {
        const auto names = option_names(app);
        const auto near = nearest(word.substr(0, word.find('=')), names);
        throw std::invalid_argument(
            fmt::format("{}{}: no such option{}", where, in_quotes(word),
                        near      ? fmt::format("; did you mean '{}'?", *near)
                        : is_main ? "; spectra --help-all lists them"
                                  : fmt::format("; spectra {} --help lists them", app.get_name())));
    }
    if (!is_main) throw std::invalid_argument(fmt::format("{}{}: unexpected argument", where, in_quotes(word)));
    const auto commands = line.command_names();
    if (!nearest(word, commands))
        if (const auto mixer = nearest(word, study::family_names()))
            throw std::invalid_argument(
                fmt::format("{}: no such command; did you mean '--mixer {}'?", in_quotes(word), *mixer));
    throw std::invalid_argument(
        fmt::format("{}: no such command{}", in_quotes(word), suggestion(word, commands)));
}

void refuse_extras(const CommandLine& line) {
    const CLI::App* const command = line.command();
    for (const auto& word : line.app.remaining()) refuse_word(line, line.app, word);
    if (command == nullptr) return;
    for (const auto& word : command->remaining()) refuse_word(line, *command, word);
    for (const auto* option : line.app.get_options([](const CLI::Option* o) { return o->count() > 0; })) {
        const std::string name = option->get_name(false, false);
        const auto own = option_names(*command);
        if (std::find(own.begin(), own.end(), name) != own.end())
            throw std::invalid_argument(fmt::format("{}: must come after the command: spectra {} {} …", name,
                                                    command->get_name(), name));
        throw std::invalid_argument(
            fmt::format("{} cannot be combined with {}: it only applies to analysing a network", name,
                        command->get_name()));
    }
}

std::vector<char*> with_word(char** arguments, const char* word) {
    std::vector<char*> out;
    for (; *arguments != nullptr; ++arguments) out.push_back(*arguments);
    out.push_back(const_cast<char*>(word));
    out.push_back(nullptr);
    return out;
}

int dispatch(CommandLine& line, const study::Invocation& invocation, char** arguments, const TorchCommands& torch) {
    refuse_extras(line);
    if (line.train->parsed()) {
        check_conflicts(line.train_request);
        if (torch_is_probed()) return needs_torch;
        if (!torch.train) start_torch_program(arguments);
        return torch.train(line.train_request, invocation);
    }
    if (line.evaluate->parsed()) {
        const auto& asked = line.evaluate_request;
        if (asked.checkpoint.empty() || asked.text.empty())
            throw std::invalid_argument(
                fmt::format("evaluate: no {} given; use spectra evaluate FILE.ckpt --text FILE",
                            asked.checkpoint.empty() ? "checkpoint" : "text"));
        if (torch_is_probed()) return needs_torch;
        if (!torch.evaluate) start_torch_program(arguments);
        return torch.evaluate(asked);
    }
    if (line.cost->parsed()) {
        check_conflicts(line.cost_request);
        if (torch_is_probed()) return needs_torch;
        if (!torch.cost) start_torch_program(arguments);
        return torch.cost(line.cost_request, invocation);
    }
    if (line.validate->parsed()) {
        check_conflicts(line.validate_request);
        const bool runs_a_model = study::needs_a_model(line.validate_request);
        if (torch_is_probed()) return runs_a_model ? needs_torch : done;
        if (!torch.measure && runs_a_model) {
            // Ask once, here: a refusal does not need Torch.
            const bool confirmed = confirm_scripts(line.validate_request);
            start_torch_program(confirmed ? with_word(arguments, "--run-script").data() : arguments);
        }
        return validate(line.validate_request, invocation, torch.measure);
    }
    if (line.depth->parsed()) return depth_limit(line.depth_request, invocation);
    if (line.compare->parsed()) return compare(line.compare_request, invocation);
    if (line.figure->parsed()) return figure(line.figure_request, invocation);
    if (line.sweep->parsed()) return sweep(line.sweep_request, invocation);
    if (line.conform->parsed()) return cli::conform(line.conform_request);
    if (line.info->parsed()) {
        if (line.info_file.empty())
            throw std::invalid_argument("info: no file given; use spectra info FILE.h5");
        return line.info_config ? info_config(line.info_file, line.app) : info(line.info_file);
    }
    if (line.report->parsed()) {
        print(fmt::format("wrote {}\n", printable(study::write_page(line.page_request))));
        return done;
    }
    if (line.explore->parsed()) {
        print(fmt::format("wrote {}\n", printable(study::write_explorer(line.explorer_request))));
        return done;
    }
    if (line.reproduce->parsed()) return reproduce(line.reproduce_options);
    if (line.doctor->parsed()) return doctor(line.doctor_json);
    if (line.completion->parsed()) {
        const bool bash = to_choice("completion", line.shell, {"bash", "zsh"}) == "bash";
        const auto program = describe(line.app);
        print(bash ? bash_completion(program) : zsh_completion(program));
        return done;
    }
    if (line.man->parsed()) {
        const CLI::App& page = line.page.empty() ? line.app
                                                 : *line.app.get_subcommand(to_choice("man", line.page, line.command_names()));
        print(man_page(describe(page), manual()));
        return done;
    }
    return analyse(line.request, invocation);
}

/// A number in one spelling, so that 0.5 and 5e-1 are the same setting; other text as it is.
std::string in_one_spelling(const std::string& text) {
    double value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? fmt::format("{}", value) : text;
}

/// Whether results may depend on the option: not on where they go, how they are shown, or what they are resumed from.
bool changes_results(const CLI::Option& option) {
    constexpr std::string_view without_effect[] = {
        "out",     "force",  "json",   "quiet", "threads",    "help",      "help-all",   "plot", "table",
        "palette", "config", "resume", "size",  "checkpoint", "log-every", "run-script", "stop-after"};
    const auto& names = option.get_lnames();
    return !names.empty() &&
           std::find(std::begin(without_effect), std::end(without_effect), names.front()) == std::end(without_effect);
}

/// What was given and is not the default, of what results depend on.
study::Settings given_settings(const CLI::App& command) {
    study::Settings settings{{"command", command.get_parent() == nullptr ? "analysis" : command.get_name()}};
    for (const auto* option : command.get_options([](const CLI::Option* o) { return o->count() > 0; })) {
        if (!option->nonpositional() || !changes_results(*option)) continue;
        const auto field = field_name("--" + option->get_lnames().front());
        const auto value = in_one_spelling(fmt::format("{}", fmt::join(option->results(), ",")));
        // The default of `samples` is fewer for some networks.
        if (value != in_one_spelling(option->get_default_str()) || field == "samples")
            settings.emplace_back(field, value);
    }
    return settings;
}

/// Parses the words after the program's name; the exit status if they ask for a page, which is printed.
std::optional<int> parse(CommandLine& line, std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        line.app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        const auto* const asked = line.command();
        print(asked == nullptr ? overview_page(describe(line.app)) : help_page(describe(*asked)));
        return done;
    } catch (const CLI::CallForAllHelp&) {
        const auto* const asked = line.command();
        print(help_page(describe(asked == nullptr ? line.app : *asked)));
        return done;
    } catch (const CLI::CallForVersion& version) {
        print(std::string(version.what()) + "\n");
        return done;
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string message = error.what();
        const bool twice = message.find("received") != std::string::npos;
        throw std::invalid_argument(message.substr(0, message.find(':')) +
                                    (twice ? ": given more than once" : ": requires a value"));
    } catch (const CLI::ParseError& error) {
        throw std::invalid_argument(error.what());
    }
    return std::nullopt;
}

int parse_and_run(int argc, char** argv, const TorchCommands& torch) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    auto line = std::make_unique<CommandLine>(torch);
    if (words.empty()) {
        print(start_page(describe(line->app)));
        return done;
    }
    if (const auto status = parse(*line, words)) return *status;
    if (line->config) {
        refuse_extras(*line);
        const auto* const command = line->command();
        words = with_option_file(describe(line->app), command != nullptr ? command->get_name() : "", words, *line->config,
                                 option_files());
        line = std::make_unique<CommandLine>(torch);
        parse(*line, words);
    }
    // What is stored with the results needs no other file.
    words.insert(words.begin(), "spectra");
    const auto* const command = line->command();
    return dispatch(*line, {shell_line(words), given_settings(command != nullptr ? *command : line->app)}, argv, torch);
}

}  // namespace

int run(int argc, char** argv, const TorchCommands& torch) {
    try {
        study::check_address_space();
    } catch (const std::exception& error) {
        print_error(message_of(error));
        std::_Exit(not_finished);  // libraries that wait for memory would not let it end
    }
    try {
        return parse_and_run(argc, argv, torch);
    } catch (const std::invalid_argument& error) {
        print_error(message_of(error));
        return bad_input;
    } catch (const study::Stopped&) {
        print_error("interrupted before anything was computed; files are unchanged");
        return was_interrupted;
    } catch (const std::bad_alloc&) {
        print_error("out of memory");
    } catch (const std::exception& error) {
        print_error(message_of(error));
    }
    return not_finished;
}

}  // namespace spectra::cli
