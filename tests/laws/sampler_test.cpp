// Laws of samplers. Every row of the list of samplers (sampler/samplers.hpp) is held to all of them on each kind of
// machine that it serves, and so are samplers made of others:
//   started from exact draws it leaves the distribution where it is; from a far start it gets there;
//   with fixed units it does so given them; the states do not depend on threads;
//   and it passes Geweke's joint test (Geweke 2004).
// Chains are independent, so counts of their states follow the multinomial and chi-square applies.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "boltzmann_machines.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/sampling.hpp"
#include "laws/targets.hpp"

namespace ergodic {
namespace {

using test::Target;

constexpr std::size_t kChains = 5000;

/// A sampler on a machine. The law knows the visible layer only: what else a sampler needs, hidden units and copies at
/// other temperatures, is drawn exactly before each sweep, which leaves the visible layer's distribution where it is.
struct Law {
  std::string name;
  Target target;
  std::function<void(State& x, std::uint64_t sweep, Key key, const Context& context)> sweep;
  int far_sweeps = 30;  ///< that are enough from a far start
};

/// The machines on which samplers are tried. Settings differ in their parameters only.
struct Machines {
  explicit Machines(std::uint64_t setting)
      : bernoulli(test::random_machine(Bernoulli{3}, Bernoulli{2}, 0.7, 5 + setting)),
        spin(test::random_machine(Spin{3}, Spin{2}, 0.4, 5 + setting)),
        potts(test::random_machine(Potts{9, 3}, Bernoulli{2}, 0.7, 5 + setting)),
        labelled(test::random_machine(joined({Bernoulli{2}, Potts{3, 3}}), Bernoulli{2}, 0.7, 5 + setting)),
        gaussian(test::random_machine(Gaussian{2}, Bernoulli{2}, 0.7, 5 + setting)),
        normal(test::random_machine(Gaussian{2}, Bernoulli{1}, 0.5, 5 + setting)),
        relu(test::random_machine(Relu{2}, Bernoulli{2}, 0.5, 5 + setting)),
        graph(test::random_boltzmann(Spin{4}, grid_graph(2, 2, Border::kOpen), 0.4, 5 + setting)),
        letters(test::random_boltzmann(Potts{9, 3}, site_graph(dense_graph(3), 3), 0.4, 5 + setting)),
        neural(some_neural(5 + setting)),
        bernoulli_way{bernoulli},
        gaussian_way{gaussian},
        graph_way{graph},
        letters_way{letters} {
    normal.update([](Parameters& p) { std::ranges::fill(p["weights"], 0.0f); }, {});
    for (const double beta : kBetas) hot_normal.push_back(at_temperature(normal, beta, {}));
    for (const double scale : {0.4, 0.2}) {
      bernoulli_way.push_back(test::random_machine(Bernoulli{3}, Bernoulli{2}, scale, 15 + setting));
      gaussian_way.push_back(test::random_machine(Gaussian{2}, Bernoulli{2}, scale, 15 + setting));
      graph_way.push_back(test::random_boltzmann(Spin{4}, graph.graph(), scale / 2.0, 15 + setting));
      letters_way.push_back(test::random_boltzmann(Potts{9, 3}, letters.graph(), scale / 2.0, 15 + setting));
    }
  }
  static constexpr double kBetas[] = {1.0, 0.6, 0.3};
  /// A bowl about (0.5, -0.3) with a perceptron in it that is not small.
  static Neural some_neural(std::uint64_t seed) {
    Neural out({{0.5f, -0.3f}, {1.3f, 0.9f}}, {4});
    const Draw draw = Key{seed}.at(Purpose::kTest);
    const auto edit = [&](Parameters& p) {
      for (std::uint32_t k = 0; k < p.values().size(); ++k) p.values()[k] = static_cast<float>(0.7 * draw.normal(0, k));
    };
    out.update(edit, {});
    return out;
  }

