#include "witness.h"

#include <fmt/core.h>

#include <algorithm>

#include "entry_check.h"

namespace dibs::sim {

namespace {

bool grants(const State& before, const State& after, const LeaseId& lease) {
  return before.lease(lease) == nullptr && after.lease(lease) != nullptr;
}

bool share(const Belief& one, const Belief& other) {
  return one.mode == Mode::shared && other.mode == Mode::shared;
}

}  // namespace

void Witness::accuse(std::string invariant, std::string what) {
  if (!broken_) broken_ = Violation{.invariant = std::move(invariant), .what = std::move(what)};
}

void Witness::sent(const Transaction& transaction, Asked& asked) {
  if (transaction.writes.empty()) return;
  asked.nonces.push_back(transaction.nonce);
  if (!senders_.emplace(transaction.nonce, asked).second)
    accuse("I8", fmt::format("{} of {} has a nonce that was used before", asked.verb,
                             asked.session.text));
}

void Witness::enter(const LogLine& entry) {
  const auto sender = senders_.find(entry.nonce);
  if (sender == senders_.end())
    return accuse("I8", fmt::format("entry {} was sent by nobody", entry.seq));
  if (Done added = chronicle_.add(entry); !added)
    return accuse("I13", fmt::format("entry {}: {}", entry.seq, added.error().message));
  const std::size_t last = chronicle_.size() - 1;
  EntryCheck(*this, entry, chronicle_.before(last), chronicle_.now(), sender->second).run();
  for (const Event& event : entry.events) {
    const Lease* lease = chronicle_.before(last).lease(event.lease);
    const bool silent = event.op == Op::auto_evict && lease != nullptr && lease->indefinite();
    if (event.op == Op::force_evict || silent) ended_by_others_.insert(event.lease);
  }
}

void Witness::cut_to(std::size_t size) {
  for (std::size_t i = size; i < chronicle_.size(); ++i) {
    if (acknowledged_.contains(chronicle_.entry(i).nonce))
      accuse("I12", fmt::format("entry {} was acknowledged and is gone", chronicle_.entry(i).seq));
  }
  chronicle_.cut_to(size);
}

void Witness::told(const Asked& asked, const std::optional<Fence>& fence, const Grants& given) {
  std::optional<Nonce> found;
  for (std::size_t i = 0; i < chronicle_.size(); ++i) {
    const LogLine& entry = chronicle_.entry(i);
    const bool own = std::ranges::find(asked.nonces, entry.nonce) != asked.nonces.end();
    if (fence && own && entry.seq == fence->value) found = entry.nonce;
  }
  if (fence && !found) {
    return accuse("I9", fmt::format("{} was told that its {} is number {}, and there is no such "
                                    "change of it",
                                    asked.session.text, asked.verb, fence->value));
  }
  if (found) acknowledged_.insert(*found);
  // What was there before is promised anew by saying so.
  for (std::size_t i = 0; !fence && i < chronicle_.size(); ++i) {
    for (const HeldLease& held : given) {
      if (grants(chronicle_.before(i), chronicle_.before(i + 1), held.lease.id))
        acknowledged_.insert(chronicle_.entry(i).nonce);
    }
  }
}

void Witness::landed(const LeaseId& id) {
  const State& now = chronicle_.now();
  for (const auto& [key, kept] : now.kept) {
    const auto lease = std::ranges::find(kept->holding.leases, id, &Lease::id);
    if (lease != kept->holding.leases.end() && lease->fence >= now.highest.at(key)) return;
  }
  accuse("I3", fmt::format("refs moved in the name of {}, which is not a lease any more", id.text));
}

void Witness::believes(Belief belief) {
  gives_up(belief.session, belief.resource);
  beliefs_.push_back(std::move(belief));
}

void Witness::gives_up(const SessionId& session, const std::optional<Key>& resource) {
  std::erase_if(beliefs_, [&](const Belief& belief) {
    return belief.session == session && (!resource || belief.resource == *resource);
  });
}

bool Witness::is_over(const Belief& belief) const {
  if (!belief.host->runs(belief.pid)) return true;
  return belief.until && ms_left(*belief.until, belief.host->now()) <= 0;
}

void Witness::forget_ended_beliefs() {
  std::erase_if(beliefs_, [&](const Belief& belief) { return is_over(belief); });
}

void Witness::compare_beliefs() {
  forget_ended_beliefs();
  for (const Belief& one : beliefs_) {
    for (const Belief& other : beliefs_) {
      if (one.resource != other.resource || one.session >= other.session || share(one, other))
        continue;
      const bool cannot_know =
          ended_by_others_.contains(one.lease) || ended_by_others_.contains(other.lease);
      if (cannot_know) continue;
      accuse("I4/I5", fmt::format("{} and {} both believe that they have {}", one.session.text,
                                  other.session.text, one.resource.text));
    }
  }
}

void Witness::compare_with(const std::vector<Record>& shown) {
  const auto& kept = chronicle_.now().kept;
  for (const Record& record : shown) {
    const auto found = kept.find(record.key);
    if (found == kept.end() || found->second->record != record)
      accuse("I13", fmt::format("the store shows {} at {}, and its log does not", record.key.text,
                                record.version.value));
  }
  if (shown.size() < kept.size())
    accuse("I13", fmt::format("the store shows {} records of {}", shown.size(), kept.size()));
}

}  // namespace dibs::sim
