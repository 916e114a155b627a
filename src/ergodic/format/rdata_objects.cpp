#include "ergodic/format/rdata_objects.hpp"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/inflate.hpp"
#include "ergodic/format/utf8.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kDeepest = 16;                       // a data frame of factors with attributes needs 4
constexpr std::size_t kMostObjects = 4 * kMostCsvColumns;  // a column, and its attributes
constexpr double kNa = std::numeric_limits<double>::quiet_NaN();

/// Beside the type in the word that stands before each object.
constexpr std::uint32_t kHasAttributes = 0x200, kHasTag = 0x400;

RType type_in(std::uint32_t flags) { return static_cast<RType>(flags & 0xff); }

class Parser {
 public:
  Parser(std::span<const std::byte> file, const std::string& where) : file_(file, where), where_(where) {}

  RFile parse() {
    const bool named = read_head();
    if (named) {
      const std::uint32_t flags = word("the list of objects");
      if (type_in(flags) != RType::kPairs) fail("expected the list of objects that save() writes");
      out_.objects = pairs(flags, 0);
    } else {
      out_.objects.emplace_back("", object(0));
    }
    file_.finish("the objects");
    return std::move(out_);
  }

 private:
  /// "RDX2" or "RDX3" of save(), then the format and versions. Whether objects have names.
  bool read_head() {
    std::string format = text_of(2, "the format of R");
    const bool named = format == "RD";
    if (named) {
      const std::string version = text_of(3, "the format of R");
      if (version != "X2\n" && version != "X3\n") {
        fail(fmt::format("expected RDX2 or RDX3, found {}; save the data with R's save()", excerpt(format + version)));
      }
      format = text_of(2, "the format of R");
    }
    if (format != "X\n") fail(fmt::format("expected XDR, written X, found {}; save without ascii", excerpt(format)));
    const std::uint32_t version = word("the version");
    if (version != 2 && version != 3) fail(fmt::format("expected version 2 or 3, found {}", version));
    word("the version of R that wrote");
    word("the version of R that can read");
    if (version == 3) text_of(word("the length of an encoding's name"), "the name of an encoding");
    return named;
  }

  std::uint32_t word(std::string_view what) {
    const auto bytes = file_.take(4, what);
    return ByteReader(bytes, where_).integer<std::uint32_t>(ByteOrder::kBig, what);
  }

  std::string text_of(std::size_t length, std::string_view what) {
    const auto bytes = file_.take(length, what);
    return std::string(as_text(bytes));
  }

  /// How many elements follow. Vectors of 2^31 and more have another mark here, and are no table of ours.
  std::size_t length(std::string_view what) {
    const auto count = static_cast<std::int32_t>(word("a length"));
    if (count < 0) fail(fmt::format("expected the number of {}, found {}", what, count));
    return static_cast<std::size_t>(count);
  }

  RObject object(std::size_t depth) { return object_after(word("an object"), depth); }

  RObject object_after(std::uint32_t flags, std::size_t depth) {
    if (depth > kDeepest) fail(fmt::format("lists in lists, more than {} deep; is this a table?", kDeepest));
    if (++objects_ > kMostObjects) fail(fmt::format("more than {} objects; is this a table?", kMostObjects));
    RObject out{type_in(flags)};
    switch (out.type) {
      case RType::kNull:
        return out;
      case RType::kSymbol:
      case RType::kReference:
        symbol_after(flags);  // a value that is a name says nothing to us
        return out;
      case RType::kPairs:
        out.pairs = pairs(flags, depth);
        return out;  // which has read the attributes
      case RType::kText:
        text();
        break;
      case RType::kLogical:
      case RType::kInteger:
        out.numbers = integers();
        break;
      case RType::kReal:
        out.numbers = reals();
        break;
      case RType::kStrings:
        out.texts = strings();
        break;
      case RType::kList:
        for (std::size_t left = length("members"); left > 0; --left) out.members.push_back(object(depth + 1));
        break;
      default:
        refuse(flags & 0xff);
    }
    if (flags & kHasAttributes) out.attributes = attributes(depth);
    return out;
  }

