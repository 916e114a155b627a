// Model files of Hopfield networks: couplings, or the patterns of the modern form, in the layout of docs/format.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "ergodic/model/hopfield.hpp"
#include "ergodic/model/modern_hopfield.hpp"

namespace ergodic {

struct HopfieldFile {
  std::variant<Hopfield, ModernHopfield> network;
  std::string rule;                          ///< how its patterns were stored; "modern" for the modern form alone
  std::map<std::string, std::string> notes;  ///< further metadata: picture shape, what was stored
  bool verified = false;                     ///< the file had a digest, and it agrees
};

/// Whether a model file holds a Hopfield network, and no other machine.
bool is_hopfield(const std::filesystem::path& path);

/// Writes the network with its rule and notes, atomically. The same content gives the same bytes.
void save_hopfield(const std::filesystem::path& path, const HopfieldFile& file);

/// DataError if anything is missing, of another shape, not finite, not symmetric, or damaged.
HopfieldFile load_hopfield(const std::filesystem::path& path);

}  // namespace ergodic
