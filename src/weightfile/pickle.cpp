#include "weightfile/pickle.hpp"

#include "weightfile/torch_names.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace spectra::weightfile {
namespace {

// Limits for hostile files, far above the needs of weight files (a tensor takes about fifteen objects).
constexpr std::size_t longest_pickle = std::size_t{1} << 28;
constexpr std::size_t most_objects = std::size_t{1} << 23;
constexpr std::size_t most_pushes = std::size_t{1} << 25;
constexpr ObjectId no_object = ~ObjectId{0};

/// Opcodes of protocols 2 to 5, without the older textual ones.
enum Opcode : unsigned char {
    op_mark = '(',
    op_stop = '.',
    op_pop = '0',
    op_pop_mark = '1',
    op_dup = '2',
    op_binfloat = 'G',
    op_binint = 'J',
    op_binint1 = 'K',
    op_binint2 = 'M',
    op_none = 'N',
    op_binpersid = 'Q',
    op_reduce = 'R',
    op_binunicode = 'X',
    op_append = 'a',
    op_build = 'b',
    op_global = 'c',
    op_appends = 'e',
    op_binget = 'h',
    op_long_binget = 'j',
    op_binput = 'q',
    op_long_binput = 'r',
    op_setitem = 's',
    op_tuple = 't',
    op_setitems = 'u',
    op_empty_dict = '}',
    op_empty_list = ']',
    op_empty_tuple = ')',
    op_binbytes = 'B',
    op_short_binbytes = 'C',
    op_proto = 0x80,
    op_newobj = 0x81,
    op_tuple1 = 0x85,
    op_tuple2 = 0x86,
    op_tuple3 = 0x87,
    op_newtrue = 0x88,
    op_newfalse = 0x89,
    op_long1 = 0x8A,
    op_long4 = 0x8B,
    op_short_binunicode = 0x8C,
    op_binunicode8 = 0x8D,
    op_binbytes8 = 0x8E,
    op_empty_set = 0x8F,
    op_additems = 0x90,
    op_frozenset = 0x91,
    op_stack_global = 0x93,
    op_memoize = 0x94,
    op_frame = 0x95,
};

/// Two's complement, little-endian, of any length.
Object integer_from(Bytes bytes) {
    if (bytes.empty()) return std::int64_t{0};
    const bool negative = std::to_integer<int>(bytes.back()) >= 0x80;
    const std::byte sign = negative ? std::byte{0xFF} : std::byte{0};
    while (bytes.size() > 8 && bytes.back() == sign && (bytes[bytes.size() - 2] >> 7) == (sign >> 7))
        bytes = bytes.first(bytes.size() - 1);
    if (bytes.size() <= 8) {
        std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
        for (std::size_t k = bytes.size(); k-- > 0;)
            value = (value << 8) | std::to_integer<std::uint64_t>(bytes[k]);
        return static_cast<std::int64_t>(value);
    }
    double value = negative ? -1 : 0;
    for (std::size_t k = bytes.size(); k-- > 0;) value = 256 * value + std::to_integer<int>(bytes[k]);
    return value;
}

class Machine {
public:
    Machine(Bytes pickle, const std::string& where) : pickle_(pickle), where_(where) {}

    Unpickled run() {
        if (pickle_.size() > longest_pickle)
            refuse(where_, fmt::format("has {} bytes; must be at most {}", pickle_.size(), longest_pickle));
        if (pickle_.size() < 2 || byte() != op_proto || byte() < 2 || version() > 5)
            refuse(where_, "is not a pickle of protocol 2 to 5");
        constants();
        for (;;) {
            start_ = at_;
            const unsigned char opcode = byte();
            if (opcode == op_stop) break;
            step(opcode);
        }
        made_.objects.root = pop();
        if (at_ != pickle_.size()) fail("the pickle ends before the end of the file");
        return std::move(made_);
    }

private:
    // ---- bytes
    // -----------------------------------------------------------------------------------------------

    [[noreturn]] void fail(const std::string& what) const { refuse(here(), what); }
    std::string here() const { return fmt::format("{}, byte {}", where_, start_); }
    unsigned char version() const { return std::to_integer<unsigned char>(pickle_[1]); }

    Bytes take(std::uint64_t count) {
        if (count > pickle_.size() - at_)
            fail(fmt::format("{} bytes are declared, but {} are left", count, pickle_.size() - at_));
        const Bytes taken = pickle_.subspan(at_, count);
        at_ += count;
        return taken;
    }
    unsigned char byte() { return std::to_integer<unsigned char>(take(1).front()); }
    template <class T>
    T number() {
        return little_endian<T>(take(sizeof(T)), 0);
    }
    template <class Length>
    Bytes counted() {
        return take(number<Length>());
    }
    std::string line() {
        const auto rest = as_text(pickle_.subspan(at_));
        const auto length = rest.find('\n');
        if (length == rest.npos) fail("unterminated name");
        at_ += length + 1;
        return std::string(rest.substr(0, length));
    }

