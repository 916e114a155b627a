// The report of a run as one HTML page: no network, no scripts, pictures inside, light or dark as the reader prefers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ergodic/format/png.hpp"
#include "ergodic/report/curves.hpp"

namespace ergodic {

struct Picture {
  std::string caption;
  Image image;
};

/// Cells under heads; without heads, what and its value.
struct ReportTable {
  std::string title;
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

struct ReportContent {
  std::string title;
  std::vector<std::pair<std::string, std::string>> summary;  ///< the result: what, and its value
  std::vector<Chart> charts;
  std::vector<Picture> pictures;
  std::vector<std::string> warnings;
  std::vector<ReportTable> tables = {};  ///< how it came about; before the curves
};

/// The whole page. Every text of the content is escaped.
std::string html_report(const ReportContent& content);

}  // namespace ergodic
