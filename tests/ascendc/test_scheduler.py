"""Cores that wait for each other, on one thread or several."""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

import numpy as np
import pytest

AIV_ONLY, AIC_ONLY, MIX_1_1, MIX_1_2 = range(4)
THREADS = [1, 2, 3, 4]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("task", [MIX_1_1, MIX_1_2])
def test_ping_pong(twin: Any, task: int, threads: int) -> None:
    rounds, blocks = 30, 7
    cells = np.zeros((blocks, 4), np.int64)
    twin("ping_pong", out=[cells], numbers=[rounds], task=task, blocks=blocks, threads=threads)
    total = sum(range(rounds)) * (1 if task == MIX_1_1 else 3)
    assert (cells[:, 3] == total).all()


def test_each_aiv_has_a_counter_of_its_own(twin: Any) -> None:
    cells = np.zeros(2, np.int64)
    twin("drift", out=[cells], task=MIX_1_2)
    assert cells[0] == 42


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "task,with_aic,cores", [(AIV_ONLY, 0, 1), (MIX_1_2, 0, 2), (MIX_1_2, 1, 3), (MIX_1_1, 1, 2)]
)
def test_all_cores_meet(twin: Any, task: int, with_aic: int, cores: int, threads: int) -> None:
    rounds, blocks = 6, 9
    count = cores * blocks
    cells = np.zeros(2 * count, np.int64)
    twin("meet_all", out=[cells], numbers=[rounds, with_aic], task=task, blocks=blocks, threads=threads)
    assert (cells[count:] == sum(range(1, count + 1)) * sum(range(1, rounds + 1))).all()


def test_a_block_goes_on_while_it_can(twin: Any) -> None:
    """After SyncAll all blocks are ready; a thread that changed between them would lose its caches."""
    rounds, blocks = 10, 6
    out = np.zeros(1 + rounds * blocks * 3, np.int64)
    twin("turns", out=[out], numbers=[rounds], task=MIX_1_2, blocks=blocks, threads=1)
    assert out[0] == rounds * blocks * 3
    assert np.count_nonzero(np.diff(out[1:])) == blocks - 1


@pytest.mark.parametrize("threads", THREADS)
def test_deadlock_names_who_waits_for_whom(twin: Any, threads: int) -> None:
    call: dict[str, Any] = {"name": "deadlock", "threads": threads, "task": MIX_1_2, "blocks": 3}
    message = twin.refuses("probe: deadlock", kind="AIC_TIMEOUT", numbers=[0], **call)
    assert "AIC 1 (block 1) waits for flag 5 from AIV 2 (block 1, sub-block 0) (has ended), AIV 3" in message
    message = twin.refuses("probe: deadlock", kind="AIC_TIMEOUT", numbers=[1], **call)
    assert "AIC 2 (block 2) waits for flag 5 from AIV 5 (block 2, sub-block 1) (has ended)" in message
    message = twin.refuses(kind="AIC_TIMEOUT", numbers=[3], **call)
    assert "AIV 1 (block 0, sub-block 1) waits for flag 1 from AIC 0 (block 0)" in message


def test_deadlock_in_sync_all(twin: Any) -> None:
    call: dict[str, Any] = {"name": "deadlock", "blocks": 4, "numbers": [2]}
    message = twin.refuses("probe: deadlock", kind="AIV_TIMEOUT", **call)
    assert "AIV 0 (block 0) waits for flag 14 (used by SyncAll) from AIV 2 (block 2) (has ended)" in message


@pytest.mark.parametrize(
    "number,task,fragments",
    [
        (4, AIV_ONLY, ("CrossCoreSetFlag: flag 1", "15 times")),
        (5, AIV_ONLY, ("mode 2 needs a MIX kernel",)),
        (6, AIV_ONLY, ("flag 16 does not exist",)),
    ],
)
def test_flag_mistakes(twin: Any, number: int, task: int, fragments: tuple[str, ...]) -> None:
    twin.refuses(*fragments, name="deadlock", numbers=[number], task=task)


@pytest.mark.parametrize("threads", THREADS)
def test_a_fault_stops_and_unwinds_all_cores(twin: Any, threads: int) -> None:
    cells = np.zeros(1, np.int64)
    call: dict[str, Any] = {"out": [cells], "numbers": [3], "task": MIX_1_2, "blocks": 5, "threads": threads}
    twin.refuses("probe: AIV 3 (block 1, sub-block 1): Add: dst", name="fail_one", **call)
    assert cells[0] <= 15  # a core that had not started need not start
    if threads == 1:
        assert cells[0] >= 6
    twin(
        "meet_all", out=[np.zeros(54, np.int64)], numbers=[2, 1], task=MIX_1_2, blocks=9
    )  # and the twin works on


def test_a_block_dim_of_zero_is_refused(twin: Any) -> None:
    twin.refuses("block dim is 0", name="queues", blocks=0)


@pytest.mark.parametrize("threads", THREADS)
def test_same_bits_on_any_number_of_threads(twin: Any, rng: Any, threads: int) -> None:
    src = rng.standard_normal(64 * 9).astype(np.float32)
    results = []
    for count in (1, threads):
        dst = np.zeros_like(src)
        twin("queues", inputs=[src], out=[dst], blocks=13, threads=count)
        results.append(dst)
    np.testing.assert_array_equal(results[0], results[1])


def test_launches_from_several_threads(twin: Any) -> None:
    """As from the workers of several streams."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                cells = np.zeros(2 * 12, np.int64)
                twin("meet_all", out=[cells], numbers=[3, 1], task=MIX_1_2, blocks=4, threads=2)
                assert (cells[12:] == 78 * 6).all()
        except BaseException as error:  # a thread's assertion would be lost
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors, errors[0]


def test_a_forked_child_has_helpers_of_its_own(twin: Any) -> None:
    def meet() -> bool:
        cells = np.zeros(2 * 12, np.int64)
        twin("meet_all", out=[cells], numbers=[3, 1], task=MIX_1_2, blocks=4, threads=3)
        return bool((cells[12:] == 78 * 6).all())

    assert meet()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fork with threads is what is tried here
        child = os.fork()
    if child == 0:
        right = False
        try:
            right = meet()
        finally:
            os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert meet()
