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

struct ReportContent {
  std::string title;
  std::vector<std::pair<std::string, std::string>> summary;  ///< what, and its value; rows of a table
  std::vector<Chart> charts;
  std::vector<Picture> pictures;
  std::vector<std::string> warnings;
};

/// The whole page. Every text of the content is escaped.
std::string html_report(const ReportContent& content);

}  // namespace ergodic
