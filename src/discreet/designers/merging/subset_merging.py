"""Subset merging: many small merged blocks of high-risk symbols instead of one large one.

Algorithm 1 of [ZDS23]_ in its working reading: blocks are formed while high-risk symbols are left (the printed
condition of the outer loop stops at once), and the risk is max-lift plus the *inverse* of min-lift (printed: plus
min-lift). A last block that is still not allowed unites with others, then absorbs low-risk symbols.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet._support import progress
from discreet._support.numeric import FloatArray, IntArray
from discreet._support.patience import never
from discreet._support.progress import UNHEARD, Stage
from discreet.core.joint import Joint
from discreet.designers.merging.batch import Block, MergingBatch, Pool
from discreet.designers.merging.confident import batch_of
from discreet.mechanism import Mechanism
from discreet.notions import Notion

__all__ = ["partitions", "subset_merging"]

#: Lifts that merging may have to look at whatever the time: some tenths of a second.
MERGED_AT_ONCE = 200_000_000


def subset_merging(joint: Joint, notion: Notion, *, is_over: Callable[[], bool] = never) -> Mechanism:
    """Mechanism of the corrected Algorithm 1; of alphabets that take long, as far as there is time."""
    return Mechanism.from_blocks(joint, partitions([joint], [notion], is_over=is_over)[0])


def partitions(
    joints: Sequence[Joint],
    notions: Sequence[Notion],
    *,
    unite_previous: bool = False,
    is_over: Callable[[], bool] = never,
) -> IntArray:
    """Block of every symbol for paired joints and notions, shape (n_problems, n_useful).

    A last block that is not allowed unites with the others by least risk, or ``unite_previous``: latest first. Where it
    takes long and the time ``is_over``, symbols are merged by halves, which takes a few steps and larger blocks.
    """
    with progress.stage("merging") as stage:
        batch = batch_of(joints, notions)
        if batch.work > MERGED_AT_ONCE:
            batch.is_over = is_over
        open_ones, seed, age = _form_blocks(batch, stage)
        open_ones, seed = _unite_blocks(batch, open_ones, seed, age[open_ones] if unite_previous else None)
        batch.absorb_low_risk(open_ones, seed)
        batch.place_absent()
    return batch.block_of


def _form_blocks(batch: MergingBatch, stage: Stage = UNHEARD) -> tuple[IntArray, IntArray, FloatArray]:
    """Lines 4-11: start a block with the riskiest symbol left, grow it, repeat.

    Returns the last ones that are not allowed, and in the columns of all seeds how old their blocks are.
    """
    age = np.zeros(batch.mass.shape)
    everyone = np.flatnonzero(batch.high_risk.any(axis=1))
    symbols = Block(batch.given_value[everyone], batch.mass[everyone])
    queue = Pool(batch, everyone, symbols, batch.high_risk[everyone])
    risk = batch.risk[everyone]
    most = int(queue.left.sum())
    failed = [(everyone[:0], everyone[:0])]
    who = everyone
    while len(who):
        if batch.is_over():
            seeds = [(b, batch.settle(b, queue)) for b in who.tolist()]
            open_ones = np.array([(b, s) for b, s in seeds if s is not None], dtype=np.int64).reshape(-1, 2)
            failed.append((open_ones[:, 0], open_ones[:, 1]))
            break
        rows = queue.row(who)
        left = np.where(queue.remaining[rows], np.take_along_axis(risk[rows], queue.symbol[rows], axis=1), -1.0)
        first = left.argmax(axis=1)
        seed = queue.symbol[rows, first]
        queue.remove(who, first)
        age[who] += 1
        age[who, seed] = 0
        short = batch.grow(who, seed, Block(batch.given_value[who, :, seed], batch.mass[who, seed]), queue)
        failed.append((who[short], seed[short]))
        stage.update(int(most - queue.left.sum()), most)
        who = who[queue.left[rows] > 0]
        queue.compact()
    return np.concatenate([w for w, _ in failed]), np.concatenate([s for _, s in failed]), age


def _unite_blocks(
    batch: MergingBatch, who: IntArray, seed: IntArray, order: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """Lines 12-16: the last block takes in the others, in this order or least risk first. Returns those still bad."""
    if not len(who):
        return who, seed
    blocks = batch.blocks(who)
    others = np.zeros_like(batch.high_risk[who])
    row, symbol = np.nonzero(batch.high_risk[who])
    others[row, batch.block_of[who][row, symbol]] = True
    others[np.arange(len(who)), seed] = False
    pool = Pool(batch, who, blocks, others, whole_blocks=True, order=order)
    short = batch.grow(who, seed, blocks.of_seeds(seed), pool)
    return who[short], seed[short]
