#include "ergodic/data/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <optional>

#include "ergodic/core/stopped.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {
namespace {

/// What a character says about its column; the kinds seen in a column are or-ed together.
enum Kind : unsigned char { kOther = 0, kUpper = 1, kLower = 2, kDash = 4, kDot = 8, kMissing = 16 };

Kind kind_of(char c) {
  if (c >= 'A' && c <= 'Z') return kUpper;
  if (c >= 'a' && c <= 'z') return kLower;
  if (c == '-') return kDash;
  if (c == '?') return kMissing;
  return c == '.' ? kDot : kOther;
}

/// Positions of the sites in a sequence.
using Columns = std::vector<std::size_t>;

std::string row_text(std::span<const NamedSequence> sequences, std::size_t row) {
  return fmt::format("row {} ({})", row + 1, excerpt(sequences[row].name));
}

void check_characters(std::span<const NamedSequence> sequences, const std::string& name, Missing missing) {
  for (std::size_t r = 0; r < sequences.size(); ++r) {
    const std::string& letters = sequences[r].letters;
    for (std::size_t c = 0; c < letters.size(); ++c) {
      const Kind kind = kind_of(letters[c]);
      const bool refused = kind == kMissing && missing == Missing::kRefused;
      if (kind != kOther && !refused) continue;
      throw DataError(
          fmt::format("{}: {}, column {}: expected an amino acid's letter or a gap "
                      "(\"-\" or \".\"), found {}{}",
                      name, row_text(sequences, r), c + 1, excerpt(letters.substr(c, 1)),
                      refused ? "; if it stands for a missing value, say --missing" : ""));
    }
  }
}

/// The sites, if columns correspond: all sequences of one length, and no column of both upper and lower case.
std::optional<Columns> shared_sites(std::span<const NamedSequence> sequences) {
  std::vector<unsigned char> seen(sequences.front().letters.size());
  for (const NamedSequence& sequence : sequences) {
    if (sequence.letters.size() != seen.size()) return std::nullopt;
    for (std::size_t c = 0; c < seen.size(); ++c) seen[c] |= kind_of(sequence.letters[c]);
  }
  Columns sites;
  for (std::size_t c = 0; c < seen.size(); ++c) {
    const bool lower = seen[c] & kLower;
    if (lower && (seen[c] & kUpper)) return std::nullopt;
    if (!lower && seen[c] != kDot) sites.push_back(c);
  }
  return sites;
}

/// The sites of a sequence whose inserts are written without padding.
Columns own_sites(const std::string& letters) {
  Columns sites;
  for (std::size_t c = 0; c < letters.size(); ++c) {
    if (kind_of(letters[c]) & (kUpper | kDash | kMissing)) sites.push_back(c);
  }
  return sites;
}

/// The number of sites, which must be that of every row; known before anything of its size is allocated.
std::size_t site_count(std::span<const NamedSequence> sequences, const std::optional<Columns>& shared,
                       const std::string& name) {
  const std::size_t sites = shared ? shared->size() : own_sites(sequences.front().letters).size();
  for (std::size_t r = 1; !shared && r < sequences.size(); ++r) {
    const std::size_t found = own_sites(sequences[r].letters).size();
    if (found == sites) continue;
    throw DataError(fmt::format(
        "{}: {}: expected {} match columns (upper-case letters and \"-\") as in the first row, found {}; align the "
        "sequences first",
        name, row_text(sequences, r), sites, found));
  }
  if (sites == 0) {
    throw DataError(fmt::format(
        "{}: expected columns of upper-case letters, found none; lower-case letters are taken for inserts", name));
  }
  return sites;
}

std::size_t letter_of(char c) {
  const std::size_t letter = kProteinLetters.find(c);
  return letter < kProteinLetters.size() ? letter : kProteinLetters.find('-');
}

/// The letter of each site as a binary number, one bit plane after the other: sites differ if they do in any plane.
/// Five planes for 21 letters, where the data itself has 21 bits for each site. Another plane says which are known.
struct Planes {
  std::size_t count, words;  // planes, and words of each
  Bits bits, known;

  explicit Planes(const Dataset& data)
      : count(std::bit_width(data.letters - 1)),
        words(Bits::words_for(data.sites())),
        bits(data.rows(), count * words * Bits::kWordBits),
        known(data.rows(), data.sites()) {
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for (std::size_t s = 0; s < data.sites(); ++s) known.set(r, s, data.is_known(r, s * data.letters));
      for_each_set(data.bits().row(r), [&](std::size_t unit) {
        const std::size_t site = unit / data.letters, letter = unit % data.letters;
        for (std::size_t p = 0; p < count; ++p) {
          if (letter >> p & 1u) bits.set(r, p * words * Bits::kWordBits + site, true);
        }
      });
    }
  }

  struct Comparison {
    std::size_t compared = 0, differing = 0;  // sites that both rows know, and those of them that differ
  };

