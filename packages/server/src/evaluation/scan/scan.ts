import type { Batch, BatchOrder, Needs, Source } from './batch.ts'
import { BatchEvaluator, type OutcomeCombination } from './batch-evaluator.ts'
import type { Sampled, Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'

export type OpenSource = (needs: Needs, order: BatchOrder) => Promise<Source>

const rowsFirst = 500
const rowsMax = 5000
/** Histories of events can be as long as hundreds of days. */
const rowsWithEventsMax = 500
/** Target length of the properties of a batch. */
const batchCharacters = 2_000_000

/** Estimates the number of rows for a batch of the target length from the previous batch. */
const nextRows = (batch: Batch, rows: number): number => {
  const perRow = batch.properties.length / Math.max(batch.size, 1)
  return Math.max(1, Math.min(rowsMax, rows * 4, Math.floor(batchCharacters / Math.max(perRow, 1))))
}

async function* batches(source: Source, { events }: Needs, start: number | undefined): AsyncGenerator<Batch> {
  let after = start
  let rows = rowsFirst
  for (;;) {
    const batch = await source.next(after, rows)
    if (batch.size > 0) yield batch
    if (!batch.hasMore) return
    after = batch.last
    rows = Math.min(nextRows(batch, rows), events.size > 0 ? rowsWithEventsMax : rowsMax)
  }
}

/** Evaluates all subjects in one snapshot of the database and counts the outcomes. */
export async function tally(
  openSource: OpenSource,
  request: TallyRequest,
  onProgress: (processed: number) => void | Promise<void>,
): Promise<Tally> {
  const { samples } = request
  const evaluator = new BatchEvaluator(request, samples !== undefined)
  const sampler = samples && new Sampler(samples)
  const source = await openSource(evaluator.needs, { descending: false })
  let total = 0
  try {
    await source.freeze()
    for await (const batch of batches(source, evaluator.needs, undefined)) {
      evaluator.evaluate(batch, sampler ? (combination, row) => sampler.add(combination, batch, row) : () => {})
      total += batch.size
      await onProgress(total)
    }
  } finally {
    await source.close()
  }
  return {
    total,
    lines: evaluator.combinations.map(({ outcomes, count }) => ({ outcomes, count })),
    gained: sampler?.gained ?? [],
    lost: sampler?.lost ?? [],
  }
}

class Sampler {
  readonly gained: Sampled[] = []
  readonly lost: Sampled[] = []
  readonly #samples: NonNullable<TallyRequest['samples']>

  constructor(samples: NonNullable<TallyRequest['samples']>) {
    this.#samples = samples
  }

  add({ outcomes }: OutcomeCombination, batch: Batch, row: number): void {
    const before = outcomes[this.#samples.before]!
    const after = outcomes[this.#samples.after]!
    if (before.enabled === after.enabled) return
    const list = after.enabled ? this.gained : this.lost
    if (list.length >= this.#samples.max) return
    list.push({ id: batch.ids[row]!, identity: batch.identities[row], before: before.value, after: after.value })
  }
}

/** Runs until the end, or until `onStep` returns false. */
export async function walk(
  openSource: OpenSource,
  request: WalkRequest,
  onStep: (step: WalkStep) => Promise<boolean>,
): Promise<void> {
  const evaluator = new BatchEvaluator(request, true)
  const source = await openSource(evaluator.needs, { descending: request.descending, search: request.search })
  try {
    for await (const batch of batches(source, evaluator.needs, request.after)) {
      const on: number[] = []
      evaluator.evaluate(batch, (combination, row) => {
        if (combination.outcomes[0]!.enabled) on.push(batch.ids[row]!)
      })
      if (!(await onStep({ last: batch.last!, scanned: batch.size, on }))) return
    }
  } finally {
    await source.close()
  }
}
