#include "plot/layout.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace spectra::plot {
namespace {

constexpr double mm_per_point = 25.4 / 72;
constexpr const char* soft_black = "#333333";

/// Advance widths of DejaVu Sans in thousandths of its size.
double advance(char c) {
    constexpr std::array<int, 26> small = {613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974,
                                           634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525};
    constexpr std::string_view thin = " .,;:!/|'()[]-", wide = "%@MW=+<>~#";
    if (c >= 'a' && c <= 'z') return small[static_cast<std::size_t>(c - 'a')];
    if (c >= 'A' && c <= 'Z') return c == 'M' || c == 'W' ? 920 : 690;
    if (thin.find(c) != std::string_view::npos) return c == '-' || c == '(' || c == ')' ? 390 : 330;
    return wide.find(c) != std::string_view::npos ? (c == '%' ? 950 : 838) : 636;
}

double mm(double points) {
    return points * mm_per_point;
}

/// Distance between the lines of a text.
double line_height(double points) {
    return 1.4 * mm(points);
}

/// A non-breaking space: "L = 10", "seed 1", "75 %".
bool is_tie(const std::string& text, std::size_t space) {
    if (space == 0 || space + 1 >= text.size()) return false;
    const char before = text[space - 1], behind = text[space + 1];
    return before == '=' || behind == '=' || behind == '%' || (behind >= '0' && behind <= '9');
}

/// The end of the word that begins there: before a breaking space. `anywhere`: also after a hyphen or an
/// underscore, before a file's extension, or otherwise where `room` mm are full.
std::size_t word_end(const std::string& text, std::size_t begin, double points, double room, bool anywhere) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    while (end < text.size() && is_tie(text, end)) end = std::min(text.find(' ', end + 1), text.size());
    if (!anywhere) return end;
    for (std::size_t k = begin + 1; k < end; ++k)
        if (text[k - 1] == '-' || text[k - 1] == '_' || (text[k] == '.' && std::isalpha(text[k + 1] & 0x7F)))
            end = k;
    const auto inside = [&](std::size_t k) { return (text[k] & 0xC0) == 0x80; };  // a UTF-8 character
    while (end > begin + 1 && text_width(text.substr(begin, end - begin), points) > room) do
            --end;
        while (end > begin + 1 && inside(end));
    return end;
}

/// Lines no wider than `room` mm if words allow, broken at spaces; `anywhere`: inside words too.
std::vector<std::string> wrapped(const std::string& text, double points, double room, bool anywhere = false) {
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = word_end(text, begin, points, room, anywhere);
        const std::string word = text.substr(begin, end - begin);
        const bool spaced = begin > 0 && text[begin - 1] == ' ';
        const std::string longer = line + (spaced && !line.empty() ? " " : "") + word;
        if (!line.empty() && text_width(longer, points) > room) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
        begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
}

/// With a minus sign, not a hyphen.
std::string number_label(double value) {
    std::string text = fmt::format("{:.6g}", value + 0.0);
    if (const auto e = text.find("e-"); e != std::string::npos) text.replace(e, 2, "e−");
    return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string exponent_label(int exponent) {
    if (exponent == 0) return "1";
    static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string label = exponent < 0 ? "10⁻" : "10";
    for (const char digit : std::to_string(std::abs(exponent))) label += raised[digit - '0'];
    return label;
}

double round_step(double rough) {
    const double unit = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * unit >= rough * (1 - 1e-9)) return factor * unit;
    return 10 * unit;
}

/// Multiples of a step within the axis.
std::vector<Tick> number_ticks(double low, double high, double step, bool logarithmic) {
    std::vector<Tick> ticks;
    const double slack = 1e-9 * (high - low);
    for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
        const double value = k * step;
        if (logarithmic && value <= 0) continue;
        ticks.push_back({logarithmic ? std::log10(value) : value, number_label(value)});
    }
    return ticks;
}

