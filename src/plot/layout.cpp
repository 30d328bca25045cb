#include "plot/layout.hpp"

#include <algorithm>
#include <cmath>

namespace spectra::plot {
namespace {

constexpr const char* soft_black = "#333333";

/// Places the elements of the page layout from the top of the figure downwards; coordinates are flipped at
/// the end, when the height is known.
class Composer {
public:
    explicit Composer(const Figure& figure)
        : figure_(figure),
          size_(figure.font_size),
          columns_(std::max<std::size_t>(1, figure.columns > 0 ? figure.columns : figure.panels.size())),
          panel_height_(figure.panel_height) {
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
        const auto bar = [&](const Series* s) { return s->mark == Mark::cells; };
        const auto end = [&](const Series* s) { return number_label(s->scale.limit); };
        const auto length = [&](const Series* s) { return bar(s) ? 9 * em : sample; };
        const auto width = [&](const Series* s) {
            const double ends = bar(s) ? 2 * gap + text_width("−" + end(s) + end(s), size_) : 0;
            return length(s) + ends + gap + text_width(s->label, size_);
        };
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
                const Series* const entry = entries[first];
                double at = x;
                const auto write = [&](const std::string& text) {
                    out_.words.push_back({at, down_, text, Words::Align::left, size_});
                    at += text_width(text, size_) + gap;
                };
                if (bar(entry)) write("−" + end(entry));
                out_.samples.push_back(
                    {{at, down_ + 0.35 * em, at + length(entry), down_ - 0.35 * em}, entry});
                at += length(entry) + gap;
                if (bar(entry)) write(end(entry));
                write(entry->label);
                x += width(entry) + between;
            }
            down_ += 0.5 * line_height(size_);
        }
        down_ += 0.6 * em;
    }

    std::vector<Tick> y_ticks(const Panel& panel) const {
        if (figure_.matrices) return {};
        return axis_ticks(panel.y, panel_height_, size_, false, 0.5 * mm(size_));
    }

    std::vector<Tick> right_ticks(const Panel& panel) const {
        if (panel.right.label.empty()) return {};
        return axis_ticks(panel.right, panel_height_, size_, false, 0.5 * mm(size_));
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
            const bool named = (c == 0 || !figure_.shared_axes) && !figure_.matrices;
            rooms[c] = tick_room(c) + (named ? axis_name : 0);
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
        if (figure_.matrices) panel_height_ = width;
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
        return wrapped(text, size_, panel_height_ + 0.3 * shared_gap, true);
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
            const double row_top = down_, row_bottom = down_ + panel_height_;
            for (std::size_t c = 0; c < columns_; ++c) {
                if (!present(r, c)) continue;
                add_panel(r, c, row_top, row_bottom);
                labelled = labelled || (!figure_.matrices && has_x_labels(r, c) &&
                                        (r + 1 == rows() || !figure_.shared_axes));
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
        if (figure_.matrices) {
            if (!panel.heading.empty())
                out_.words.push_back({placed.box.left, top - 0.55 * line_height(note_size()), panel.heading,
                                      Words::Align::left, note_size(), 0, soft_black});
            return;
        }
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

    /// Letters that fit all cells of the figure; 0: none that can be read.
    double cell_size() const {
        constexpr double smallest = 4;  // points, as printed
        double size = note_size();
        for (std::size_t k = 0; k < out_.panels.size(); ++k) {
            const Panel& panel = figure_.panels[k];
            const double room = 0.9 * out_.panels[k].box.width() / std::abs(panel.x.max - panel.x.min);
            for (const auto& series : panel.series)
                for (const auto& text : series.texts) size = std::min(size, room / text_width(text, 1));
        }
        return size < smallest ? 0 : size;
    }

    /// What is written in the cells of a matrix.
    void add_cells(PlacedPanel& placed, const Panel& panel, double size) const {
        if (size <= 0) return;
        for (const auto& series : panel.series)
            for (std::size_t k = 0; k < series.texts.size(); ++k) {
                const bool dark =
                    std::isfinite(series.value[k]) && is_dark(colour_of(series.scale, series.value[k]));
                const auto [x, y] = place(placed.box, panel, series.x[k], series.y[k]);
                placed.notes.push_back(
                    {x, y, series.texts[k], Words::Align::centre, size, 0, dark ? "#ffffff" : "#000000"});
            }
    }

    struct Place {
        double x, y;
    };

    /// Of the panel's coordinates, in mm.
    static Place place(const Box& box, const Panel& panel, double x, double y) {
        return {std::lerp(box.left, box.right, (x - panel.x.min) / (panel.x.max - panel.x.min)),
                std::lerp(box.bottom, box.top, (y - panel.y.min) / (panel.y.max - panel.y.min))};
    }

    void add_notes() {
        const double cells = cell_size();
        for (std::size_t k = 0; k < out_.panels.size(); ++k) {
            const Panel& panel = figure_.panels[k];
            if (panel.absent) continue;
            PlacedPanel& placed = out_.panels[k];
            const Box& box = placed.box;
            if (figure_.shared_axes && !panel.heading.empty())
                add_note(placed,
                         {box.right, box.top, panel.heading, Words::Align::right, note_size(), 0, soft_black}, 1);
            add_cells(placed, panel, cells);
            for (const auto& note : panel.annotations) {
                const auto [x, y] = place(box, panel, note.x, note.y);
                const auto align = note.centred       ? Words::Align::centre
                                   : note.to_the_left ? Words::Align::right
                                                      : Words::Align::left;
                add_note(placed, {x, y, note.text, align, note_size(), 0, soft_black}, note.room);
            }
        }
    }

    const Figure& figure_;
    double size_;
    std::size_t columns_;
    double panel_height_;
    Layout out_;
    double down_ = 0;  ///< from the top of the figure
    std::vector<double> lefts_;
    double panel_width_ = 0, right_ = 0;
};

}  // namespace

Box extent(const Words& words) {
    const double length = text_width(words.text, words.size), half = 0.5 * mm(words.size);
    const double begin = words.align == Words::Align::left     ? 0
                         : words.align == Words::Align::centre ? -0.5 * length
                                                               : -length;
    if (words.angle == 0) return {words.x + begin, words.y - half, words.x + begin + length, words.y + half};
    return {words.x - half, words.y + begin, words.x + half, words.y + begin + length};
}

Layout lay_out(const Figure& figure) {
    return Composer(figure).take();
}

}  // namespace spectra::plot
