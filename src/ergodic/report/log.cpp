#include "ergodic/report/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  Record record;
  double seconds = 0.0;
};

[[noreturn]] void reject(const std::filesystem::path& path, std::size_t line, const std::string& why) {
  throw DataError(fmt::format("{}, line {}: {}", path.string(), line, why));
}

[[noreturn]] void cannot(const char* verb, const std::filesystem::path& path) {
  throw IoError(fmt::format("cannot {} the log {}: {}", verb, path.string(), std::strerror(errno)));
}

// The members every row has; a monitor may not take their names.
constexpr std::array<std::string_view, 3> kOwnNames = {"update", "epoch", "seconds"};

bool is_own_name(std::string_view name) {
  return std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
}

// Why the row is not one that a JsonLog has written; empty if it is.
std::string fault_of(const Json& row) {
  if (row.is_discarded() || !row.is_object()) return "expected one JSON object on the line";
  for (const std::string_view name : kOwnNames) {
    if (!row.contains(name)) return fmt::format("the member \"{}\" is missing", name);
  }
  if (!row["update"].is_number_unsigned()) return "\"update\" must be a whole number, not negative";
  for (const auto& [name, value] : row.items()) {
    if (!value.is_number() && !value.is_null()) return fmt::format("\"{}\" must be a number or null", name);
  }
  return {};
}

double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Row row_of(std::string_view text, const std::filesystem::path& path, std::size_t line) {
  const Json json = Json::parse(text, nullptr, false);
  if (const std::string fault = fault_of(json); !fault.empty()) reject(path, line, fault);
  Row row;
  row.record.update = json["update"].get<std::uint64_t>();
  row.record.epoch = number_of(json["epoch"]);
  row.seconds = number_of(json["seconds"]);
  for (const auto& [name, value] : json.items()) {
    if (!is_own_name(name)) row.record.values.emplace_back(name, number_of(value));
  }
  return row;
}

// Calls visit(row, text with its line end) for each whole line, and returns what follows the last line end.
template <class Visit>
std::string_view for_each_row(std::string_view content, const std::filesystem::path& path, const Visit& visit) {
  std::size_t line = 0;
  for (std::size_t end = 0; (end = content.find('\n')) != std::string_view::npos; content.remove_prefix(end + 1)) {
    ++line;
    visit(row_of(content.substr(0, end), path, line), content.substr(0, end + 1));
  }
  return content;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Leaves only the rows up to an update in the file, and returns the seconds that they had reached.
double keep_rows(const std::filesystem::path& path, std::uint64_t up_to) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string kept;
  double seconds = 0.0;
  for_each_row(text_of(bytes), path, [&](const Row& row, std::string_view text) {
    if (row.record.update > up_to) return;
    kept += text;
    seconds = row.seconds;
  });
  if (kept.size() != bytes.size()) write_file(path, std::as_bytes(std::span(kept)));
  return seconds;
}

}  // namespace

JsonLog::JsonLog(std::filesystem::path path, std::optional<std::uint64_t> keep_up_to, Clock clock)
    : path_(std::move(path)), clock_(std::move(clock)), started_(clock_()) {
  std::error_code unknown;  // then opening fails too, and says why
  if (keep_up_to && std::filesystem::exists(path_, unknown)) seconds_before_ = keep_rows(path_, *keep_up_to);
  file_.reset(std::fopen(path_.c_str(), keep_up_to ? "ae" : "we"));
  if (!file_) cannot("open", path_);
}

void JsonLog::record(const Record& record) {
  Json row;
  row["update"] = record.update;
  row["epoch"] = record.epoch;
  row["seconds"] = std::round(1000.0 * (seconds_before_ + clock_() - started_)) / 1000.0;
  for (const auto& [name, value] : record.values) {
    require(!row.contains(name), fmt::format("a record may not have two values named \"{}\"", name));
    row[name] = value;
  }
  const std::string line = row.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (!written || std::fflush(file_.get()) != 0) cannot("write", path_);
}

std::vector<Record> read_log(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::vector<Record> records;
  const std::string_view rest =
      for_each_row(text_of(bytes), path, [&](Row row, std::string_view) { records.push_back(std::move(row.record)); });
  if (!rest.empty()) reject(path, records.size() + 1, "the line is torn; resume the run to mend its log");
  return records;
}

}  // namespace ergodic
