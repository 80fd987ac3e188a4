// The least that a C++ program of dibs' kind can cost: started, one line printed, gone. Compiled
// and linked with dibs' own settings, so that start-up is compared with start-up.
#include <iostream>

int main() {
  std::cout << "hello, world\n";
  return 0;
}
