// What the tests of stored machines share: machines to store, and files made or damaged by hand.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "ergodic/core/random.hpp"
#include "ergodic/format/safetensors.hpp"
#include "ergodic/model/rbm.hpp"
#include "format/damage.hpp"

namespace ergodic {

/// A machine with normally distributed parameters.
inline Rbm random_machine(const Layer& visible, const Layer& hidden, std::uint64_t seed = 1) {
  Rbm model(visible, hidden);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  model.update(
      [&](Parameters& parameters) {
        std::uint32_t k = 0;
        for (float& value : parameters.values()) value = static_cast<float>(draw.normal(0, k++));
      },
      Context{});
  return model;
}

/// Calls f(visible, hidden) for every pairing of unit types that can be coupled.
template <class F>
void for_each_pair_of_layers(const F& f) {
  for (const Layer& visible :
       {Layer(Bernoulli{66}), Layer(Spin{67}), Layer(Potts{66, 3}), Layer(Gaussian{5}), Layer(Relu{5})}) {
    for (const Layer& hidden :
         {Layer(Bernoulli{5}), Layer(Spin{3}), Layer(Potts{8, 4}), Layer(Gaussian{3}), Layer(Relu{2})}) {
      if (!real_valued(visible) || !real_valued(hidden)) f(visible, hidden);
    }
  }
}

/// Whether both hold the same floats bit for bit: -0 is not 0, and a NaN is itself.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Overwrites a file in place, without the care of write_file: that would sync each of thousands of damaged files.
inline void put_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) ADD_FAILURE() << "cannot write " << path;
  std::filesystem::resize_file(path, bytes.size());
}

}  // namespace ergodic
