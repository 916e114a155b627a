// MixingWatch: have the chains of a sampling run mixed? Records two numbers along some of the chains and diagnoses
// them.
//
// The first half of a run is warm-up and not looked at. A free energy costs a few sweeps of its chain, so only a few
// chains are watched, and not at every sweep of a long run. Watching draws no random numbers and changes no chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/estimator/diagnostics.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

struct MixingReport {
  struct Quantity {
    std::string name;
    Diagnosis diagnosis;  ///< its autocorrelation time in sweeps, too long by at most every - 1
    Verdict verdict;
  };

  std::size_t chains = 0;   ///< watched, the first of the run
  std::size_t draws = 0;    ///< recorded of each
  std::uint64_t every = 0;  ///< sweeps from one draw to the next
  std::vector<Quantity> quantities;
  Verdict verdict;  ///< on all of them
};

class MixingWatch {
 public:
  /// For a run of so many chains and sweeps.
  MixingWatch(const Rbm& model, std::size_t chains, std::uint64_t sweeps);

  /// To be called after each sweep; records if it is time.
  void look(const Chains& chains, const Context& context);

  /// After the last sweep.
  MixingReport report() const;

 private:
  bool too_short() const;

  const Rbm& model_;
  std::uint64_t sweeps_;
  std::uint64_t warm_up_;
  std::uint64_t every_;
  Matrix<double> free_energy_, activity_;  // a row for each chain that is watched, a column for each draw
  std::size_t recorded_ = 0;
};

/// The verdict as a sentence.
std::string sentence(const MixingReport& report);

/// A table for a person, and the sentence unless it is a warning, which has been given.
std::string to_text(const MixingReport& report);

}  // namespace ergodic
