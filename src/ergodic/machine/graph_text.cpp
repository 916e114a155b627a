#include "ergodic/machine/graph_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

std::string units_text(const GraphSize& size) {
  if (size.hidden == 0) return fmt::format("{} visible units", size.visible);
  return fmt::format("{} visible and {} hidden units", size.visible, size.hidden);
}

Graph lattice(const std::string& text, std::string_view sides, Border border, const GraphSize& size) {
  const std::size_t cross = std::min(sides.find('x'), sides.size());
  const auto height = number_in<std::size_t>(sides.substr(0, cross));
  const auto width = number_in<std::size_t>(sides.substr(std::min(cross + 1, sides.size())));
  require(height && width && *height >= 1 && *width >= 1 && *height <= Graph::kMaxUnits / *width,
          fmt::format("graph '{}': expected two sides, such as 28x28, found '{}'", text, sides));
  const std::size_t count = *height * *width;
  require(count == size.all(), fmt::format("graph '{}' has {} x {} = {} units, but there are {}; take other sides, or "
                                           "others for the data",
                                           text, *height, *width, count, units_text(size)));
  return grid_graph(*height, *width, border);
}

/// The edges of a file, with their lines for messages.
class EdgeFile {
 public:
  EdgeFile(const std::string& path, const GraphSize& size) : path_(path), size_(size) {
    const std::vector<std::byte> bytes = read_file(path);
    std::string_view rest = as_text(bytes);
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      add_line(rest.substr(0, end), line);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  Graph graph() {
    std::sort(edges_.begin(), edges_.end());
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t k = 0; k < edges_.size(); ++k) {
      const auto& [low, high, line] = edges_[k];
      if (k > 0 && edges_[k - 1].low == low && edges_[k - 1].high == high) {
        fail(line, fmt::format("expected each edge once, found units {} and {} again, after line {}", low, high,
                               edges_[k - 1].line));
      }
      pairs.emplace_back(low, high);
    }
    return graph_from_edges(size_.all(), pairs);
  }

 private:
  struct Edge {
    std::size_t low, high, line;
    auto operator<=>(const Edge&) const = default;
  };

  void add_line(std::string_view text, std::size_t line) {
    constexpr std::string_view kSeparators = " \t,;\r";
    std::vector<std::string_view> fields;
    while (true) {
      const std::size_t begin = text.find_first_not_of(kSeparators);
      if (begin == std::string_view::npos) break;
      text.remove_prefix(begin);
      const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
      fields.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    if (fields.empty() || fields[0].front() == '#') return;
    if (fields.size() != 2) fail(line, fmt::format("expected two units, found {} fields", fields.size()));
    const auto unit = [&](std::string_view field) {
      const auto value = number_in<std::size_t>(field);
      if (!value) fail(line, fmt::format("expected a unit as a whole number from 0 up, found {}", excerpt(field)));
      if (*value >= size_.all()) {
        fail(line,
             fmt::format("expected units from 0 to {} ({}), found {}", size_.all() - 1, units_text(size_), *value));
      }
      return *value;
    };
    const std::size_t a = unit(fields[0]), b = unit(fields[1]);
    if (a == b) fail(line, fmt::format("expected two different units, found unit {} with itself", a));
    edges_.push_back({std::min(a, b), std::max(a, b), line});
  }

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw DataError(fmt::format("{}: line {}: {}", path_, line, problem));
  }

  std::string path_;
  GraphSize size_;
  std::vector<Edge> edges_;
};

}  // namespace

Graph graph_from_text(const std::string& text, const GraphSize& size, Key key) {
  if (text == "dense") return dense_graph(size.all());
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view word = std::string_view(text).substr(0, colon);
  const std::string_view rest = std::string_view(text).substr(std::min(colon + 1, text.size()));
  if (word == "grid") return lattice(text, rest, Border::kOpen, size);
  if (word == "torus") return lattice(text, rest, Border::kPeriodic, size);
  if (word == "random") {
    const auto degree = number_in<double>(rest);
    require(degree.has_value(), fmt::format("graph '{}': expected a mean number of neighbours, such as random:6, found "
                                            "'{}'",
                                            text, rest));
    return random_graph(size.all(), *degree, key);
  }
  std::error_code unreadable;
  require(std::filesystem::exists(text, unreadable),
          fmt::format("expected a graph: {}; found '{}', which is no file either", kGraphForms, text));
  return EdgeFile(text, size).graph();
}

}  // namespace ergodic