    // ---- stack, marks and memo
    // -------------------------------------------------------------------------------

    ObjectId add(Object object) {
        if (made_.objects.all.size() == most_objects) fail(fmt::format("more than {} objects", most_objects));
        made_.objects.all.push_back(std::move(object));
        return static_cast<ObjectId>(made_.objects.all.size() - 1);
    }
    void push(ObjectId id) {
        if (++pushes_ > most_pushes) fail(fmt::format("more than {} steps", most_pushes));
        stack_.push_back(id);
    }
    void push_new(Object object) { push(add(std::move(object))); }

    void need(std::size_t count) const {
        const std::size_t floor = marks_.empty() ? 0 : marks_.back();
        if (stack_.size() - floor < count) fail("the stack is empty");
    }
    ObjectId pop() {
        need(1);
        const ObjectId id = stack_.back();
        stack_.pop_back();
        return id;
    }
    ObjectId top() const {
        need(1);
        return stack_.back();
    }
    std::vector<ObjectId> pop_last(std::size_t count) {
        need(count);
        const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
        std::vector<ObjectId> items(first, stack_.end());
        stack_.erase(first, stack_.end());
        return items;
    }
    std::vector<ObjectId> pop_to_mark() {
        if (marks_.empty()) fail("no mark is set");
        auto items = pop_last(stack_.size() - marks_.back());
        marks_.pop_back();
        return items;
    }
    /// Picklers number from 0, so place k comes after more than k bytes.
    void put(std::size_t place) {
        if (place > start_) fail(fmt::format("memo {} is out of order", place));
        if (place >= memo_.size()) memo_.resize(place + 1, no_object);
        if (memo_[place] == no_object) ++memoized_;
        memo_[place] = top();
    }
    void get(std::size_t place) {
        if (place >= memo_.size() || memo_[place] == no_object)
            fail(fmt::format("memo {} does not exist", place));
        push(memo_[place]);
    }
    template <class T>
    T& top_as(const char* what) {
        auto* const value = std::get_if<T>(&made_.objects.all[top()]);
        if (value == nullptr)
            fail(fmt::format("{} an object of kind {}", what, name(Value(made_.objects, top()).kind())));
        return *value;
    }

    /// Objects without contents, made once.
    void constants() {
        none_ = add(None{});
        true_ = add(true);
        false_ = add(false);
        empty_ = add(Sequence{Sequence::Kind::tuple, {}});
    }

    // ---- opcodes
    // ---------------------------------------------------------------------------------------------

    void push_text(Bytes bytes) { push_new(std::string(as_text(bytes))); }
    void push_bytes(Bytes bytes) { push_new(ByteText{std::string(as_text(bytes))}); }
    void push_sequence(Sequence::Kind kind, std::vector<ObjectId> items) {
        push_new(Sequence{kind, std::move(items)});
    }
    void push_integer(std::int64_t value) { push_new(value); }

    void append(const std::vector<ObjectId>& items) {
        auto& list = top_as<Sequence>("appends to");
        if (list.kind == Sequence::Kind::tuple) fail("appends to a tuple");
        list.items.insert(list.items.end(), items.begin(), items.end());
    }
    void set_items(const std::vector<ObjectId>& items) {
        if (items.size() % 2 != 0) fail("key without a value");
        auto& dict = top_as<Dict>("sets items of").items;
        for (std::size_t k = 0; k < items.size(); k += 2) dict.emplace_back(items[k], items[k + 1]);
    }
    void push_name(const std::string& module, const std::string& name) {
        auto known = known_name(module, name);
        if (!known)
            refuse(
                where_,
                fmt::format("uses {}; only tensors and plain data are supported (save only the state dict)",
                            in_quotes(module + "." + name)));
        push_new(std::move(*known));
    }
    void push_stacked_name() {
        const auto words = pop_last(2);
        const auto* module = std::get_if<std::string>(&made_.objects.all[words[0]]);
        const auto* name = std::get_if<std::string>(&made_.objects.all[words[1]]);
        if (module == nullptr || name == nullptr) fail("a name is not a string");
        push_name(*module, *name);
    }
    void reduce() {
        const auto words = pop_last(2);
        const auto* function = std::get_if<Function>(&made_.objects.all[words[0]]);
        if (function == nullptr)
            fail(fmt::format("calls an object of kind {}", name(Value(made_.objects, words[0]).kind())));
        if (made_.objects.all.size() == most_objects) fail(fmt::format("more than {} objects", most_objects));
        push(call(made_, *function, words[1], here()));
    }
    /// The attributes of an OrderedDict (a state dict has _metadata) are ignored.
    void build() {
        pop();
        top_as<Dict>("sets attributes of");
    }
    void frame() {
        const auto length = number<std::uint64_t>();
        if (length > pickle_.size() - at_)
            fail(fmt::format("a frame of {} bytes, but {} are left", length, pickle_.size() - at_));
    }

