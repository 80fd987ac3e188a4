#include "git/inflate.h"

#define ZLIB_CONST  // its input is not changed
#include <zlib.h>

#include <algorithm>
#include <memory>

namespace dibs {

namespace {

constexpr std::size_t kFirstRoom = 4096;

struct Ended {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

Bytef* as_room(char* bytes) { return reinterpret_cast<Bytef*>(bytes); }

}  // namespace

std::optional<std::string> inflated(std::string_view bytes, std::size_t most) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, Ended> ends(&stream);
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  if (stream.avail_in != bytes.size()) return std::nullopt;
  std::string out;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const std::size_t had = stream.total_out;
    if (had > most) return std::nullopt;
    out.resize(std::min(std::max(kFirstRoom, 2 * had), most + 1));
    stream.next_out = as_room(out.data() + had);
    stream.avail_out = static_cast<uInt>(out.size() - had);
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) return std::nullopt;
  }
  if (stream.avail_in != 0 || stream.total_out > most) return std::nullopt;
  out.resize(stream.total_out);
  return out;
}

}  // namespace dibs
