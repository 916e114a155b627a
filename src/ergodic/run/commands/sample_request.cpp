#include "ergodic/run/commands/sample_request.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/sample.hpp"

namespace ergodic {
namespace {

Spec<SampleRequest> make_spec() {
  Spec<SampleRequest> spec;
  add_model_file(spec, &SampleRequest::model);
  spec.group("Sampling")
      .add("count", &SampleRequest::count, "how many chains, each of which gives a sample; of each class, with --label")
      .range(1, 1000000)
      .automatic(fmt::format("{}, or as many as there are rows; with several labels 10 of each", SampleStart().count))
      .add("label", &SampleRequest::labels,
           "classes of a machine with labels, by number or name, with commas between them, or `all`: the label of each "
           "chain stays, and a sheet has a row for each class")
      .placeholder("CLASS,...")
      .add("sure", &SampleRequest::sure,
           "with --label, samples that the machine itself reads as their class with at least this probability: chains "
           "go on for up to as many sweeps again; 0 takes samples as they come")
      .range(0.0, 1.0)
      .add("temperature", &SampleRequest::temperatures,
           "sample from exp(-E(x) / temperature); with several, a run of chains for each")
      .range(1e-6, 1e6);
  spec.include(sampling_spec(), &SampleRequest::sampling);
  spec.add("all-levels", &SampleRequest::all_levels, "write the samples of all levels of tempering, the first first")
      .advanced()
      .add("path", &SampleRequest::path,
           "the folder of `ergodic train --trajectory`: levels of tempering are snapshots of training instead of "
           "temperatures")
      .role(PathRole::kFolder)
      .advanced()
      .add("means", &SampleRequest::means,
           "show the expected values given the hidden layer, as pictures do of machines that have one")
      .add("drawn", &SampleRequest::drawn, "show the drawn states in pictures too");
  add_seed(spec, &SampleRequest::seed);
  spec.add("watch", &SampleRequest::watch,
           "also check the mixing of a linear combination of the visible units, with these coefficients (npy, csv)")
      .role(PathRole::kInput)
      .advanced();
  spec.group("Completion")
      .add(
          "data", [](auto& r) -> auto& { return r.data.source; },
          "rows at which the chains start, as for `ergodic train`; with --fixed")
      .placeholder("DATA")
      .role(PathRole::kInput)
      .not_part_of_result();
  add_split(spec, &SampleRequest::split);
  spec.add("fixed", &SampleRequest::fixed,
           "a mask of one 0 or 1 for each visible unit (npy, csv, idx): those with a 1 keep the values of their row, "
           "and the others are sampled given them")
      .role(PathRole::kInput);
  spec.group("Output")
      .add(
          "out", &SampleRequest::out,
          "a picture sheet (.png; of two real units the landscape of their energy beside points), an array (.npy: "
          "chain x unit; with several temperatures, levels or draws temperature x level x chain x draw x unit, without "
          "those of which there is one), a table (.csv) or the sequences of an alignment's letters (.fasta)")
      .role(PathRole::kOutput)
      .required()
      .add("energies", &SampleRequest::energies,
           "the energy of each sample, all layers together: temperature, chain, draw, energy (.csv, .npy)")
      .role(PathRole::kOutput);
  add_scale(spec, &SampleRequest::scale);
  return spec;
}

}  // namespace

const Spec<SampleRequest>& sample_spec() {
  static const Spec<SampleRequest> spec = make_spec();
  return spec;
}

void require_consistent(const SampleRequest& request) {
  require_ending("--out", request.out, {".png", ".npy", ".csv", ".fasta"});
  require_ending("--energies", request.energies, {".csv", ".npy"});
  require_distinct({{"--data", request.data.source},
                    {"--fixed", request.fixed},
                    {"--watch", request.watch},
                    {"--out", request.out},
                    {"--energies", request.energies}});
  require(!request.means || !request.drawn, "--means and --drawn are two ways to show a sample: leave out either");
  require(!request.all_levels || request.sampling.sampler == kTempering || !request.path.empty(),
          "--all-levels is for tempering; take --sampler tempering");
  require(!request.all_levels || request.sampling.draws == 1,
          "--all-levels writes the last state of each level; leave out --draws");
  require(request.plain() || !request.means,
          "--means shows the last state of each chain; leave it out with several temperatures, levels or draws");
  require(request.data.source.empty() == request.fixed.empty(),
          "--data gives the rows to complete and --fixed the units of them that stay: give both, or neither");
  require(request.labels.empty() || request.data.source.empty(),
          "--label gives chains their label, and --data and --fixed give them rows: leave out either");
  require(request.sure == 0.0 || !request.labels.empty(),
          "--sure says how sure a machine must be of the label of a sample; give a label by --label");
  require(request.sure == 0.0 || (request.sampling.draws == 1 && !request.all_levels),
          "--sure waits for one sample of each chain; leave out --draws and --all-levels");
  require(request.path.empty() || request.sampling.sampler == kTempering || request.sampling.sampler == kAutoSampler,
          fmt::format("--path gives the levels of tempering, and --sampler is {}; take --sampler tempering",
                      request.sampling.sampler));
  const SamplingOptions standard;
  require(request.path.empty() ||
              (request.sampling.levels == standard.levels && request.sampling.hottest == standard.hottest),
          "--temperatures and --hottest make a ladder of one machine, and --path one of many: leave out either");
  require(request.sampling.draws == 1 || request.sampling.sampler != kAnnealing,
          "annealing keeps the state of lowest energy of each chain; leave out --draws");
  require(request.sure == 0.0 || request.sampling.sampler != kAnnealing,
          "annealing keeps the state of lowest energy of each chain; leave out --sure");
  require(!request.means || request.sampling.sampler != kAnnealing,
          "annealing looks for states of low energy, which have no expected values; leave out --means");
  require(request.watch.empty() || request.sampling.sampler != kAnnealing,
          "annealing looks for states of low energy, and nothing is watched for mixing; leave out --watch");
}

}  // namespace ergodic
