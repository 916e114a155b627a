#include "ergodic/report/html.hpp"

#include <fmt/format.h>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #1d2430; --soft: #5d6675; --rule: #dfe3e8;
  --warn: #8a4b00; --warn-page: #fff5e0; --warn-rule: #f0c36d;
  --c0: #2563c9; --c1: #c8501e; --c2: #14806a; --c3: #8a3fb0; --c4: #9a7400; --c5: #b32457; }
@media (prefers-color-scheme: dark) { :root { --page: #12151a; --card: #1b2027; --text: #e4e8ee; --soft: #99a3b1;
  --rule: #303843; --warn: #ffcf7a; --warn-page: #2d2413; --warn-rule: #6b5320;
  --c0: #6ea6ff; --c1: #ff9566; --c2: #4fd0b0; --c3: #cf97f0; --c4: #e0bd4a; --c5: #ff85ab; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 32px 24px 48px; max-width: 1080px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 20px; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 32px 0 12px; font-size: 18px; }
.card { margin: 0; padding: 14px 16px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 16px; }
.pictures { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
.summary { padding: 4px 16px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 7px 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
tr:last-child > * { border-bottom: 0; }
th { width: 34%; padding-right: 16px; font-weight: normal; color: var(--soft); }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.pairs tbody { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); column-gap: 40px; }
.pairs tr { display: flex; } .pairs th { width: 55%; } .pairs td { flex: 1; }
.wide th { width: auto; } .wide td, .wide th { padding-right: 16px; white-space: nowrap; }
.warnings { margin: 16px 0 0; padding: 12px 16px 12px 34px; color: var(--warn); background: var(--warn-page);
  border: 1px solid var(--warn-rule); border-radius: 8px; overflow-wrap: anywhere; }
h3 { margin: 0 0 6px; font-size: 14px; overflow-wrap: anywhere; }
figcaption, .empty { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
figcaption { max-width: 60ch; }
svg + figcaption { margin-top: 6px; }
.legend { margin: 0 0 6px; font-size: 13px; }
.legend span { margin-right: 14px; white-space: nowrap; }
.legend span::before { content: ""; display: inline-block; width: 14px; height: 3px; margin-right: 6px;
  vertical-align: middle; border-radius: 2px; background: var(--line); }
img { display: block; max-width: 100%; height: auto; margin-bottom: 8px; border-radius: 3px; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, "DejaVu Sans", sans-serif; }
.c0 { --line: var(--c0); } .c1 { --line: var(--c1); } .c2 { --line: var(--c2); }
.c3 { --line: var(--c3); } .c4 { --line: var(--c4); } .c5 { --line: var(--c5); }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); }
.tick { fill: var(--soft); font-variant-numeric: tabular-nums; }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.last { fill: var(--line); font-weight: 600; }
.curve polyline { fill: none; stroke: var(--line); stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.curve circle { fill: var(--line); stroke: var(--card); stroke-width: 1; }
.curve.many circle { opacity: 0; } .curve circle:hover { opacity: 1; stroke: var(--line); stroke-width: 3; }
@media print { .card { break-inside: avoid; } }
)css";

std::string summary_table(const ReportContent& content) {
  if (content.summary.empty()) return {};
  std::string rows;
  for (const auto& [name, value] : content.summary) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_html(name), escape_html(value));
  }
  return fmt::format("<div class=\"card summary\"><table>\n{}</table></div>\n", rows);
}

std::string table_sections(const ReportContent& content) {
  std::string out;
  for (const ReportTable& table : content.tables) {
    std::string rows;
    for (const std::string& head : table.heads) rows += fmt::format("<th scope=\"col\">{}</th>", escape_html(head));
    if (!rows.empty()) rows = "<tr>" + rows + "</tr>\n";
    for (const std::vector<std::string>& row : table.rows) {
      rows += "<tr>";
      for (std::size_t k = 0; k < row.size(); ++k) {
        const std::string text = escape_html(row[k]);
        rows += k == 0 ? fmt::format("<th scope=\"row\">{}</th>", text) : fmt::format("<td>{}</td>", text);
      }
      rows += "</tr>\n";
    }
    out += fmt::format("<h2>{}</h2>\n<div class=\"card summary\"><table{}>\n{}</table></div>\n",
                       escape_html(table.title), table.heads.empty() ? " class=\"pairs\"" : " class=\"wide\"", rows);
  }
  return out;
}

std::string warning_list(const ReportContent& content) {
  if (content.warnings.empty()) return {};
  std::string items;
  for (const std::string& warning : content.warnings) items += fmt::format("<li>{}</li>\n", escape_html(warning));
  return fmt::format("<h2>Warnings</h2>\n<ul class=\"warnings\">\n{}</ul>\n", items);
}

std::string caption_of(const std::string& caption) {
  return caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", escape_html(caption));
}

// A single curve needs no legend: the chart's title names it.
std::string legend(const Chart& chart) {
  if (chart.series.size() < 2) return {};
  std::string keys;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    keys += fmt::format("<span class=\"c{}\">{}</span>\n", colour_index(i), escape_html(chart.series[i].name));
  }
  return fmt::format("<p class=\"legend\">\n{}</p>\n", keys);
}

std::string curve_section(const ReportContent& content) {
  std::string figures;
  for (const Chart& chart : content.charts) {
    figures += fmt::format("<figure class=\"card\">\n<h3>{}</h3>\n{}{}{}</figure>\n", escape_html(chart.title),
                           legend(chart), svg_chart(chart), caption_of(chart.caption));
  }
  if (figures.empty()) return "<h2>Learning curves</h2>\n<p class=\"empty\">The run has recorded nothing yet.</p>\n";
  return fmt::format("<h2>Learning curves</h2>\n<div class=\"grid2\">\n{}</div>\n", figures);
}

std::string picture_section(const ReportContent& content) {
  if (content.pictures.empty()) return {};
  std::string figures;
  for (const Picture& picture : content.pictures) {
    figures += fmt::format(
        "<figure class=\"card\">\n<img alt=\"{}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\">\n"
        "{}</figure>\n",
        escape_html(picture.caption), picture.image.width, picture.image.height, base64(encode_png(picture.image)),
        caption_of(picture.caption));
  }
  return fmt::format("<h2>Pictures</h2>\n<div class=\"pictures\">\n{}</div>\n", figures);
}

}  // namespace

std::string html_report(const ReportContent& content) {
  const std::string title = escape_html(content.title);
  // The policy forbids what the page must not need: scripts and the network.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n{}{}{}{}{}</body>\n</html>\n",
      title, kStyle, title, summary_table(content), warning_list(content), table_sections(content),
      curve_section(content), picture_section(content));
}

}  // namespace ergodic