    void step(unsigned char opcode) {
        using Kind = Sequence::Kind;
        switch (opcode) {
            case op_none:
                push(none_);
                break;
            case op_newtrue:
                push(true_);
                break;
            case op_newfalse:
                push(false_);
                break;
            case op_binint:
                push_integer(static_cast<std::int32_t>(number<std::uint32_t>()));
                break;
            case op_binint1:
                push_integer(byte());
                break;
            case op_binint2:
                push_integer(number<std::uint16_t>());
                break;
            case op_long1:
                push_new(integer_from(counted<std::uint8_t>()));
                break;
            case op_long4:
                push_new(integer_from(counted<std::uint32_t>()));
                break;
            case op_binfloat:
                push_new(std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>())));
                break;
            case op_short_binunicode:
                push_text(counted<std::uint8_t>());
                break;
            case op_binunicode:
                push_text(counted<std::uint32_t>());
                break;
            case op_binunicode8:
                push_text(counted<std::uint64_t>());
                break;
            case op_short_binbytes:
                push_bytes(counted<std::uint8_t>());
                break;
            case op_binbytes:
                push_bytes(counted<std::uint32_t>());
                break;
            case op_binbytes8:
                push_bytes(counted<std::uint64_t>());
                break;

            case op_empty_dict:
                push_new(Dict{});
                break;
            case op_empty_list:
                push_sequence(Kind::list, {});
                break;
            case op_empty_set:
                push_sequence(Kind::set, {});
                break;
            case op_empty_tuple:
                push(empty_);
                break;
            case op_tuple1:
                push_sequence(Kind::tuple, pop_last(1));
                break;
            case op_tuple2:
                push_sequence(Kind::tuple, pop_last(2));
                break;
            case op_tuple3:
                push_sequence(Kind::tuple, pop_last(3));
                break;
            case op_tuple:
                push_sequence(Kind::tuple, pop_to_mark());
                break;
            case op_frozenset:
                push_sequence(Kind::set, pop_to_mark());
                break;
            case op_append:
                append(pop_last(1));
                break;
            case op_appends:
            case op_additems:
                append(pop_to_mark());
                break;
            case op_setitem:
                set_items(pop_last(2));
                break;
            case op_setitems:
                set_items(pop_to_mark());
                break;

            case op_mark:
                push_mark();
                break;
            case op_pop:
                pop_or_unmark();
                break;
            case op_pop_mark:
                pop_to_mark();
                break;
            case op_dup:
                push(top());
                break;
            case op_binput:
                put(byte());
                break;
            case op_long_binput:
                put(number<std::uint32_t>());
                break;
            case op_memoize:
                put(memoized_);
                break;
            case op_binget:
                get(byte());
                break;
            case op_long_binget:
                get(number<std::uint32_t>());
                break;

            case op_global: {
                const std::string module = line();
                push_name(module, line());
                break;
            }
            case op_stack_global:
                push_stacked_name();
                break;
            case op_reduce:
            case op_newobj:
                reduce();
                break;
            case op_build:
                build();
                break;
            case op_binpersid: {
                const ObjectId id = pop();
                push_new(storage_of(made_, id, here()));
                break;
            }
            case op_proto:
                byte();
                break;
            case op_frame:
                frame();
                break;
            default:
                fail(fmt::format("unsupported pickle opcode 0x{:02x}", opcode));
        }
    }

    void push_mark() {
        if (++pushes_ > most_pushes) fail(fmt::format("more than {} steps", most_pushes));
        marks_.push_back(stack_.size());
    }
    void pop_or_unmark() {
        if (!marks_.empty() && marks_.back() == stack_.size()) {
            marks_.pop_back();
        } else {
            pop();
        }
    }

    Bytes pickle_;
    const std::string& where_;
    std::size_t at_ = 0, start_ = 0;
    std::size_t pushes_ = 0;
    std::vector<ObjectId> stack_;
    std::vector<std::size_t> marks_;
    std::vector<ObjectId> memo_;
    std::size_t memoized_ = 0;
    ObjectId none_ = 0, true_ = 0, false_ = 0, empty_ = 0;
    Unpickled made_;
};

}  // namespace

Unpickled unpickle(Bytes pickle, const std::string& where) {
    return Machine(pickle, where).run();
}

}  // namespace spectra::weightfile
