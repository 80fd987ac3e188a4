#include "program.h"

int main(int argc, char** argv) { return dibs::run_program(argc, argv); }