  RObject::Pairs attributes(std::size_t depth) {
    const std::uint32_t flags = word("attributes");
    if (type_in(flags) == RType::kNull) return {};
    if (type_in(flags) != RType::kPairs) fail("expected a list of attributes; the file is damaged");
    return pairs(flags, depth);
  }

  /// Names and values, one after the other, up to the mark of the end.
  RObject::Pairs pairs(std::uint32_t flags, std::size_t depth) {
    RObject::Pairs out;
    while (type_in(flags) == RType::kPairs) {
      if (flags & kHasAttributes) object(depth + 1);
      std::string name = flags & kHasTag ? symbol_after(word("a name")) : "";
      out.emplace_back(std::move(name), object(depth + 1));
      flags = word("the rest of a list");
    }
    if (type_in(flags) != RType::kNull) fail("expected the end of a list of pairs; the file is damaged");
    return out;
  }

  /// A symbol is written out once; later ones refer to it by its place.
  std::string symbol_after(std::uint32_t flags) {
    if (type_in(flags) == RType::kSymbol) {
      if (type_in(word("a name")) != RType::kText) fail("expected a name; the file is damaged");
      const std::uint32_t place = text();
      symbols_.push_back(place == kNaText ? "NA" : out_.texts[place]);
      return symbols_.back();
    }
    if (type_in(flags) != RType::kReference) fail("expected a name; the file is damaged");
    const std::size_t place = flags >> 8 ? flags >> 8 : word("a reference");
    if (place == 0 || place > symbols_.size()) {
      fail(fmt::format("expected a reference to one of {} names, found {}", symbols_.size(), place));
    }
    return symbols_[place - 1];
  }

  /// The place of a text among those of the file.
  std::uint32_t text() {
    const std::uint32_t count = word("the length of a text");
    if (count == kNaText) return kNaText;  // -1
    std::string found = utf8_from(text_of(count, "a text"));
    const auto [at, fresh] = places_.try_emplace(found, static_cast<std::uint32_t>(out_.texts.size()));
    if (fresh) out_.texts.push_back(std::move(found));
    return at->second;
  }

  std::vector<std::uint32_t> strings() {
    std::vector<std::uint32_t> out;
    for (std::size_t left = length("strings"); left > 0; --left) {
      const std::uint32_t flags = word("a text");
      if (type_in(flags) != RType::kText) fail("expected a text; the file is damaged");
      out.push_back(text());
      if (flags & kHasAttributes) attributes(0);
    }
    return out;
  }

  std::vector<double> integers() {
    constexpr auto kNaInteger = std::uint32_t{1} << 31;
    const std::size_t count = length("integers");
    const auto bytes = file_.take(4 * count, "integers");
    ByteReader reader(bytes, where_);
    std::vector<double> out(count);
    for (double& number : out) {
      const auto found = reader.integer<std::uint32_t>(ByteOrder::kBig, "integers");
      number = found == kNaInteger ? kNa : static_cast<double>(static_cast<std::int32_t>(found));
    }
    return out;
  }

  std::vector<double> reals() {
    const std::size_t count = length("numbers");
    const auto bytes = file_.take(8 * count, "numbers");
    ByteReader reader(bytes, where_);
    std::vector<double> out(count);
    for (double& number : out) {
      number = std::bit_cast<double>(reader.integer<std::uint64_t>(ByteOrder::kBig, "numbers"));
    }
    return out;
  }

  [[noreturn]] void refuse(std::uint32_t type) const {
    if (type == 238) fail("a vector that R has not written out; save the data with version = 2");
    fail(fmt::format(
        "an object that is no data (type {} of R): save a data frame of numbers, factors and strings alone", type));
  }

  [[noreturn]] void fail(std::string_view problem) const { fail_at(where_, file_.position(), problem); }

  MaybeGzip file_;
  const std::string& where_;
  RFile out_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::uint32_t> places_;  // of texts
  std::size_t objects_ = 0;
};

}  // namespace

const RObject* RObject::attribute(std::string_view name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

RFile parse_r_objects(std::span<const std::byte> file, const std::string& where) { return Parser(file, where).parse(); }

}  // namespace ergodic
