#include "ergodic/store/hopfield_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

constexpr const char* kKind = "hopfield";
constexpr const char* kModern = "modern";

/// What the file itself says, apart from the notes.
constexpr std::string_view kOwnKeys[] = {"format", "version", "model", "rule", "written_by", "digest"};

void put_network(Tensors& tensors, const Hopfield& network) {
  const std::size_t n = network.units();
  tensors.arrays.emplace_back("couplings", array_of(network.couplings().elements(), {n, n}));
  tensors.arrays.emplace_back("bias", array_of(network.bias(), {n}));
}

void put_network(Tensors& tensors, const ModernHopfield& network) {
  const Matrix<float>& patterns = network.patterns();
  const float beta[] = {network.beta()};
  tensors.arrays.emplace_back("patterns", array_of(patterns.elements(), {patterns.rows(), patterns.cols()}));
  tensors.arrays.emplace_back("beta", array_of(beta, {1}));
}

/// A matrix of finite floats with as many rows and columns as it has, at least 1 of each.
Matrix<float> matrix_at(const Tensors& tensors, const std::string& name, const std::string& where) {
  const Array* array = tensors.find(name);
  if (!array) throw DataError(fmt::format("{}: expected a tensor named {}, found none", where, name));
  if (array->shape.size() != 2 || array->size() == 0) {
    throw DataError(
        fmt::format("{}: {}: expected rows and columns, at least 1 of each, found {} dimensions and {} elements", where,
                    name, array->shape.size(), array->size()));
  }
  const std::vector<float> values = floats_at(tensors, name, array->shape, where);
  Matrix<float> out(array->shape[0], array->shape[1]);
  std::copy(values.begin(), values.end(), out.elements().begin());
  return out;
}

void refuse_if(const std::optional<std::string>& flaw, const std::string& where) {
  if (flaw) throw DataError(fmt::format("{}: {}", where, *flaw));
}

Hopfield take_couplings(const Tensors& tensors, const std::string& where) {
  Matrix<float> couplings = matrix_at(tensors, "couplings", where);
  std::vector<float> bias = floats_at(tensors, "bias", {couplings.rows()}, where);
  refuse_if(flaw_in(couplings, bias), where);
  return Hopfield(std::move(couplings), std::move(bias));
}

ModernHopfield take_patterns(const Tensors& tensors, const std::string& where) {
  Matrix<float> patterns = matrix_at(tensors, "patterns", where);
  const float beta = floats_at(tensors, "beta", {1}, where)[0];
  refuse_if(flaw_in_patterns(patterns, beta), where);
  return ModernHopfield(std::move(patterns), beta);
}

}  // namespace

bool is_hopfield(const std::filesystem::path& path) {
  return model_kind(read_sealed(path).tensors, path.string()) == kKind;
}

void save_hopfield(const std::filesystem::path& path, const HopfieldFile& file) {
  assert((file.rule == kModern) == std::holds_alternative<ModernHopfield>(file.network));
  Tensors tensors;
  tensors.metadata = file.notes;
  put_model_kind(tensors, kKind);
  tensors.metadata["rule"] = file.rule;
  std::visit([&](const auto& network) { put_network(tensors, network); }, file.network);
  write_sealed(path, std::move(tensors));
}

HopfieldFile load_hopfield(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  const std::string& kind = model_kind(file.tensors, where);
  if (kind != kKind) {
    throw DataError(fmt::format("{}: metadata: expected the model {}, found '{}'", where, kKind, kind));
  }
  const std::string& rule = metadata_at(file.tensors, "rule", where);
  std::map<std::string, std::string> notes = file.tensors.metadata;
  for (const std::string_view key : kOwnKeys) notes.erase(std::string(key));
  if (rule == kModern) return {take_patterns(file.tensors, where), rule, std::move(notes), file.verified};
  return {take_couplings(file.tensors, where), rule, std::move(notes), file.verified};
}

}  // namespace ergodic
