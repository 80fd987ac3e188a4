"""What processes asked of a store and what they were told: the histories that the two checkers judge.

history.py looks at grants and releases in the order of their fences, linearizability.py looks for an order of all operations.
"""

import dataclasses
import math

from history import Grant

# What an operation was told. UNKNOWN: no answer came, so it may have taken effect at any time since it was asked, or never.
GRANTED, HELD, FREE, RELEASED, LOST, UNKNOWN = "granted", "held", "free", "released", "lost", "unknown"


@dataclasses.dataclass(slots=True)
class Operation:
    kind: str                 # acquire, release or status
    resource: str
    holder: str               # who asked
    asked: float
    answered: float           # infinite: UNKNOWN
    outcome: str
    fence: int | None = None  # of the lease that it is about: got, given back, or seen
    lease_id: str = ""        # of the lease that was got or given back
    ends: float = math.inf    # of an acquire: when the lease ends by itself at the earliest


def by_resource(operations):
    found = {}
    for operation in operations:
        found.setdefault(operation.resource, []).append(operation)
    return found


def grants_of(operations):
    """Grants and what became of them, without everything else."""
    grants = {(operation.resource, operation.lease_id):
              Grant(operation.resource, operation.holder, operation.fence, operation.lease_id, operation.asked,
                    operation.answered, ends=operation.ends)
              for operation in operations if operation.outcome == GRANTED}
    for operation in operations:
        if operation.kind == "release" and operation.outcome in (RELEASED, UNKNOWN):
            grant = grants[operation.resource, operation.lease_id]
            grant.release_asked, grant.release_answered = operation.asked, operation.answered
    return list(grants.values())
