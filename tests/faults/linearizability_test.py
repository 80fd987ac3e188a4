"""The two checkers of histories: each rejects what is planted, and on thousands of small random histories, right ones and spoiled
ones, they agree with each other and with trying every order."""

import dataclasses
import itertools
import math
import random

import history
import injection  # noqa: F401  (puts the harness on the path)
import linearizability
from linearizability import Lock, with_ends
from operations import FREE, GRANTED, HELD, LOST, RELEASED, UNKNOWN, Operation, grants_of

from harness import case, check, main

NEVER = math.inf


def acquire(holder, asked, answered, outcome, fence=None, ends=NEVER):
    return Operation("acquire", "item:1", holder, asked, answered, outcome, fence, ends=ends)


def release(holder, asked, answered, fence, outcome=RELEASED):
    return Operation("release", "item:1", holder, asked, answered, outcome, fence)


def status(asked, answered, outcome, fence=None):
    return Operation("status", "item:1", "onlooker", asked, answered, outcome, fence)


A, A_BACK = acquire("a", 0, 1, GRANTED, 1), release("a", 2, 3, 1)
B, B_BACK = acquire("b", 2.5, 3.5, GRANTED, 2), release("b", 4, 5, 2)


def accepted(*operations):
    check.equal(linearizability.violations(operations), [])


def rejected(what, *operations):
    check.true(linearizability.violations(operations), f"accepted: {what}")


@case
def what_could_have_been_is_accepted():
    accepted()
    accepted(A, A_BACK, B, B_BACK)
    accepted(B_BACK, B, A_BACK, A)
    accepted(A, dataclasses.replace(B, resource="item:2", asked=0.5, answered=1.5))
    accepted(A, acquire("b", 0, 0.5, HELD, 1), acquire("c", 0, 9, HELD, 1))
    accepted(A, A_BACK, status(0, 0.1, FREE), status(0.5, 1.5, HELD, 1), status(2, 3, FREE), status(2, 3, HELD, 1))
    accepted(A, A_BACK, release("a", 4, 5, 1, LOST))


@case
def planted_violations_are_rejected():
    rejected("two holders at once", A, acquire("b", 0.5, 1.5, GRANTED, 2), A_BACK)
    rejected("granted although nobody let go", A, B)
    rejected("a fence given twice", A, A_BACK, dataclasses.replace(B, fence=1))
    rejected("a fence that went back", A, A_BACK, dataclasses.replace(B, fence=0))
    rejected("refused where it was free all the time", A, A_BACK, acquire("b", 3.5, 4, HELD, 1))
    rejected("refused before anybody had it", acquire("b", -2, -1, HELD), A)
    rejected("refused for a lease that came later", A, A_BACK, acquire("c", 0, 1, HELD, 2), B)
    rejected("a grant that was lost", A, status(1.2, 1.4, FREE), A_BACK)
    rejected("a release that was lost", A, A_BACK, status(3.2, 3.4, HELD, 1))
    rejected("released before it was granted", dataclasses.replace(A, asked=4, answered=5), A_BACK)
    rejected("released twice", A, A_BACK, release("a", 3.5, 4, 1))
    rejected("lost while it was held", A, release("a", 1.2, 1.4, 1, LOST), A_BACK)


@case
def what_was_not_answered_may_have_happened_at_any_time_or_never():
    unanswered = release("a", 2, NEVER, 1, UNKNOWN)
    accepted(A, unanswered)
    accepted(A, unanswered, status(8, 9, HELD, 1))
    accepted(A, unanswered, status(8, 9, HELD, 1), acquire("b", 10, 11, GRANTED, 2))
    rejected("before it was asked", A, unanswered, status(1.2, 1.4, FREE))
    rejected("and undone again", A, unanswered, status(8, 9, FREE), status(10, 11, HELD, 1))
    asked = acquire("z", 2, NEVER, UNKNOWN)
    accepted(asked)
    accepted(asked, status(8, 9, FREE), status(10, 11, HELD, 7), status(12, 13, HELD, 7))
    accepted(A, A_BACK, asked, status(8, 9, HELD, 7))
    rejected("seen with two fences", asked, status(8, 9, HELD, 7), status(10, 11, HELD, 8))
    rejected("before it was asked", asked, status(0, 1, HELD, 7))
    rejected("with a fence that went back", A, A_BACK, asked, status(8, 9, HELD, 1))
    rejected("and then granted to another", asked, status(8, 9, HELD, 7), acquire("b", 10, 11, GRANTED, 8))


@case
def a_lease_ends_by_its_ttl_and_not_before():
    short = dataclasses.replace(A, ends=6)
    accepted(short, acquire("b", 5, 7, GRANTED, 2))
    rejected("granted before the ttl was over", short, acquire("b", 4, 5, GRANTED, 2))
    accepted(short, status(7, 8, HELD, 1))
    unanswered = acquire("z", 0, NEVER, UNKNOWN, ends=6)
    accepted(unanswered, status(1, 2, HELD, 3), acquire("b", 5, 7, GRANTED, 4))
    rejected("granted before that of one without an answer was over", unanswered, status(1, 2, HELD, 3),
             acquire("b", 4, 5, GRANTED, 4))


