#include "program.hpp"

int main(int argc, char** argv) { return ergodic::cli::run(argc, argv); }