/// Powers of ten, every `stride`-th with a label; counts up to some thousands are labelled as numbers.
std::vector<Tick> power_ticks(const Axis& axis, int stride) {
    std::vector<Tick> ticks;
    const bool counts = axis.min > -0.5 && axis.max < 4.5;
    const auto label = [&](int e) { return counts ? number_label(std::pow(10.0, e)) : exponent_label(e); };
    for (int e = static_cast<int>(std::ceil(axis.min)); e <= axis.max; ++e) {
        const bool major = e % stride == 0;
        if (major || stride <= 5) ticks.push_back({double(e), major ? label(e) : "", !major});
    }
    return ticks;
}

/// Multiples 1 to 9 of the powers of ten, with labels for some.
std::vector<Tick> digit_ticks(const Axis& axis, std::initializer_list<int> labelled) {
    std::vector<Tick> ticks;
    for (int e = static_cast<int>(std::floor(axis.min)); e <= axis.max; ++e) {
        for (int digit = 1; digit < 10; ++digit) {
            const double place = e + std::log10(digit);
            if (place < axis.min || place > axis.max) continue;
            const bool major = std::find(labelled.begin(), labelled.end(), digit) != labelled.end();
            ticks.push_back({place, major ? power_of_ten(place) : "", !major});
        }
    }
    return ticks;
}

void add_digits_between(std::vector<Tick>& ticks, const Axis& axis) {
    for (auto& tick : digit_ticks(axis, {}))
        if (std::abs(tick.place - std::round(tick.place)) > 1e-9) ticks.push_back(tick);
}

class Fit {
public:
    Fit(const Axis& axis, double length, double points, bool across, double overhang)
        : axis_(axis), length_(length), points_(points), across_(across), overhang_(overhang) {}

    double place(const Tick& tick) const {
        return (tick.place - axis_.min) / (axis_.max - axis_.min) * length_;
    }
    double half(const Tick& tick) const {
        return 0.5 * (across_ ? text_width(tick.label, points_) : mm(points_));
    }

    /// Drops labels that would extend beyond the axis.
    void clip(std::vector<Tick>& ticks) const {
        for (auto& tick : ticks) {
            if (tick.label.empty()) continue;
            const double at = place(tick), reach = half(tick);
            if (at - reach < -overhang_ || at + reach > length_ + overhang_) tick.label.clear();
        }
    }

    bool roomy(const std::vector<Tick>& ticks) const {
        const double apart = (across_ ? 0.7 : 0.5) * mm(points_);
        double end = -1e9;
        for (const auto& tick : ticks) {
            if (tick.label.empty()) continue;
            if (place(tick) - half(tick) < end + apart) return false;
            end = place(tick) + half(tick);
        }
        return true;
    }

private:
    const Axis& axis_;
    double length_, points_;
    bool across_;
    double overhang_;
};

std::size_t labels(const std::vector<Tick>& ticks) {
    return static_cast<std::size_t>(
        std::count_if(ticks.begin(), ticks.end(), [](const Tick& tick) { return !tick.label.empty(); }));
}

/// From many ticks to few.
std::vector<std::vector<Tick>> candidates(const Axis& axis, double most) {
    std::vector<std::vector<Tick>> all;
    const double span = axis.max - axis.min;
    const bool logarithmic = axis.scale == Scale::logarithmic;
    const auto add_numbers = [&](double low, double high) {
        for (double count = most; count >= 1; --count)
            all.push_back(number_ticks(low, high, round_step((high - low) / count), logarithmic));
    };
    if (axis.scale == Scale::whole) {
        for (double count = most; count >= 1; --count)
            all.push_back(number_ticks(axis.min, axis.max, std::max(1.0, round_step(span / count)), false));
    } else if (!logarithmic) {
        add_numbers(axis.min, axis.max);
    } else if (span > 2.5) {
        for (int unit = 1; unit <= span; unit *= 10)
            for (const int factor : {1, 2, 5}) all.push_back(power_ticks(axis, factor * unit));
        if (span < 8) add_digits_between(all.front(), axis);
        for (auto& ticks : all)
            std::stable_sort(ticks.begin(), ticks.end(),
                             [](const Tick& a, const Tick& b) { return a.place < b.place; });
    } else if (span > 0.8) {
        all.push_back(digit_ticks(axis, {1, 2, 5}));
        all.push_back(digit_ticks(axis, {1, 5}));
        all.push_back(digit_ticks(axis, {1}));
    } else {
        add_numbers(std::pow(10.0, axis.min), std::pow(10.0, axis.max));
    }
    return all;
}

