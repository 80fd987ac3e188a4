"""Judges a history the general way: is there an order of its operations, each at some moment between asking and answer, in which a
lock that grants each resource to one holder at a time, with growing fences, would have answered all of them like this?

The search is Wing and Gong's: take any operation that could be the next one, see what the lock makes of it, go on, and go back when
no operation fits. What was tried in vain is remembered as (operations taken, state of the lock). Resources are judged one by one,
which loses nothing: a history is linearizable if it is so for each object.

It shares no idea with history.py, which trusts the order of fences. And it uses answers that say nothing about fences: who was told
"held" or "free" needs a moment when that was so. Operations without an answer may take effect at any time after they were asked, or
never; a lease that ends by its ttl is an operation that nobody asked and nobody answers.
"""

import dataclasses
import math
import typing

from operations import FREE, GRANTED, HELD, LOST, RELEASED, UNKNOWN, Operation, by_resource

TRIES_MAX = 1_000_000  # for one resource; a history that follows from a real lock needs about one an operation
ENDED = "ended"        # by its ttl, or by a release without an answer


class Lock(typing.NamedTuple):
    """The state: the highest fence so far, and whether somebody has it. It is not `exact` when that grant was never answered: then
    the fence is at least this one."""

    fence: int = -1
    holder: str | None = None
    exact: bool = True

    def is_held_under(self, operation):
        """Whether the lease that an operation speaks of may be the one that is held."""
        if self.holder is None:
            return False
        if operation.fence is None:
            return operation.outcome != ENDED or self.holder == operation.holder
        return operation.fence == self.fence if self.exact else operation.fence >= self.fence

    def after(self, operation):
        """The state after an operation that is answered like this, or None if this lock would not have."""
        known = self if self.exact or operation.fence is None else self._replace(fence=operation.fence, exact=True)
        match operation.outcome:
            case "granted" if self.holder is None and operation.fence > self.fence:
                return Lock(operation.fence, operation.holder)
            case "unknown" if self.holder is None:
                return Lock(self.fence + 1, operation.holder, exact=False)
            case "held" if self.is_held_under(operation):
                return known
            case "released" | "ended" if self.is_held_under(operation):
                return known._replace(holder=None)
            case "free" if self.holder is None:
                return self
            case "lost" if not (self.holder and self.exact and operation.fence == self.fence):
                return self
        return None


def violations(operations):
    """A sentence for every resource whose operations no order explains."""
    found = [_explain(resource, own) for resource, own in sorted(by_resource(operations).items())]
    return [sentence for sentence in found if sentence]


def _explain(resource, operations):
    search = _Search(with_ends(operations))
    if search.succeeds():
        return None
    if search.tries > TRIES_MAX:
        return f"{resource}: undecided after {TRIES_MAX} tries"
    return f"{resource}: no order explains {search.stuck}"


def with_ends(operations):
    """Releases that nobody answered, and ends that nobody asked for, as operations that may happen."""
    answered = {operation.fence: operation.answered for operation in operations if operation.outcome == RELEASED}
    over = max((operation.answered for operation in operations if operation.answered < math.inf), default=-math.inf)
    made = []
    for operation in operations:
        if operation.outcome == UNKNOWN and operation.kind == "release":
            operation = dataclasses.replace(operation, outcome=ENDED)
        elif operation.outcome == UNKNOWN:  # named so that its end cannot be taken for another's
            operation = dataclasses.replace(operation, holder=f"{operation.holder}, asked at {operation.asked}")
        made.append(operation)
        if operation.outcome in (GRANTED, UNKNOWN) and operation.ends <= min(over, answered.get(operation.fence, over)):
            made.append(Operation("end", operation.resource, operation.holder, operation.ends, math.inf, ENDED,
                                  operation.fence))
    return made


class _Search:
    """Depth first, with the operations in the order of asking. A set of operations is an integer, one bit each."""

    def __init__(self, operations):
        self.operations = sorted(operations, key=lambda one: one.asked)
        self.tries, self.stuck, self._furthest, self._failed = 0, None, -1, set()

    def succeeds(self):
        path = [self._arrive(0, 0, Lock())]
        while path and self.tries <= TRIES_MAX:
            first, taken, lock, choices = path[-1]
            if choices is None:
                return True
            if not choices:
                path.pop()
                continue
            at = choices.pop()
            self.tries += 1
            after = lock.after(self.operations[at])
            if after is not None:
                arrived = self._arrive(first, taken | 1 << (at - first), after)
                known = arrived[:3]
                if known not in self._failed:
                    self._failed.add(known)  # or soon to succeed, and then nobody asks again
                    path.append(arrived)
        return False

    def _arrive(self, first, taken, lock):
        """One point of the search: from where on operations are left, which are taken beyond, the state, and what may come next (None: all
        is explained). What leaves the state as it is, is taken at once: it is in nobody's way."""
        while True:
            while taken & 1:
                first, taken = first + 1, taken >> 1
            left, end = self._left(first, taken)
            if end == math.inf:
                return first, taken, lock, None
            idle = [at for at in left if self.operations[at].outcome in (HELD, FREE, LOST)
                    and lock.after(self.operations[at]) == lock]
            if not idle:
                break
            for at in idle:
                taken |= 1 << (at - first)
        if first > self._furthest:
            self._furthest, self.stuck = first, self.operations[first]
        left.sort(key=lambda at: -_urgency(self.operations[at]))  # the last is tried first
        return first, taken, lock, left

    def _left(self, first, taken):
        """Those that may be next: asked before the first answer that is left. And when that answer came."""
        left, end = [], math.inf
        for at in range(first, len(self.operations)):
            operation = self.operations[at]
            if operation.asked > end:
                break
            if not taken >> (at - first) & 1:
                left.append(at)
                end = min(end, operation.answered)
        return [at for at in left if self.operations[at].asked <= end], end


def _urgency(operation):
    """Only what makes the search short for histories that are right: answers first, in the order of fences."""
    return operation.fence if operation.fence is not None and operation.answered < math.inf else math.inf
