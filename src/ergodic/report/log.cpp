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
  LoggedRecord logged;
  std::optional<std::uint64_t> rescues;  // if the row says that the run went back
};

[[noreturn]] void reject(const std::filesystem::path& path, std::size_t line, const std::string& why) {
  throw DataError(fmt::format("{}, line {}: {}", path.string(), line, why));
}

[[noreturn]] void cannot(const char* verb, const std::filesystem::path& path) {
  throw IoError(fmt::format("cannot {} the log {}: {}", verb, path.string(), std::strerror(errno)));
}

constexpr const char* kRescues = "rescues";

// The members that every row has.
constexpr std::array<std::string_view, 3> kOwnNames = {"update", "epoch", "seconds"};

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

double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Row row_of(std::string_view text, const std::filesystem::path& path, std::size_t line) {
  const Json json = Json::parse(text, nullptr, false);
  if (const std::string fault = fault_of(json); !fault.empty()) reject(path, line, fault);
  Row out;
  Record& record = out.logged.record;
  record.update = json["update"].get<std::uint64_t>();
  record.epoch = number_of(json["epoch"]);
  out.logged.seconds = number_of(json["seconds"]);
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kOwnNames, name) == kOwnNames.end()) record.values.emplace_back(name, number_of(value));
  }
  if (json.contains(kRescues) && json[kRescues].is_number()) out.rescues = json[kRescues].get<std::uint64_t>();
  return out;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Leaves only the rows up to a place in the file, and returns the seconds that they had reached.
double keep_rows(const std::filesystem::path& path, const LogPlace& up_to) {
  const std::vector<std::byte> bytes = read_file(path);
  std::string kept;
  double seconds = 0.0;
  std::string_view rest = text_of(bytes);  // what follows the last line end is a torn line
  std::size_t line = 0;
  LogPlace here;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const Row row = row_of(rest.substr(0, end), path, ++line);
    here = {row.rescues.value_or(here.rescues), row.logged.record.update};
    if (here > up_to) continue;
    kept += rest.substr(0, end + 1);
    seconds = row.logged.seconds;
  }
  if (kept.size() != bytes.size()) write_file(path, std::as_bytes(std::span(kept)));
  return seconds;
}

}  // namespace

LoggedRun read_log(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  LoggedRun out;
  std::size_t line = 0;
  for (std::string_view rest = text_of(bytes); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    try {
      ++line;
      if (end == std::string_view::npos) reject(path, line, "the line has no end");
      Row row = row_of(rest.substr(0, end), path, line);
      if (row.rescues) {
        out.rescues = *row.rescues;
        std::erase_if(out.records,
                      [&](const LoggedRecord& one) { return one.record.update > row.logged.record.update; });
      } else {
        out.records.push_back(std::move(row.logged));
      }
    } catch (const DataError& fault) {
      if (line == 1) throw;
      out.fault = fault.what();
      return out;
    }
    rest.remove_prefix(end + 1);
  }
  return out;
}

JsonLog::JsonLog(std::filesystem::path path, std::optional<LogPlace> keep_up_to, Clock clock)
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

}  // namespace ergodic
