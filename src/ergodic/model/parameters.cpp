#include "ergodic/model/parameters.hpp"

#include <stdexcept>
#include <utility>

namespace ergodic {

void Parameters::add(std::string name, std::vector<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  slots_.push_back({std::move(name), std::move(shape), values_.size(), size});
  values_.resize(values_.size() + size);
}

const Slot& Parameters::slot(std::string_view name) const {
  for (const Slot& s : slots_) {
    if (s.name == name) return s;
  }
  throw std::logic_error("no parameter slot named " + std::string(name));
}

std::span<float> Parameters::operator[](std::string_view name) {
  const Slot& s = slot(name);
  return values().subspan(s.offset, s.size);
}

std::span<const float> Parameters::operator[](std::string_view name) const {
  const Slot& s = slot(name);
  return values().subspan(s.offset, s.size);
}

}  // namespace ergodic