  Comparison compare(std::size_t row, std::size_t other) const {
    const auto a = bits.row(row), b = bits.row(other);
    const auto known_a = known.row(row), known_b = known.row(other);
    Comparison out;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t both = known_a[w] & known_b[w];
      std::uint64_t differ = 0;
      for (std::size_t p = 0; p < count; ++p) differ |= a[p * words + w] ^ b[p * words + w];
      out.compared += static_cast<std::size_t>(std::popcount(both));
      out.differing += static_cast<std::size_t>(std::popcount(differ & both));
    }
    return out;
  }
};

/// For each number of sites up to this one, the most that may differ in a share of at least `identity` equal ones. The
/// share is divided and not the bound multiplied: 55 / 100 is 0.55, but 0.55 * 100 is more than 55 in floating point.
std::vector<std::size_t> most_differing(std::size_t sites, double identity) {
  std::vector<std::size_t> out(sites + 1);
  std::size_t equal = 0;  // the fewest, which never become fewer with more sites
  for (std::size_t n = 1; n <= sites; ++n) {
    while (static_cast<double>(equal) / static_cast<double>(n) < identity) ++equal;
    out[n] = n - equal;
  }
  return out;
}

}  // namespace

Dataset dataset_of(std::span<const NamedSequence> sequences, const std::string& name, Missing missing) {
  assert(!sequences.empty());
  check_characters(sequences, name, missing);
  const std::optional<Columns> shared = shared_sites(sequences);
  const std::size_t letters = kProteinLetters.size();
  const std::size_t sites = site_count(sequences, shared, name);
  Dataset out{name, Bits(sequences.size(), sites * letters), {sites, letters}, {}, letters};
  out.alphabet = kProteinLetters;
  for (std::size_t r = 0; r < sequences.size(); ++r) {
    const std::string& text = sequences[r].letters;
    const Columns own = shared ? Columns{} : own_sites(text);
    const Columns& columns = shared ? *shared : own;
    for (std::size_t s = 0; s < columns.size(); ++s) {
      const char c = text[columns[s]];
      if (kind_of(c) == kMissing) out.set_missing(r, s);
      out.bits().set(r, s * letters + (kind_of(c) == kMissing ? 0 : letter_of(c)), true);
    }
  }
  return out;
}

std::vector<double> sequence_weights(const Dataset& data, double identity, const Context& context) {
  assert(data.letters > 0);
  require(identity > 0.0 && identity <= 1.0,
          fmt::format("expected a share of equal sites above 0 and up to 1, found {}", identity));
  constexpr std::size_t kPairs = std::size_t{1} << 24;  // between two looks at whether to stop: a fraction of a second
  const std::vector<std::size_t> most = most_differing(data.sites(), identity);
  const Planes planes(data);
  std::vector<std::atomic<std::uint32_t>> alike(data.rows());  // besides itself; counts do not depend on their order
  const auto compare_with_earlier = [&](std::size_t r) {
    for (std::size_t other = 0; other < r; ++other) {
      const auto [compared, differing] = planes.compare(r, other);
      if (compared == 0 || differing > most[compared]) continue;
      alike[r].fetch_add(1, std::memory_order_relaxed);
      alike[other].fetch_add(1, std::memory_order_relaxed);
    }
  };
  context.stage({"sequence weights", "sequences"});
  for (std::size_t begin = 0; begin < data.rows();) {
    if (context.stop_requested()) throw Stopped();
    const std::size_t end = std::min(data.rows(), begin + std::max<std::size_t>(1, kPairs / data.rows()));
    context.for_blocks(end - begin, 1, [&](std::size_t k, std::size_t) { compare_with_earlier(begin + k); });
    context.progress({begin = end, data.rows()});
  }
  std::vector<double> weights;
  weights.reserve(alike.size());
  for (const auto& count : alike) weights.push_back(1.0 / (1 + count.load()));
  return weights;
}

bool is_alignment(const CsvTable& table) {
  const auto is_character = [](const std::string& word) { return word.size() == 1; };
  bool words = false;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CsvColumn& column = table.columns[c];
    if (column.name != site_name(c) || !column.problem.empty()) return false;
    if (!std::ranges::all_of(column.words, is_character)) return false;
    words = words || !column.words.empty();
    for (std::size_t r = 0; column.words.empty() && r < table.rows; ++r) {
      if (!std::isnan(table.numbers[r * table.columns.size() + c])) return false;
    }
  }
  return words;
}

std::vector<NamedSequence> sequences_of(const CsvTable& table) {
  std::vector<NamedSequence> out(table.rows);
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const double word = table.numbers[r * table.columns.size() + c];
      out[r].letters += std::isnan(word) ? "?" : table.columns[c].words[static_cast<std::size_t>(word)];
    }
  }
  return out;
}

std::string site_name(std::size_t site) { return fmt::format("site {}", site + 1); }

}  // namespace ergodic
