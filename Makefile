# The everyday commands; `make` alone lists them. Paths are relative, so that a clone may live under any name.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

cpp_files = git ls-files -z -- '*.cpp' '*.hpp'

.PHONY: help setup build demo test bench capacity check-fresh check-long check-figures check-sanitizers format lint install clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: ## install the Debian packages of every task below
	@tools/setup build test demo bench lint

# The tests need packages that building does not: they are configured by `make test`, and stay so from then on.
build: ## build the library and the command (build/release)
	@tools/setup build
	cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-DERGODIC_TESTS=OFF)
	cmake --build --preset release --parallel $(JOBS)

demo: build ## train, measure and sample a first model (results in demo/)
	@tools/setup demo
	tools/demo

test: ## build and run all tests
	@tools/setup test
	cmake --preset release -DERGODIC_TESTS=ON
	cmake --build --preset release --parallel $(JOBS)
	ctest --preset release --parallel $(JOBS)

bench: ## measure Ergodic against other ways to do the same (results in bench/results/); ARGS="--help" for options
	@tools/setup bench
	cmake --preset release -DERGODIC_BENCH=ON $(if $(wildcard build/release/CMakeCache.txt),,-DERGODIC_TESTS=OFF)
	cmake --build --preset release --parallel $(JOBS)
	bench/run $(ARGS)

capacity: ## measure how much Hopfield networks remember (capacity.png in bench/results/)
	@tools/setup bench
	cmake --preset release -DERGODIC_BENCH=ON $(if $(wildcard build/release/CMakeCache.txt),,-DERGODIC_TESTS=OFF)
	cmake --build --preset release --parallel $(JOBS) --target bench_capacity
	bench/hopfield/run $(ARGS)

check-fresh: ## run the README's two commands on a bare Debian 12, as root (pictures in build/fresh/demo)
	tools/fresh --keep build/fresh demo -- bash -c 'TIMEFORMAT="== it took %0R s"; \
	  for target in demo test; do echo "== make $$target"; time make $$target || exit; done'

check-long: check-figures check-sanitizers ## run what takes hours: the two targets below

check-figures: ## hold results on large and real data, and exact values, to what the docs say (about seven hours)
	@tools/setup figures
	cmake --preset release -DERGODIC_TESTS=ON
	cmake --build --preset release --parallel $(JOBS)
	@set -e; for check in defaults small_sets large grey_digits lattices protein classification conditional deep_likelihood; do \
	  echo "== $$check"; \
	  /usr/bin/python3 tests/long/$$check.py; \
	done
	cmake --build --preset release --parallel $(JOBS) --target ising_exact
	build/release/tests/ising_exact 16 0.2 0.4 0.5

# The presets are built by clang, so that the tests run under both compilers.
threaded = ^(core|kernels|model|sampler|trainer|estimator|machine|run|laws)\.|^command\.same_bytes
check-sanitizers: ## run all tests with asan and ubsan, and those of what uses threads with tsan
	@tools/setup sanitize
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	ctest --preset asan --parallel $(JOBS) --label-exclude once
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(JOBS)
	ctest --preset tsan --parallel $(JOBS) --tests-regex '$(threaded)'

format: ## format all C++ files in place
	@tools/setup lint
	$(cpp_files) | xargs -0 clang-format -i

lint: ## check format, layering and clang-tidy's findings
	@tools/setup build lint
	$(cpp_files) | xargs -0 clang-format --dry-run -Werror
	tools/layering.py
	cmake --preset clang $(if $(wildcard build/clang/CMakeCache.txt),,-DERGODIC_TESTS=OFF)
	git ls-files -z -- 'src/*.cpp' 'apps/*.cpp' | xargs -0 -n 1 -P $(JOBS) clang-tidy -p build/clang --quiet

install: build ## install the command and the library under PREFIX (default /usr/local)
	cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove everything that the targets above have built
	rm -rf build demo bench/results
