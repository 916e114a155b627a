// Model files: a machine as safetensors, in the layout of docs/format.md, which other programs may write too.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The machines that have a distribution.
using Machine = std::variant<Rbm, Boltzmann, Neural>;
/// What a person calls a machine of this kind.
std::string_view kind_of(const Machine& machine);
/// The units that data sets.
Layer visible_of(const Machine& machine);

struct ModelFile {
  Machine machine;
  std::map<std::string, std::string> notes;  ///< further metadata: picture shape, how it was trained
  bool verified = false;                     ///< the file had a digest, and it agrees
};

/// Writes the machine with its notes, atomically. The same machine and notes give the same bytes.
void save_model(const std::filesystem::path& path, const Rbm& model, const std::map<std::string, std::string>& notes);
void save_model(const std::filesystem::path& path, const Boltzmann& model,
                const std::map<std::string, std::string>& notes);
void save_model(const std::filesystem::path& path, const Neural& model,
                const std::map<std::string, std::string>& notes);

/// DataError if anything is missing, of another shape, not finite, or damaged.
ModelFile load_model(const std::filesystem::path& path);

/// The RBM in a file; UsageError, which says what cannot be done, if it is another machine.
const Rbm& rbm_in(const ModelFile& file, std::string_view purpose);

}  // namespace ergodic
