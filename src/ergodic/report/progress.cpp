#include "ergodic/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

constexpr double kDrawSeconds = 0.1;      // ten pictures a second look continuous
constexpr double kSilenceSeconds = 30.0;  // of a plain log, before it says that the run is alive
constexpr double kMemorySeconds = 3.0;    // of the smoothed rate
constexpr std::size_t kBarColumns = 16;
constexpr std::size_t kHeadLines = 3;  // of the table on a terminal
constexpr std::size_t kCellColumns = 8;
constexpr std::size_t kStampColumns = 12;

constexpr const char* kEraseToEnd = "\x1b[K";

std::string bar(double fraction) {
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(kBarColumns));
  return '[' + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + ']';
}

double fraction_of(const Progress& p) {
  return std::min(1.0, static_cast<double>(p.done) / static_cast<double>(p.total));
}

// A failed write (a closed terminal) is no reason to stop a run, so the result is not looked at.
void write_text(std::FILE* out, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

std::string joined(const std::vector<std::string>& fields) { return fmt::format("{}", fmt::join(fields, "  ")); }

// As many of the fields, from the left, as fit into the columns when joined.
std::string fitted(const std::vector<std::string>& fields, std::size_t columns) {
  std::string line;
  for (const std::string& field : fields) {
    const std::size_t separator = line.empty() ? 0 : 2;
    if (columns_of(line) + separator + columns_of(field) > columns) break;
    line.append(separator, ' ').append(field);
  }
  return line;
}

/// A name cut at its underscores into the lines of a table's head, the last at the bottom.
std::vector<std::string> head_of(const std::string& name) {
  std::vector<std::string> out{""};
  for (const char c : name) {
    if (c == '_' && out.size() < kHeadLines) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::size_t cell_width(const std::vector<std::string>& head) {
  std::size_t width = kCellColumns;
  for (const std::string& piece : head) width = std::max(width, columns_of(piece));
  return width;
}

/// One line of the head of a table: the first column is the time stamp's, without a name.
std::vector<std::string> head_line(const std::vector<std::vector<std::string>>& heads, std::size_t line) {
  std::vector<std::string> out{std::string(kStampColumns, ' ')};
  for (std::size_t k = 1; k < heads.size(); ++k) {
    const std::size_t above = kHeadLines - heads[k].size();  // short names stand at the bottom
    out.push_back(fmt::format("{:>{}}", line < above ? "" : heads[k][line - above], cell_width(heads[k])));
  }
  return out;
}

}  // namespace

void ProgressReporter::Rate::restart(double now, std::uint64_t done_now) {
  since = now;
  done = done_now;
  per_second = 0.0;
}

void ProgressReporter::Rate::sample(double now, std::uint64_t done_now) {
  const double seconds = now - since;
  if (!(seconds > 0.0)) return;
  const double recent = static_cast<double>(done_now - done) / seconds;
  const double weight = per_second > 0.0 ? 1.0 - std::exp(-seconds / kMemorySeconds) : 1.0;
  per_second += weight * (recent - per_second);
  since = now;
  done = done_now;
}

ProgressReporter::ProgressReporter(ProgressOptions options)
    : options_(std::move(options)),
      started_(options_.clock()),
      line_at_(started_),
      sampled_at_(started_ - kDrawSeconds) {}

ProgressReporter::~ProgressReporter() { finish(); }

void ProgressReporter::stage(const Stage& stage) {
  stage_ = {one_line(stage.name), one_line(stage.unit)};
  working_ = working_ && stage_.unit.empty();  // the next part of a whole goes on where this one ends
}

void ProgressReporter::progress(const Progress& progress) {
  if (options_.quiet) return;
  const double now = options_.clock();
  // Less done or another total: a new computation has begun, and the old rate says nothing about it.
  const bool restarted = !working_ || progress.total != latest_.total || progress.done < latest_.done;
  if (restarted) rate_.restart(now, progress.done);
  latest_ = progress;
  working_ = true;
  if (now - sampled_at_ < kDrawSeconds) return;
  sampled_at_ = now;
  rate_.sample(now, progress.done);
  if (options_.live) {
    draw_live();
  } else if (now - line_at_ >= kSilenceSeconds) {
    print_line(stamped(joined(progress_fields())));
  }
}

void ProgressReporter::record(const Record& record) {
  if (options_.quiet) return;
  monitors_.clear();
  for (const auto& [name, value] : record.values) {
    monitors_.push_back(fmt::format("{}={}", one_line(name), short_number(value)));
  }
  if (options_.live) {
    print_table_row(record);
  } else {
    print_line(stamped(plain_row(record)));
  }
}

/// Names with their values, for files and pipes: each line says all, but for what is zero.
std::string ProgressReporter::plain_row(const Record& record) const {
  std::string line = fmt::format("epoch {:.4g}", record.epoch);
  for (std::size_t k = 0; k < monitors_.size(); ++k) {
    if (record.values[k].second != 0.0) line += "  " + monitors_[k];
  }
  return line;
}

/// Values under a head of names, for terminals: as many columns as fit, from the left.
void ProgressReporter::print_table_row(const Record& record) {
  std::vector<std::vector<std::string>> heads{{}, {"epoch"}};
  for (const auto& [name, value] : record.values) heads.push_back(head_of(one_line(name)));
  const std::size_t columns = width() - 1;
  if (heads != table_heads_) {
    for (std::size_t line = 0; line < kHeadLines; ++line) print_line(fitted(head_line(heads, line), columns));
    table_heads_ = heads;
  }
  std::vector<std::string> cells{stamped(""), fmt::format("{:.2f}", record.epoch)};
  for (const auto& [name, value] : record.values) cells.push_back(short_number(value));
  for (std::size_t k = 1; k < cells.size(); ++k) cells[k] = fmt::format("{:>{}}", cells[k], cell_width(heads[k]));
  print_line(fitted(cells, columns));
}

void ProgressReporter::warn(const std::string& message) { print_line("warning: " + one_line(message)); }

void ProgressReporter::note(const std::string& message) {
  if (!options_.quiet) print_line(one_line(message));
}

bool ProgressReporter::stop_requested() { return options_.stop && options_.stop->load(); }

void ProgressReporter::finish() {
  if (!live_shown_) return;
  write_text(options_.out, std::string("\r") + kEraseToEnd);
  live_shown_ = false;
}

std::vector<std::string> ProgressReporter::progress_fields() const {
  std::vector<std::string> fields;
  if (latest_.total > 0) {
    fields.push_back(fmt::format("{:3.0f}%", std::floor(100.0 * fraction_of(latest_))));
  } else {
    fields.push_back(fmt::format("{} {}", latest_.done, stage_.unit));
  }
  if (!stage_.name.empty()) fields.push_back(stage_.name);
  if (const std::uint64_t length = latest_.per_epoch; length > 0 && latest_.total > 0) {
    const std::uint64_t epochs = latest_.total / length + (latest_.total % length != 0);
    fields.push_back(fmt::format("epoch {}/{}", std::min(latest_.done / length + 1, epochs), epochs));
  }
  if (rate_.per_second > 0.0) {
    if (!stage_.unit.empty()) fields.push_back(fmt::format("{} {}/s", short_number(rate_.per_second), stage_.unit));
    if (latest_.total > latest_.done) {
      const double left = static_cast<double>(latest_.total - latest_.done) / rate_.per_second;
      fields.push_back(duration_text(left) + " left");
    }
  }
  return fields;
}

std::string ProgressReporter::stamped(const std::string& text) const {
  return fmt::format("[{:8.1f} s]{}{}", options_.clock() - started_, text.empty() ? "" : "  ", text);
}

std::string ProgressReporter::live_line() const {
  const std::size_t columns = width() - 1;  // the last column stays free: writing there wraps on some terminals
  std::vector<std::string> fields = progress_fields();
  fields.insert(fields.end(), monitors_.begin(), monitors_.end());
  const std::string line = fitted(fields, columns);
  if (latest_.total == 0) return line;
  const std::string with_bar = bar(fraction_of(latest_)) + ' ' + line;  // repeats the percentage, so it comes last
  return columns_of(with_bar) <= columns ? with_bar : line;
}

std::size_t ProgressReporter::width() const {
  if (options_.width > 0) return options_.width;
  winsize size{};
  const bool known = ioctl(fileno(options_.out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

void ProgressReporter::draw_live() {
  write_text(options_.out, '\r' + live_line() + kEraseToEnd);
  live_shown_ = true;
}

void ProgressReporter::print_line(const std::string& line) {
  const bool redraw = live_shown_;
  finish();
  write_text(options_.out, line + '\n');
  line_at_ = options_.clock();
  if (redraw) draw_live();
}

}  // namespace ergodic