class Store:
    """A right store in one thread, and clients that ask, are answered, lose their answers, and let leases run out."""

    def __init__(self, chance, steps):
        self.chance, self.now, self.fence, self.held, self.ends = chance, 0, 0, None, NEVER
        self.waiting, self.owned, self.operations, self.names = {}, {}, [], itertools.count()
        clients = [next(self.names) for _ in range(3)]
        for _ in range(steps):
            self.now += 1
            if self.now > self.ends and chance.random() < 0.3:
                self.held, self.ends = None, NEVER
            at = chance.randrange(len(clients))
            if not self.step(f"c{clients[at]}"):
                clients[at] = next(self.names)
        for name, operation in self.waiting.items():
            self.forget(operation)

    def step(self, name):
        """The next that happens to a client. False: it is gone, and its answer with it."""
        operation = self.waiting.get(name)
        if operation is None:
            self.ask(name)
        elif operation.outcome is None:
            self.decide(operation)
        elif self.chance.random() < 0.15:
            self.forget(self.waiting.pop(name))
            return False
        else:
            self.answer(name, self.waiting.pop(name))
        return True

    def ask(self, name):
        fence, lease_id = self.owned.pop(name, (None, f"{name} at {self.now}"))
        kind = "release" if fence else self.chance.choice(("acquire", "acquire", "status"))
        ends = self.now + self.chance.choice((4, NEVER)) if kind == "acquire" else NEVER
        self.waiting[name] = Operation(kind, "item:1", name, self.now, NEVER, None, fence, lease_id, ends)

    def decide(self, operation):
        if operation.kind == "release":
            held = operation.fence == self.held
            operation.outcome = RELEASED if held else LOST
            self.held, self.ends = (None, NEVER) if held else (self.held, self.ends)
        elif self.held is not None:
            operation.outcome, operation.fence = HELD, self.held
        elif operation.kind == "status":
            operation.outcome = FREE
        else:
            self.fence += self.chance.choice((1, 1, 2))
            operation.outcome, operation.fence, self.held, self.ends = GRANTED, self.fence, self.fence, operation.ends

    def answer(self, name, operation):
        operation.answered = self.now
        self.operations.append(operation)
        if operation.outcome == GRANTED:
            self.owned[name] = operation.fence, operation.lease_id

    def forget(self, operation):
        if operation.kind != "status":
            operation.outcome, operation.fence = UNKNOWN, operation.fence if operation.kind == "release" else None
            self.operations.append(operation)


def spoiled(chance, operations):
    """One lease or answer changed; what follows from an answer is still asked after it."""
    made = [dataclasses.replace(operation) for operation in operations]
    one = chance.choice([each for each in made if each.lease_id and each.outcome == GRANTED] or made)
    if chance.random() < 0.3:
        one = chance.choice(made)
    about_it = [other for other in made if other.lease_id == one.lease_id]
    shift = chance.choice((-6, -3, -1, 1, 3, 6))
    if one.outcome in (HELD, FREE):
        one.outcome, one.fence = (FREE, None) if one.kind == "status" and one.outcome == HELD else (HELD, chance.randrange(4))
    elif one.outcome == GRANTED and chance.random() < 0.5:
        for other in about_it:
            other.fence = max(0, other.fence + shift)
    elif one.outcome == GRANTED:
        move(one, min([shift, *(other.asked - one.answered for other in about_it if other.kind == "release")]))
    elif one.kind == "release":
        move(one, max([shift, *(other.answered - one.asked for other in about_it if other.kind == "acquire")]))
    return made


def move(operation, by):
    operation.asked, operation.answered, operation.ends = operation.asked + by, operation.answered + by, operation.ends + by


def some_order_explains(operations):
    """By trying all of them."""
    operations = with_ends(operations)
    needed = [one for one in operations if one.answered < NEVER]
    optional = [one for one in operations if one.answered == NEVER]
    for count in range(len(optional) + 1):
        for chosen in itertools.combinations(optional, count):
            if any(explains(order) for order in itertools.permutations([*needed, *chosen])):
                return True
    return False


def explains(order):
    lock, latest = Lock(), -NEVER
    for operation in order:
        latest = max(latest, operation.asked)
        lock = lock.after(operation)
        if lock is None or latest > operation.answered:
            return False
    return True


def only_grants(operations):
    """What the order of fences is about: answered grants, and what became of them."""
    return [operation for operation in operations if operation.outcome in (GRANTED, RELEASED)
            or (operation.kind == "release" and operation.outcome == UNKNOWN)]


def random_histories(seed, count, steps):
    """Right ones, and from each a few spoiled ones."""
    chance = random.Random(seed)
    for _ in range(count):
        right = Store(chance, chance.randrange(*steps)).operations or [A]
        yield right, True
        for _ in range(4):
            yield spoiled(chance, right), None


@case
def both_checkers_agree_on_random_histories():
    rejected_ones = 0
    for operations, right in random_histories(seed=1, count=2000, steps=(6, 40)):
        if right:
            accepted(*operations)
        grants = only_grants(operations)
        wrong = bool(linearizability.violations(grants))
        check.equal(bool(history.violations(grants_of(grants))), wrong, f"{grants}")
        check.true(not wrong or linearizability.violations(operations), f"wrong grants become right among other operations: {operations}")
        rejected_ones += wrong
    check.true(rejected_ones > 500, f"only {rejected_ones} histories were wrong")


@case
def the_search_agrees_with_trying_every_order():
    judged = [0, 0]
    for operations, _ in random_histories(seed=2, count=400, steps=(6, 18)):
        if len(with_ends(operations)) <= 6:
            right = some_order_explains(operations)
            check.equal(not linearizability.violations(operations), right, f"{operations}")
            judged[right] += 1
    check.true(min(judged) > 50, f"wrong and right histories: {judged}")


if __name__ == "__main__":
    main()