/// Places the elements of the page layout from the top of the figure downwards; coordinates are flipped at
/// the end, when the height is known.
class Composer {
public:
    explicit Composer(const Figure& figure)
        : figure_(figure),
          size_(figure.font_size),
          columns_(std::max<std::size_t>(1, figure.columns > 0 ? figure.columns : figure.panels.size())) {
        out_.width = figure.width;
        out_.font_size = size_;
        out_.panels.resize(figure.panels.size());
    }

    Layout take() {
        add_title();
        add_legend();
        place_columns();
        add_column_headings();
        add_rows();
        add_caption();
        down_ += margin;
        out_.height = down_;
        turn_over();
        add_notes();
        return std::move(out_);
    }

private:
    static constexpr double margin = 1.2;
    static constexpr double tick_length = 0.9;
    static constexpr double shared_gap = 2.2;

    std::size_t rows() const { return (figure_.panels.size() + columns_ - 1) / columns_; }
    bool present(std::size_t row, std::size_t column) const {
        const std::size_t k = row * columns_ + column;
        return k < figure_.panels.size() && !figure_.panels[k].absent;
    }
    /// No panel is below it, or to its left.
    bool lowest(std::size_t row, std::size_t column) const {
        for (std::size_t r = row + 1; r < rows(); ++r)
            if (present(r, column)) return false;
        return true;
    }
    bool leftmost(std::size_t row, std::size_t column) const {
        for (std::size_t c = 0; c < column; ++c)
            if (present(row, c)) return false;
        return true;
    }
    bool has_x_labels(std::size_t row, std::size_t column) const {
        return !figure_.shared_axes || lowest(row, column);
    }
    bool has_y_labels(std::size_t row, std::size_t column) const {
        return !figure_.shared_axes || leftmost(row, column);
    }

    void add_line(const std::string& text, double size, const char* colour) {
        down_ += 0.5 * line_height(size);
        out_.words.push_back({0.5 * figure_.width, down_, text, Words::Align::centre, size, 0, colour});
        down_ += 0.5 * line_height(size);
    }

    void add_title() {
        down_ = margin;
        const double size = figure_.shared_axes ? size_ : 1.08 * size_;
        for (const auto& line : wrapped(figure_.title, size, figure_.width - 2 * margin))
            add_line(line, size, "#000000");
    }

    void add_legend() {
        std::vector<const Series*> entries;
        for (const auto& panel : figure_.panels) {
            for (const auto& series : panel.series) {
                if (series.label.empty()) continue;
                if (std::none_of(entries.begin(), entries.end(),
                                 [&](const Series* known) { return known->label == series.label; }))
                    entries.push_back(&series);
            }
        }
        const double em = mm(size_), sample = 2.6 * em, gap = 0.6 * em, between = 1.8 * em;
        const auto width = [&](const Series* s) { return sample + gap + text_width(s->label, size_); };
        down_ += 0.3 * em;
        for (std::size_t first = 0; first < entries.size();) {
            double total = width(entries[first]);
            std::size_t last = first + 1;
            while (last < entries.size() &&
                   total + between + width(entries[last]) <= figure_.width - 2 * margin)
                total += between + width(entries[last++]);
            double x = 0.5 * (figure_.width - total);
            down_ += 0.5 * line_height(size_);
            for (; first < last; ++first) {
                out_.samples.push_back(
                    {{x, down_ + 0.35 * em, x + sample, down_ - 0.35 * em}, entries[first]});
                out_.words.push_back(
                    {x + sample + gap, down_, entries[first]->label, Words::Align::left, size_});
                x += width(entries[first]) + between;
            }
            down_ += 0.5 * line_height(size_);
        }
        down_ += 0.6 * em;
    }

    std::vector<Tick> y_ticks(const Panel& panel) const {
        return axis_ticks(panel.y, figure_.panel_height, size_, false, 0.5 * mm(size_));
    }

    std::vector<Tick> right_ticks(const Panel& panel) const {
        if (panel.right.label.empty()) return {};
        return axis_ticks(panel.right, figure_.panel_height, size_, false, 0.5 * mm(size_));
    }

