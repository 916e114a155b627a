#include "ergodic/machine/model_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

/// What every model file says, apart from the notes.
constexpr std::string_view kOwnKeys[] = {"format", "version", "model", "written_by", "digest"};

const MachineKind& kind_in(const Tensors& tensors, const std::string& where) {
  const std::string& name = model_kind(tensors, where);
  if (const MachineKind* kind = find_kind(name)) return *kind;
  if (name == kClassifierKind) {
    throw DataError(fmt::format("{}: expected a machine, found a classifier, which is for `ergodic classify`", where));
  }
  std::vector<std::string_view> names;
  for (const MachineKind* kind : machine_kinds()) names.push_back(kind->name);
  throw DataError(fmt::format("{}: metadata: expected one of the models {}, found {}", where, fmt::join(names, ", "),
                              excerpt(name)));
}

}  // namespace

void save_model(const std::filesystem::path& path, const Machine& machine, const Notes& notes) {
  Tensors tensors;
  tensors.metadata = notes;
  put_model_kind(tensors, std::string(machine.kind().name));
  machine.put(tensors);
  write_sealed(path, std::move(tensors));
}

ModelFile load_model(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  const MachineKind& kind = kind_in(file.tensors, where);
  ModelFile out{kind.read(file.tensors, where), file.tensors.metadata, file.verified};
  for (const std::string_view key : kOwnKeys) out.notes.erase(std::string(key));
  for (const std::string_view key : kind.metadata) out.notes.erase(std::string(key));
  return out;
}

}  // namespace ergodic
