// The whole library, in reading order: from bits and random numbers to a run.
#pragma once

#include "ergodic/core/version.hpp"
// What everything stands on.
#include "ergodic/core/ars.hpp"
#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/core/threads.hpp"
// States, and the loops that are hot.
#include "ergodic/kernels/kernels.hpp"
#include "ergodic/kernels/state.hpp"
// Files.
#include "ergodic/format/array.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/idx.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/npz.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/format/safetensors.hpp"
#include "ergodic/format/sha256.hpp"
// Data.
#include "ergodic/data/catalogue.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/data/digits.hpp"
#include "ergodic/data/source.hpp"
#include "ergodic/data/synthetic.hpp"
// E(x; theta).
#include "ergodic/model/exact.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/proxies.hpp"
#include "ergodic/model/rbm.hpp"
// x' ~ p.
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
// Data minus model.
#include "ergodic/trainer/conditioning.hpp"
#include "ergodic/trainer/monitor.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/optimiser.hpp"
#include "ergodic/trainer/trainer.hpp"
// log Z, and with it the likelihood.
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/estimator/likelihood.hpp"
// Kept and shown.
#include "ergodic/report/curves.hpp"
#include "ergodic/report/fanout.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/report/log.hpp"
#include "ergodic/report/progress.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/store/checkpoint.hpp"
#include "ergodic/store/model_file.hpp"
// The one door for front ends.
#include "ergodic/run/data_tools.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/inspect.hpp"
#include "ergodic/run/sample.hpp"
#include "ergodic/run/spec.hpp"
#include "ergodic/run/train.hpp"