    /// Room for the second vertical axis to the right of the panels of a column.
    double right_room(std::size_t column) const {
        double widest = 0;
        for (std::size_t r = 0; r < rows(); ++r) {
            if (!present(r, column)) continue;
            for (const auto& tick : right_ticks(figure_.panels[r * columns_ + column]))
                widest = std::max(widest, text_width(tick.label, size_));
        }
        return widest > 0 ? widest + tick_length + 0.4 * mm(size_) + line_height(size_) : 0;
    }

    /// Room for tick labels to the left of the panels of a column.
    double tick_room(std::size_t column) const {
        double widest = 0;
        for (std::size_t r = 0; r < rows(); ++r) {
            if (!present(r, column) || !has_y_labels(r, column)) continue;
            for (const auto& tick : y_ticks(figure_.panels[r * columns_ + column]))
                widest = std::max(widest, text_width(tick.label, size_));
        }
        return widest > 0 ? widest + tick_length + 0.4 * mm(size_) : 0;
    }

    void place_columns() {
        const double axis_name = line_height(size_);
        double lines = 0;
        for (const auto& heading : figure_.row_headings)
            lines = std::max(lines, double(row_heading(heading).size()));
        const double right = lines > 0             ? lines * line_height(size_) + 0.3 * mm(size_)
                             : figure_.shared_axes ? margin
                                                   : 2.9 * margin;
        std::vector<double> rooms(columns_);
        double taken = margin + right;
        for (std::size_t c = 0; c < columns_; ++c) {
            rooms[c] = tick_room(c) + (c == 0 || !figure_.shared_axes ? axis_name : 0);
            if (c > 0) rooms[c] += figure_.shared_axes ? shared_gap : 3 * margin;
            taken += rooms[c] + right_room(c);
        }
        const double width = std::max(5.0, (figure_.width - taken) / double(columns_));
        double x = margin;
        for (std::size_t c = 0; c < columns_; ++c) {
            lefts_.push_back(x + rooms[c]);
            x += rooms[c] + width + right_room(c);
        }
        panel_width_ = width;
        right_ = x;
    }

    double note_size() const { return figure_.shared_axes ? 0.92 * size_ : size_; }
    bool headed(std::size_t row) const {
        const auto first = figure_.panels.begin() + static_cast<std::ptrdiff_t>(row * columns_);
        const auto last = figure_.panels.begin() +
                          static_cast<std::ptrdiff_t>(std::min((row + 1) * columns_, figure_.panels.size()));
        return std::any_of(first, last, [](const Panel& panel) { return !panel.heading.empty(); });
    }

    /// A heading may reach into the room above the row.
    std::vector<std::string> row_heading(const std::string& text) const {
        return wrapped(text, size_, figure_.panel_height + 0.3 * shared_gap, true);
    }

    void add_column_headings() {
        if (figure_.column_headings.empty()) return;
        down_ += 0.5 * line_height(size_);
        for (std::size_t c = 0; c < std::min(columns_, figure_.column_headings.size()); ++c)
            out_.words.push_back({lefts_[c] + 0.5 * panel_width_, down_, figure_.column_headings[c],
                                  Words::Align::centre, size_});
        down_ += 0.6 * line_height(size_);
    }

    void add_rows() {
        const double below_ticks = tick_length + line_height(size_), name = line_height(size_);
        const double top = down_;
        for (std::size_t r = 0; r < rows(); ++r) {
            if (r > 0) down_ += figure_.shared_axes ? 1.2 * shared_gap : 2 * margin;
            if (headed(r) && !figure_.shared_axes) down_ += 0.75 * line_height(note_size());
            bool labelled = false;
            const double row_top = down_, row_bottom = down_ + figure_.panel_height;
            for (std::size_t c = 0; c < columns_; ++c) {
                if (!present(r, c)) continue;
                add_panel(r, c, row_top, row_bottom);
                labelled = labelled || (has_x_labels(r, c) && (r + 1 == rows() || !figure_.shared_axes));
            }
            add_row_heading(r, row_top, row_bottom);
            down_ = row_bottom;
            if (labelled) down_ += below_ticks + (figure_.shared_axes ? 0 : name);
        }
        if (!figure_.shared_axes || figure_.panels.empty()) return;
        const auto any = std::find_if(figure_.panels.begin(), figure_.panels.end(),
                                      [](const Panel& panel) { return !panel.absent; });
        if (any == figure_.panels.end()) return;
        const double bottom = down_ - below_ticks;
        out_.words.push_back(
            {0.5 * (lefts_.front() + right_), down_ + 0.5 * name, any->x.label, Words::Align::centre, size_});
        out_.words.push_back(
            {margin + 0.5 * mm(size_), 0.5 * (top + bottom), any->y.label, Words::Align::centre, size_, 90});
        down_ += name;
    }

