// A small check that HTML or SVG is well formed: every tag that opens is closed, in order.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace ergodic {

/// What is wrong with the nesting of the tags; empty if nothing.
inline std::string tag_fault(const std::string& markup) {
  const std::set<std::string> void_tags = {"!DOCTYPE", "meta", "img"};
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = markup.find('<', at)) != std::string::npos; ++at) {
    const std::size_t end = markup.find('>', at);
    if (end == std::string::npos) return "a tag does not end";
    const std::string tag = markup.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.find('<') != std::string::npos) return "a tag within the tag " + tag;
    if (tag.front() == '/') {
      if (open.empty() || "/" + open.back() != tag) return "unexpected <" + tag + ">";
      open.pop_back();
    } else if (tag.back() != '/' && !void_tags.contains(name)) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

/// How often a piece of text occurs.
inline std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++count;
  return count;
}

}  // namespace ergodic