  Rbm bernoulli, spin, potts, labelled, gaussian, normal, relu;  // a normal unit has no couplings
  Boltzmann graph, letters;
  Neural neural;
  VisibleMarginal<Rbm> alone{normal};
  std::vector<Rbm> hot_normal;
  std::vector<Rbm> bernoulli_way, gaussian_way;  // other machines of the same shape, as training might have met them
  std::vector<Boltzmann> graph_way, letters_way;
};

Bits mask(std::size_t units, std::initializer_list<std::size_t> fixed) {
  Bits out(1, units);
  for (const std::size_t unit : fixed) out.set(0, unit, true);
  return out;
}

/// The units of the first site.
Bits first_site(const Layer& layer) {
  Bits out(1, units_of(layer));
  for (std::size_t l = 0; l < sites(layer)[0].size; ++l) out.set(0, l, true);
  return out;
}

/// The visible layer of an RBM; if the mask is not empty, given the first unit or site at 0.7, or as in state 0.
Target target_of(const Rbm& rbm, const Bits& fixed = {}) {
  if (!real_valued(rbm.visible())) {
    return test::enumerated(
        rbm.visible(), [&](const State& x) { return rbm.free_energy(x, {}); }, fixed);
  }
  std::vector<std::optional<float>> given(units_of(rbm.visible()));
  if (fixed.rows() > 0) given[0] = 0.7f;
  return test::mixture(rbm, given);
}

Target target_of(const Boltzmann& machine, const Bits& fixed = {}) {
  return test::enumerated(
      machine.units(), [&](const State& x) { return machine.energy(x, {}); }, fixed);
}

Target target_of(const Neural& machine, const Bits& fixed = {}) {
  std::vector<std::optional<float>> given(2);
  if (fixed.rows() > 0) given[0] = 0.7f;
  return test::integrated([&machine](const State& x) { return machine.energy(x, {}); }, given);
}

/// A sampler of an energy.
template <class Kernel, class Model>
auto by_energy(const Kernel& kernel, const Model& model) {
  return [kernel, model](State& x, std::uint64_t sweep, Key key, const Context& context) {
    Chains chains{{std::move(x)}, sweep};
    step(kernel, model, chains, key, context);
    x = std::move(chains.layers[0]);
  };
}

/// A sampler by its name, as options ask for it. One sweep is a run without warm-up.
template <class Model>
auto by_name(std::string_view name, const KernelOptions& kernel, const Model& model) {
  SamplingOptions options;
  options.sampler = name;
  options.sweeps = 1;
  options.kernel = kernel;
  return [options, &model](State& x, std::uint64_t sweep, Key key, const Context& context) {
    Chains chains = start_at(model, std::move(x), sweep, key, context);
    make_sampling(options, model, context)->sweep(chains, key, context);
    x = std::move(chains.layers[0]);
  };
}

std::vector<double> betas() { return {std::begin(Machines::kBetas), std::end(Machines::kBetas)}; }

/// Exact draws of the other levels, whose machines these are.
template <class Machine>
State level_draws(const Machine& level, const Bits& fixed, std::size_t count, std::uint64_t sweep, std::size_t k,
                  Key key) {
  return target_of(level, fixed).exact(count, key.at(Purpose::kTest, sweep, static_cast<std::uint8_t>(k)));
}

/// The visible layer of RBMs on a ladder.
template <class Inner, class Ladder>
auto by_tempered_energy(const Inner& inner, const Ladder& ladder, const std::vector<Rbm>& levels) {
  return [=, &levels](State& x, std::uint64_t sweep, Key key, const Context& context) {
    Chains chains{{std::move(x)}, sweep};
    for (std::size_t k = 1; k < levels.size(); ++k) {
      chains.layers.push_back(level_draws(levels[k], inner.fixed, chains.count(), sweep, k, key));
    }
    step(Tempered<Inner>{std::vector<Inner>(levels.size(), inner)}, ladder, chains, key, context);
    x = std::move(chains.layers[0]);
  };
}

template <class Ladder>
auto by_tempered_gibbs(const Gibbs& inner, const Ladder& ladder) {
  return [inner, ladder](State& x, std::uint64_t sweep, Key key, const Context& context) {
    Chains chains{{}, sweep};
    const std::size_t count = x.chains();
    for (std::size_t k = 0; k < ladder.levels(); ++k) {
      State state = k == 0 ? std::move(x) : level_draws(ladder.level(k), inner.fixed, count, sweep, k, key);
      Chains level = start_at(ladder.level(k), std::move(state), sweep, Key{key.seed + 100 + k}, context);
      std::ranges::move(level.layers, std::back_inserter(chains.layers));
    }
    step(Tempered<Gibbs>{std::vector<Gibbs>(ladder.levels(), inner)}, ladder, chains, key, context);
    x = std::move(chains.layers[0]);
  };
}

/// Whether a sampler of the list serves a machine: itself, or its visible layer if hidden units can be summed over.
template <class Row, class Model>
constexpr bool serves() {
  if constexpr (MarginalModel<Model> && !std::is_same_v<Row, GibbsRow>) {
    return Row::template kServes<VisibleMarginal<Model>>;
  } else {
    return Row::template kServes<Model>;
  }
}
template <class Row>
inline constexpr bool kHasTarget = serves<Row, Rbm>() || serves<Row, Boltzmann>() || serves<Row, Neural>();
static_assert([]<class... Rows>(std::type_identity<std::tuple<Rows...>>) { return (kHasTarget<Rows> && ...); }(
                  std::type_identity<Samplers>{}),
              "a sampler of the list serves none of the machines here: add one");

/// What a sampler takes so that a few sweeps go far. Langevin sampling that is not adjusted is right for small steps
/// only: 0.15 makes variances of about 1 too large by less than 1 %.
struct Tuning {
  KernelOptions kernel{1, 0.1, 10, {}};
  int far_sweeps = 30;
};
Tuning tuning_of(std::string_view name, bool real) {
  if (name == MetropolisRow::kName) return {{1, 0.8, 0, {}}, real ? 300 : 30};
  if (name == LangevinRow::kName) return {{1, 0.15, 0, {}}, 800};
  if (name == MalaRow::kName) return {{1, 0.8, 0, {}}, 80};
  if (name == HmcRow::kName) return {{1, 0.4, 4, {}}, 30};
  if (name == JumpingRow::kName) return {{1, 0.8, 0, {}}, 30};
  return {};
}

/// The laws of all samplers of the list on a machine, with all units free and with some fixed.
template <class Model>
void add_laws_of_list(const Model& model, const std::string& title, std::vector<Law>& out) {
  const Layer layer = first_layer(model);
  for (const Bits& fixed : {Bits{}, first_site(layer)}) {
    const Target target = target_of(model, fixed);
    any_sampler([&]<class Row>(Row) {
      if constexpr (serves<Row, Model>()) {
        if (Row::kFollowsForces && !has_forces(layer)) return false;
        Tuning tuning = tuning_of(Row::kName, real_valued(layer));
        tuning.kernel.fixed = fixed;
        out.push_back({std::string(Row::kName) + ", " + title + (fixed.rows() > 0 ? ", a unit fixed" : ""), target,
                       by_name(Row::kName, tuning.kernel, model), tuning.far_sweeps});
      }
      return false;
    });
  }
}

/// Every sampler with each kind of machine that it serves, some with fixed units.
std::vector<Law> all_laws(const Machines& m) {
  std::vector<Law> out;
  const auto add = [&](std::string name, Target target, auto sweep, int far_sweeps = 30) {
    out.push_back({std::move(name), std::move(target), std::move(sweep), far_sweeps});
  };
  for (const Rbm* rbm : {&m.bernoulli, &m.spin, &m.potts, &m.labelled, &m.gaussian, &m.relu}) {
    const std::string units = name_of(rbm->visible());
    add_laws_of_list(*rbm, units, out);
    if (real_valued(rbm->visible())) continue;
    for (const Bits& fixed : {Bits{}, first_site(rbm->visible())}) {
      add("metropolis, 2 flips, " + units + (fixed.rows() > 0 ? ", a unit fixed" : ""), target_of(*rbm, fixed),
          by_name(MetropolisRow::kName, {2, 0.8, 0, fixed}, *rbm));
    }
  }
  add_laws_of_list(m.graph, "graph", out);
  add_laws_of_list(m.letters, "graph of letters", out);
  add_laws_of_list(m.neural, "neural", out);
  const Target graph = target_of(m.graph);
  for (const Bits& fixed : {Bits{}, mask(2, {0})}) {
    const std::string with = fixed.rows() > 0 ? ", a unit fixed" : "";
    const Target mixed = target_of(m.gaussian, fixed), normal = target_of(m.normal, fixed);
    const Replicas<VisibleMarginal<Rbm>> hot(m.alone, betas(), {});
    add("tempered mala" + with, normal, by_tempered_energy(Langevin{0.8, true, fixed}, hot, m.hot_normal));
    add("tempered hmc" + with, normal, by_tempered_energy(Hmc{0.4, 4, fixed}, hot, m.hot_normal));
    add("tempered gibbs, gaussian" + with, mixed,
        by_tempered_gibbs(Gibbs{fixed}, Replicas<Rbm>(m.gaussian, betas(), {})));
    add("gibbs along stations, gaussian" + with, mixed, by_tempered_gibbs(Gibbs{fixed}, Stations<Rbm>(m.gaussian_way)));
  }
  for (const Bits& fixed : {Bits{}, mask(3, {0})}) {
    const std::string with = fixed.rows() > 0 ? ", a unit fixed" : "";
    const Target bits = target_of(m.bernoulli, fixed);
    add("tempered gibbs, bernoulli" + with, bits,
        by_tempered_gibbs(Gibbs{fixed}, Replicas<Rbm>(m.bernoulli, betas(), {})));
    add("gibbs along stations, bernoulli" + with, bits,
        by_tempered_gibbs(Gibbs{fixed}, Stations<Rbm>(m.bernoulli_way)));
    const Stations<VisibleMarginal<Rbm>> way({{m.bernoulli_way[0]}, {m.bernoulli_way[1]}, {m.bernoulli_way[2]}});
    add("metropolis along stations, bernoulli" + with, bits,
        by_tempered_energy(Metropolis{0.8, 1, 0, fixed}, way, m.bernoulli_way));
  }
  add("gibbs along stations, graph", graph, by_tempered_gibbs(Gibbs{}, Stations<Boltzmann>(m.graph_way)));
  add("gibbs along stations, letters", target_of(m.letters),
      by_tempered_gibbs(Gibbs{}, Stations<Boltzmann>(m.letters_way)));
  return out;
}

const Machines& machines(std::size_t setting) {
  static const Machines all[] = {Machines(0), Machines(1), Machines(2)};
  return all[setting];
}

/// The laws of a setting, made once: every program start names them.
const std::vector<Law>& laws_of(std::size_t setting) {
  static std::vector<Law> made[3];
  if (made[setting].empty()) made[setting] = all_laws(machines(setting));
  return made[setting];
}

test::ChiSquare distance_after(const Law& law, State x, int sweeps, Key key) {
  for (int s = 0; s < sweeps; ++s) law.sweep(x, static_cast<std::uint64_t>(s), key, {});
  return law.target.distance(x);
}

/// Each law of the list is a test of its own.
class SamplerLaws : public testing::TestWithParam<std::size_t> {
 protected:
  const Law& law(std::size_t setting = 0) const { return laws_of(setting)[GetParam()]; }
};

TEST_P(SamplerLaws, LeaveTheDistributionWhereItIs) {
  const Law& sampler = law();
  const State start = sampler.target.exact(kChains, Key{1}.at(Purpose::kTest));
  const test::ChiSquare exact = sampler.target.distance(start), found = distance_after(sampler, start, 5, Key{2});
  EXPECT_LT(exact.value, exact.critical()) << "the exact draws themselves";
  EXPECT_LT(found.value, found.critical());
}

TEST_P(SamplerLaws, ReachTheDistributionFromAFarStart) {
  const Law& sampler = law();
  const State start = sampler.target.far_start(kChains);
  EXPECT_GT(sampler.target.distance(start).value, 10.0 * sampler.target.distance(start).critical());
  const test::ChiSquare found = distance_after(sampler, start, sampler.far_sweeps, Key{3});
  EXPECT_LT(found.value, found.critical());
}

TEST_P(SamplerLaws, GiveTheSameStatesForAnyNumberOfThreads) {
  const Law& sampler = law();
  const State start = sampler.target.exact(100, Key{1}.at(Purpose::kTest));
  State alone = start;
  for (std::uint64_t s = 0; s < 3; ++s) sampler.sweep(alone, s, Key{4}, {});
  EXPECT_FALSE(alone == start);
  for (const std::size_t count : {2u, 3u}) {
    Threads threads(count);
    State found = start;
    for (std::uint64_t s = 0; s < 3; ++s) sampler.sweep(found, s, Key{4}, Context{&threads});
    EXPECT_TRUE(found == alone);
  }
}

/// Draws (setting, x) jointly, then in turn x by the sampler given the setting and the setting given x, whose
/// probabilities are known exactly. The joint distribution must stay.
test::ChiSquare geweke(const std::vector<const Law*>& settings, int turns) {
  const std::size_t cells = settings[0]->target.p.size();
  std::vector<std::size_t> of(kChains);
  const Draw prior = Key{5}.at(Purpose::kTest, 1);
  for (std::uint32_t c = 0; c < kChains; ++c) of[c] = prior.below(settings.size(), c, 0);
  State x = settings[0]->target.far_start(kChains);
  for (int turn = 0; turn <= turns; ++turn) {
    const auto step_number = static_cast<std::uint64_t>(turn);
    for (std::size_t k = 0; k < settings.size(); ++k) {
      std::vector<std::size_t> rows;
      for (std::size_t c = 0; c < kChains; ++c) {
        if (of[c] == k) rows.push_back(c);
      }
      const Law& law = *settings[k];
      State part = law.target.exact(rows.size(), Key{6 + k}.at(Purpose::kTest, 2));
      if (turn > 0) {
        for (std::size_t r = 0; r < rows.size(); ++r) part.set_row(r, x, rows[r]);
        law.sweep(part, step_number, Key{16 + k}, {});
      }
      for (std::size_t r = 0; r < rows.size(); ++r) x.set_row(rows[r], part, r);
    }
    if (turn == turns) break;
    std::vector<std::vector<double>> densities;
    for (const Law* law : settings) densities.push_back(law->target.log_densities(x));
    const Draw draw = Key{7}.at(Purpose::kTest, step_number);
    for (std::uint32_t c = 0; c < kChains; ++c) {
      std::vector<double> posterior;
      for (const auto& density : densities) posterior.push_back(density[c]);
      test::normalise(posterior);
      of[c] = test::drawn_from(posterior, draw.uniform(c, 0));
    }
  }
  std::vector<std::size_t> counts(settings.size() * cells);
  std::vector<double> p;
  for (const Law* law : settings) {
    for (const double cell : law->target.p) p.push_back(cell / static_cast<double>(settings.size()));
  }
  for (std::size_t c = 0; c < kChains; ++c) ++counts[of[c] * cells + settings[of[c]]->target.cell(x, c)];
  return test::chi_square(counts, p);
}

TEST_P(SamplerLaws, PassGewekesJointTest) {
  const test::ChiSquare found = geweke({&law(0), &law(1), &law(2)}, 8);
  EXPECT_LT(found.value, found.critical());
}

INSTANTIATE_TEST_SUITE_P(All, SamplerLaws, testing::Range(std::size_t{0}, laws_of(0).size()), [](const auto& info) {
  std::string name = laws_of(0)[info.param].name;
  std::erase(name, ',');
  std::ranges::replace(name, ' ', '_');
  std::ranges::replace(name, '+', '_');
  return name;
});

/// Adjusted Langevin sampling that forgets that x' from x is not as likely as x from x'.
struct Careless {
  double step = 1.0;
};
StepInfo step(const Careless& kernel, const VisibleMarginal<Rbm>& model, Chains& chains, Key key,
              const Context& context) {
  LangevinProposer proposer({kernel.step}, first_layer(model));
  const Draw draw = key.at(Purpose::kLangevin, chains.sweep++);
  State& x = chains.layers[0];
  std::vector<double> energies = model.energy(x, context);
  Proposal proposal{proposer.propose(x, model.forces(x, context), draw, 0, context), {}};
  proposal.energies = model.energy(proposal.x, context);
  return accepted_of(accept(proposal, draw, 0, x, energies), x.chains());
}

TEST(WrongSamplers, WouldBeFound) {
  std::vector<Law> settings[2];
  for (std::size_t k = 0; k < 3; ++k) {
    const VisibleMarginal gaussian{machines(k).gaussian};
    const Target target = target_of(machines(k).gaussian);
    settings[0].push_back({"unadjusted, with large steps", target, by_energy(Langevin{1.0, false}, gaussian)});
    settings[1].push_back({"accepted as if both ways were as likely", target, by_energy(Careless{}, gaussian)});
  }
  for (const std::vector<Law>& laws : settings) {
    const State start = laws[0].target.exact(kChains, Key{1}.at(Purpose::kTest));
    const test::ChiSquare found = distance_after(laws[0], start, 5, Key{2});
    EXPECT_GT(found.value, found.critical()) << laws[0].name;
    const test::ChiSquare joint = geweke({&laws[0], &laws[1], &laws[2]}, 8);
    EXPECT_GT(joint.value, joint.critical()) << laws[0].name;
  }
}

}  // namespace
}  // namespace ergodic