    void add_panel(std::size_t r, std::size_t c, double top, double bottom) {
        const std::size_t k = r * columns_ + c;
        const Panel& panel = figure_.panels[k];
        PlacedPanel& placed = out_.panels[k];
        placed.box = {lefts_[c], bottom, lefts_[c] + panel_width_, top};
        const double overhang = figure_.shared_axes ? 0.45 * shared_gap : 2.7 * margin;
        placed.x_ticks = axis_ticks(panel.x, panel_width_, size_, true, overhang);
        placed.y_ticks = y_ticks(panel);
        if (!has_x_labels(r, c))
            for (auto& tick : placed.x_ticks) tick.label.clear();
        if (!has_y_labels(r, c))
            for (auto& tick : placed.y_ticks) tick.label.clear();
        if (figure_.shared_axes) return;  // the heading is a note then
        if (!panel.heading.empty())
            out_.words.push_back({placed.box.right, top - 0.55 * line_height(note_size()), panel.heading,
                                  Words::Align::right, note_size(), 0, soft_black});
        placed.right_ticks = right_ticks(panel);
        if (!placed.right_ticks.empty())
            out_.words.push_back({placed.box.right + right_room(c) - 0.4 * line_height(size_),
                                  0.5 * (top + bottom), panel.right.label, Words::Align::centre, size_, 90});
        const double below = bottom + tick_length + line_height(size_);
        out_.words.push_back({0.5 * (placed.box.left + placed.box.right), below + 0.5 * line_height(size_),
                              panel.x.label, Words::Align::centre, size_});
        out_.words.push_back({lefts_[c] - tick_room(c) - 0.6 * line_height(size_), 0.5 * (top + bottom),
                              panel.y.label, Words::Align::centre, size_, 90});
    }

    void add_row_heading(std::size_t r, double top, double bottom) {
        if (r >= figure_.row_headings.size()) return;
        const auto lines = row_heading(figure_.row_headings[r]);
        for (std::size_t i = 0; i < lines.size(); ++i)
            out_.words.push_back({right_ + (double(i) + 0.65) * line_height(size_), 0.5 * (top + bottom),
                                  lines[i], Words::Align::centre, size_, 90});
    }

    void add_caption() {
        if (!figure_.caption.empty()) down_ += 0.4 * mm(size_);
        for (const auto& text : figure_.caption)
            for (const auto& line : wrapped(text, size_, figure_.width - 2 * margin))
                add_line(line, size_, soft_black);
    }

    void turn_over() {
        const auto turn = [&](double& y) { y = out_.height - y; };
        for (auto& words : out_.words) turn(words.y);
        for (auto& sample : out_.samples) turn(sample.box.bottom), turn(sample.box.top);
        for (std::size_t k = 0; k < out_.panels.size(); ++k) {
            if (figure_.panels[k].absent) continue;
            turn(out_.panels[k].box.bottom);
            turn(out_.panels[k].box.top);
        }
    }

