"""Judges a history of grants: could one store, granting each resource to one holder at a time, have answered like this?

Each grant takes effect at some moment between asking and answer, and so does each release. Sorted by fence, every grant must have
such a moment after the release before it. That is decided by always choosing the earliest moment that is left.
"""

import dataclasses
import math


@dataclasses.dataclass
class Grant:
    resource: str
    holder: str
    fence: int
    lease_id: str
    asked: float
    answered: float
    release_asked: float = math.inf     # infinite: it never asked
    release_answered: float = math.inf  # infinite: no answer came, so it may have taken effect at any time or never
    ends: float = math.inf              # when it ends by itself at the earliest


def violations(grants):
    """Everything that is wrong with this history, as sentences."""
    found = []
    by_resource = {}
    for grant in grants:
        by_resource.setdefault(grant.resource, []).append(grant)
    for resource, own in sorted(by_resource.items()):
        found += _of_one_resource(resource, sorted(own, key=lambda grant: (grant.fence, grant.asked)))
    return found


def _of_one_resource(resource, grants):
    found, free_from, before = [], -math.inf, None
    for grant in grants:
        if before and grant.fence == before.fence:
            found.append(f"{resource}: fence {grant.fence} was given to {before.holder} and to {grant.holder}")
        taken = max(free_from, grant.asked)
        if taken > grant.answered:
            found.append(f"{resource}: {grant.holder} was given fence {grant.fence} before fence {before.fence} of "
                         f"{before.holder} could have ended")
            taken = grant.answered
        if grant.release_answered < grant.answered:
            found.append(f"{resource}: fence {grant.fence} was released before it was granted")
        free_from, before = max(taken, _earliest_end(grant)), grant
    return found


def _earliest_end(grant):
    """A release that was acknowledged found the lease alive: it had not ended by itself."""
    if grant.release_answered < math.inf:
        return grant.release_asked
    return min(grant.release_asked, grant.ends)


def disagreements(grants, log):
    """Where the log tells another story than the acknowledged grants and releases. `log` is the parsed lines."""
    granted, ended, found = {}, {}, []
    for line in log:
        for event in line["events"]:
            if event["op"] == "acquire":
                granted[event["lease_id"]] = (event["resource"], line["seq"], event["agent_id"])
            elif event["op"] in ("release", "auto-evict", "force-evict"):
                if event["lease_id"] in ended:
                    found.append(f"{event['lease_id']} ended twice, at {ended[event['lease_id']]} and {line['seq']}")
                ended[event["lease_id"]] = line["seq"]
    for grant in grants:
        if granted.get(grant.lease_id) != (grant.resource, grant.fence, grant.holder):
            found.append(f"acknowledged {grant}, but the log has {granted.get(grant.lease_id)}")
        if grant.release_answered < math.inf and grant.lease_id not in ended:
            found.append(f"the acknowledged release of {grant} is not in the log")
    acknowledged = {grant.lease_id for grant in grants}
    found += [f"the log grants {lease} as {what}, which nobody was told" for lease,
              what in granted.items() if lease not in acknowledged]
    return found
