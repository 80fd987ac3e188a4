#include "verbs/landing_turn.h"

#include <nlohmann/json.hpp>

#include "base/name_encoding.h"

namespace dibs::verbs {

namespace {

constexpr int kLooksMax = 500;
constexpr std::int64_t kPauseMs = 4;
constexpr std::size_t kOfferBytesMax = 4096;
constexpr std::string_view kEnding = ".offer";

}  // namespace

LandingTurn LandingTurn::wait_for(Workspace& workspace, const Landable* offered) {
  const Result<std::string> directory = workspace.directory();
  LandingTurn turn(workspace, directory ? *directory : std::string());
  if (!directory || turn.take()) return turn;
  if (offered != nullptr) turn.offer(*offered);
  for (int look = 0; look < kLooksMax && !turn.take() && !turn.is_offer_gone(); ++look)
    workspace.system().clock.sleep_ms(kPauseMs);
  turn.taken_along_ = turn.is_offer_gone();
  turn.withdraw();
  return turn;
}

LandingTurn::~LandingTurn() {
  if (offer_ != nullptr) withdraw();
}

bool LandingTurn::take() {
  Result<std::unique_ptr<FileLock>> turn = workspace_->system().files.lock(
      directory_ + "/locks/landing.lock", Patience::at_once, workspace_->file_mode());
  if (turn) turn_ = *std::move(turn);
  return turn_ != nullptr;
}

std::string LandingTurn::offer_of(const Landable& landable) const {
  return offers() + "/" + encode_name(landable.lease.id.text) + std::string(kEnding);
}

// It is locked before it says anything, so that nobody takes it for a dead one's.
void LandingTurn::offer(const Landable& landable) {
  FileSystem& files = workspace_->system().files;
  if (!files.make_directory(offers())) return;
  const std::string path = offer_of(landable);
  Result<std::unique_ptr<FileLock>> lock =
      files.lock(path, Patience::at_once, workspace_->file_mode());
  if (!lock || *lock == nullptr) return;
  offer_ = *std::move(lock);
  offer_path_ = path;
  const Offer offer{.item = landable.item.key(), .lease = landable.lease.id, .work = landable.work};
  const Result<std::unique_ptr<File>> file = files.open(path, Open::append);
  if (!file || *file == nullptr || !(*file)->append(to_json(offer))) withdraw();
}

void LandingTurn::withdraw() {
  if (offer_ != nullptr && !taken_along_) (void)workspace_->system().files.remove(offer_path_);
  offer_path_.clear();
  offer_.reset();
}

bool LandingTurn::is_offer_gone() const {
  if (offer_ == nullptr) return false;
  const auto there = workspace_->system().files.status(offer_path_);
  return there && !there->has_value();
}

// Whoever can lock one stands behind it alone: the process that left it is gone.
std::vector<Offer> LandingTurn::living_offers() const {
  FileSystem& files = workspace_->system().files;
  std::vector<Offer> found;
  const Result<std::vector<std::string>> names = files.list(offers());
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    const std::string path = offers() + "/" + name;
    if (!name.ends_with(kEnding)) continue;
    const Result<std::unique_ptr<FileLock>> dead = files.lock(path, Patience::at_once);
    if (!dead) continue;
    if (*dead != nullptr) {
      (void)files.remove(path);
      continue;
    }
    const Result<std::optional<std::string>> text = files.read_file(path, kOfferBytesMax);
    const Result<Json> json = parse_json(text ? text->value_or("") : "");
    if (!json || !json->is_object()) continue;
    if (std::optional<Offer> offer = offer_from(*json)) found.push_back(*std::move(offer));
  }
  return found;
}

std::vector<Landable> LandingTurn::offered(std::size_t most) const {
  if (turn_ == nullptr || most == 0) return {};
  const std::vector<Offer> offers = living_offers();
  if (offers.empty()) return {};
  Selection selection;
  for (const Offer& offer : offers) selection.keys.push_back(offer.item);
  const Result<Ledger*> ledger = workspace_->ledger();
  const Result<Board> board = ledger ? (*ledger)->look(selection) : fail(ledger.error());
  std::vector<Landable> found;
  for (const Offer& offer : board ? offers : std::vector<Offer>{}) {
    std::optional<Landable> work = offered_work(offer, *board);
    if (work && found.size() < most) found.push_back(*std::move(work));
  }
  return found;
}

void LandingTurn::took_along(std::span<const Stacked> stack) const {
  for (const Stacked& other : stack.subspan(1))
    (void)workspace_->system().files.remove(offer_of(other.landable));
}

}  // namespace dibs::verbs