    /// Adds the lines of one note to a panel, the first at its place: inside the panel, and below the earlier
    /// notes that are in the way, or above them where no room is left below.
    void add_note(PlacedPanel& placed, Words note, double room) const {
        const Box& box = placed.box;
        const double line = 1.15 * mm(note.size), half = 0.5 * mm(note.size);
        const auto lines = wrapped(note.text, note.size, 0.96 * room * box.width());
        double width = 0;
        for (const auto& text : lines) width = std::max(width, text_width(text, note.size));
        note.text = lines.empty() ? "" : lines.front();
        const double begin = note.align == Words::Align::left     ? 0
                             : note.align == Words::Align::centre ? 0.5 * width
                                                                  : width;
        constexpr double apart = 0.4;  // from the axes
        const double least = box.left + apart + begin, most = box.right - apart - (width - begin);
        if (least <= most) note.x = std::clamp(note.x, least, most);
        const double lowest = box.bottom + half + line * (double(lines.size()) - 1), highest = box.top - half;
        const auto taken = [&](double y) {
            const Box area{note.x - begin, y - half - line * (double(lines.size()) - 1), note.x - begin + width,
                           y + half};
            return std::any_of(placed.notes.begin(), placed.notes.end(), [&](const Words& other) {
                const Box there = extent(other);
                return area.left < there.right && there.left < area.right && area.bottom < there.top &&
                       there.bottom < area.top;
            });
        };
        if (lowest <= highest) note.y = std::clamp(note.y, lowest, highest);
        double y = note.y;
        while (taken(y) && y - line >= lowest) y -= line;
        if (taken(y)) y = note.y;
        while (taken(y) && y + line <= highest) y += line;
        for (const auto& text : lines) {
            note.text = text;
            note.y = y;
            placed.notes.push_back(note);
            y -= line;
        }
    }

    void add_notes() {
        for (std::size_t k = 0; k < out_.panels.size(); ++k) {
            const Panel& panel = figure_.panels[k];
            if (panel.absent) continue;
            PlacedPanel& placed = out_.panels[k];
            const Box& box = placed.box;
            if (figure_.shared_axes && !panel.heading.empty())
                add_note(placed,
                         {box.right, box.top, panel.heading, Words::Align::right, note_size(), 0, soft_black}, 1);
            for (const auto& note : panel.annotations)
                add_note(placed,
                         {std::lerp(box.left, box.right, (note.x - panel.x.min) / (panel.x.max - panel.x.min)),
                          std::lerp(box.bottom, box.top, (note.y - panel.y.min) / (panel.y.max - panel.y.min)),
                          note.text,
                          note.centred       ? Words::Align::centre
                          : note.to_the_left ? Words::Align::right
                                             : Words::Align::left,
                          note_size(), 0, soft_black},
                         note.room);
        }
    }

    const Figure& figure_;
    double size_;
    std::size_t columns_;
    Layout out_;
    double down_ = 0;  ///< from the top of the figure
    std::vector<double> lefts_;
    double panel_width_ = 0, right_ = 0;
};

}  // namespace

double text_width(const std::string& text, double points) {
    double thousandths = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if ((text[k] & 0xC0) == 0x80) continue;  // belongs to a character counted at its first byte
        const std::string_view rest = std::string_view(text).substr(k);
        const bool raised = rest.starts_with("²") || rest.starts_with("³") || rest.starts_with("¹") ||
                            rest.starts_with("⁻") || (rest.starts_with("\xe2\x81") && !rest.starts_with("⁻"));
        thousandths += (text[k] & 0x80) == 0   ? advance(text[k])
                       : raised                ? 420
                       : rest.starts_with("−") ? 838
                                               : 640;
    }
    return mm(points) * thousandths / 1000;
}

Box extent(const Words& words) {
    const double length = text_width(words.text, words.size), half = 0.5 * mm(words.size);
    const double begin = words.align == Words::Align::left     ? 0
                         : words.align == Words::Align::centre ? -0.5 * length
                                                               : -length;
    if (words.angle == 0) return {words.x + begin, words.y - half, words.x + begin + length, words.y + half};
    return {words.x - half, words.y + begin, words.x + half, words.y + begin + length};
}

std::vector<Tick> axis_ticks(const Axis& axis, double length, double points, bool across, double overhang) {
    constexpr double most = 8;
    const Fit fit(axis, length, points, across, overhang);
    std::vector<Tick> best;
    for (auto& ticks : candidates(axis, most)) {
        fit.clip(ticks);
        if (fit.roomy(ticks) && (best.empty() || labels(ticks) > labels(best))) best = std::move(ticks);
    }
    return best;
}

Layout lay_out(const Figure& figure) {
    return Composer(figure).take();
}

}  // namespace spectra::plot
